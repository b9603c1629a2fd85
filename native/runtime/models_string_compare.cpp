// Models of comparisons of memory and strings.
//
// A comparison is what the C standard says: it looks at bytes until the first
// difference. Each byte looked at is a branch; that everything is equal is one
// goal more, so that a magic string is one step away and not one for each byte.
#include "models_string.h"

#include <locale.h>
#include <string.h>
#include <strings.h>

using namespace sf;

Operand sf::lower(Operand A) {
  Operand Offset = binary(SF_OP_SUB, 8, A, constant('A'));
  return ite(compare(SF_OP_ULT, 8, Offset, constant(26)), 8, binary(SF_OP_OR, 8, A, constant(0x20)),
             A);
}

namespace {

constexpr uint64_t GoalBytesMax = 1u << 12;

uint8_t lower(uint8_t C) { return C >= 'A' && C <= 'Z' ? C | 0x20 : C; }

// Two byte ranges under comparison.
class Comparison {
public:
  Comparison(const void *A, const void *B, uint64_t Size, unsigned Flags)
      : A((const uint8_t *)A), B((const uint8_t *)B), Size(Size), Flags(Flags) {
    while (First < Size && fold(this->A[First]) == fold(this->B[First])) {
      if (Flags & StopAtNul && this->A[First] == 0)
        break;
      ++First;
    }
  }

  // Label of the result, when the real function gave Result.
  Label record(const ModelCall &Call, int Result) {
    const bool Differs = First < Size && fold(A[First]) != fold(B[First]);
    if (Differs) {
      const Operand Equal = everythingEqual();
      recordGoal(Equal.label ? Equal : wordContinued(), {Call.site, 0});
    }
    uint64_t End = First < Size ? First + 1 : Size;
    if (End > EventBytesMax)
      End = EventBytesMax;
    for (uint64_t I = 0; I < End; ++I) {
      Operand X = byte(A, I), Y = byte(B, I);
      recordBranch(compare(SF_OP_EQ, 8, X, Y), Call.at(2 * I));
      if (Flags & StopAtNul && X.value == Y.value && X.label && Y.label)
        recordBranch(compare(SF_OP_EQ, 8, X, constant(0)), Call.at(2 * I + 1));
    }
    return Differs ? order(Result) : 0;
  }

private:
  uint8_t fold(uint8_t C) const { return Flags & FoldCase ? lower(C) : C; }

  Operand byte(const uint8_t *At, uint64_t I) const {
    Operand X = byteAt(At + I);
    return Flags & FoldCase ? lower(X) : X;
  }

  // Where the comparison would end if all were equal: behind the NUL of the
  // string that is not symbolic at the first difference.
  uint64_t wholeSize() {
    if (!(Flags & StopAtNul))
      return Size;
    bool ConcreteB = !byteAt(B + First).label;
    if (!ConcreteB && byteAt(A + First).label)
      return 0;
    const uint8_t *Pattern = ConcreteB ? B : A;
    uint64_t I = First;
    while (I < Size && I <= GoalBytesMax && isPresent(Pattern, I) && Pattern[I])
      ++I;
    return I < Size ? I + 1 : Size;
  }

  // Bytes behind the first difference may be outside of an object: they are
  // read only where there is memory.
  bool isPresent(const uint8_t *Side, uint64_t I) {
    uint64_t &Known = Side == A ? KnownPageA : KnownPageB;
    const uint64_t Page = (uint64_t)(Side + I) >> 12;
    if (I > First && Page != Known && !isReadable((uint64_t)(Side + I)))
      return false;
    Known = Page;
    return true;
  }

  Operand everythingEqual() {
    const uint64_t Whole = wholeSize();
    if (Whole == 0 || Whole > GoalBytesMax)
      return constant(0);
    Operand All = constant(1);
    for (uint64_t I = 0; I < Whole;) {
      Operand X[8], Y[8];
      unsigned Count = 0;
      for (; Count < 8 && I < Whole; ++I) {
        if (!isPresent(A, I) || !isPresent(B, I))
          return constant(0);
        Operand P = byte(A, I), Q = byte(B, I);
        if (!P.label && !Q.label) {
          if (P.value != Q.value)
            return constant(0);
          ++I;
          break;
        }
        X[Count] = P;
        Y[Count++] = Q;
      }
      if (Count)
        All = binary(SF_OP_AND, 1, All,
                     compare(SF_OP_EQ, 8 * Count, joinBytes(X, Count), joinBytes(Y, Count)));
    }
    return All;
  }

  // A word that was copied out of the input and is shorter than the constant it is
  // compared with: that it goes on where it came from, as the constant does. What
  // ends it there is left to whoever took it out. (The optimiser makes comparisons of
  // memory of those of strings.)
  Operand wordContinued() {
    uint64_t End = First;
    while (End < Size && End < GoalBytesMax && isPresent(A, End) && isPresent(B, End) && A[End] &&
           B[End])
      ++End;
    if (End >= Size || !isPresent(A, End) || !isPresent(B, End) || !A[End] == !B[End])
      return constant(0);
    const uint8_t *Word = A[End] ? B : A, *Pattern = A[End] ? A : B;
    uint64_t Source = sourceOfEnd(Word, End);
    Operand All = constant(1);
    for (uint64_t I = 0; I < Size && I < GoalBytesMax && isPresent(Pattern, I) && Pattern[I]; ++I) {
      Operand Here = I < End ? byteAt(Word + I) : inputByteRead(Source + I - End);
      if (byteAt(Pattern + I).label || (I >= End && !Here.label))
        return constant(0);
      Here = Flags & FoldCase ? lower(Here) : Here;
      All = binary(SF_OP_AND, 1, All, compare(SF_OP_EQ, 8, Here, constant(fold(Pattern[I]))));
    }
    return All;
  }

  // The offset in the input of the byte that ended the word; none is there if it is not known.
  uint64_t sourceOfEnd(const uint8_t *Word, uint64_t End) const {
    auto OffsetOf = [](const uint8_t *At) -> uint64_t {
      const Label L = byteAt(At).label;
      return L ? meta(L).dependence : DependsOnNothing;
    };
    uint64_t Source = OffsetOf(Word + End);
    if (Source >= DependsOnMany && End > 0)
      Source = OffsetOf(Word + End - 1) + 1;
    return Source;
  }

  // The sign of the result depends on the first two bytes that differ.
  Label order(int Result) const {
    Operand X = byte(A, First), Y = byte(B, First);
    Operand Difference = binary(SF_OP_SUB, 32, zext(X, 8, 32), zext(Y, 8, 32));
    if (Difference.value == (uint32_t)Result)
      return Difference.label;
    Operand Less = compare(SF_OP_ULT, 8, X, Y);
    return ite(Less, 32, constant((uint32_t)(Less.value ? Result : -Result)),
               constant((uint32_t)(Less.value ? -Result : Result)))
        .label;
  }

  const uint8_t *A, *B;
  uint64_t Size, First = 0, KnownPageA = ~0ull, KnownPageB = ~0ull;
  unsigned Flags;
};

// Whether strings are in the order of their bytes.
bool ordersByBytes() {
  const char *Name = setlocale(LC_COLLATE, nullptr);
  return Name && (!strcmp(Name, "C") || !strcmp(Name, "POSIX") || !strncmp(Name, "C.", 2));
}

int compareModel(ModelCall &Call, const void *A, const void *B, uint64_t Size, unsigned Flags,
                 int Result) {
  KeepErrno Keep;
  TableLock Lock;
  if (Lock)
    Call.returns(Comparison(A, B, Size, Flags).record(Call, Result));
  return Result;
}

} // namespace

SF_MODEL_API int __sf_model_memcmp(const void *A, const void *B, size_t Size) {
  int Result = memcmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_memcmp, 0);
  return compareModel(Call, A, B, Size, 0, Result);
}

SF_MODEL_API int __sf_model_bcmp(const void *A, const void *B, size_t Size) {
  int Result = memcmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_bcmp, 0);
  return compareModel(Call, A, B, Size, 0, Result);
}

SF_MODEL_API int __sf_model_strcmp(const char *A, const char *B) {
  int Result = strcmp(A, B);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strcmp, 0);
  return compareModel(Call, A, B, UINT64_MAX, StopAtNul, Result);
}

SF_MODEL_API int __sf_model_strncmp(const char *A, const char *B, size_t Size) {
  int Result = strncmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strncmp, 0);
  return compareModel(Call, A, B, Size, StopAtNul, Result);
}

SF_MODEL_API int __sf_model_strcasecmp(const char *A, const char *B) {
  int Result = strcasecmp(A, B);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strcasecmp, 0);
  return compareModel(Call, A, B, UINT64_MAX, StopAtNul | FoldCase, Result);
}

SF_MODEL_API int __sf_model_strncasecmp(const char *A, const char *B, size_t Size) {
  int Result = strncasecmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strncasecmp, 0);
  return compareModel(Call, A, B, Size, StopAtNul | FoldCase, Result);
}

SF_MODEL_API int __sf_model_strcoll(const char *A, const char *B) {
  int Result = strcoll(A, B);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strcoll, 0);
  if (ordersByBytes())
    return compareModel(Call, A, B, UINT64_MAX, StopAtNul, Result);
  KeepErrno Keep;
  const bool Symbolic =
      !isConcrete((uint64_t)A, strlen(A) + 1) || !isConcrete((uint64_t)B, strlen(B) + 1);
  noteUnmodelled(Label(Symbolic), "the order of strings in another locale");
  return Result;
}
