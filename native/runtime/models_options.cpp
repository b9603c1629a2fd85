// Models of getopt() and its relatives.
//
// Before the real function looks at the arguments, the same walk over them says
// which of their bytes decide: whether an argument is an option, which letter it
// is, which name, and whether a value is behind it. What the function returns is
// then fixed by what was decided, and the value is a part of the argument as it is.
#include "model.h"
#include "number.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

using namespace sf;

namespace {

constexpr unsigned NamesMax = 128;

// The letter behind this one in a group ("-abc"), as the C library remembers it.
const char *InGroup;

class Walk {
public:
  Walk(const ModelCall &Call, const char *Letters, const option *Names, bool OneDash)
      : Call(Call), Letters(Letters), Names(Names), OneDash(OneDash) {
    StopsAtOthers = *Letters == '+' || *Letters == '-' || getenv("POSIXLY_CORRECT");
    if (*Letters == '+' || *Letters == '-')
      ++this->Letters;
  }

  // The letter that the real function will look at, if it is no option's; an operand
  // of 8 bits, without a label otherwise.
  Operand next(int Count, char *const *Arguments) {
    if (optind == 0)
      InGroup = nullptr;
    if (InGroup)
      return letter(InGroup);
    for (int I = optind ? optind : 1; I < Count; ++I) {
      const char *Argument = Arguments[I];
      if (!Argument)
        break;
      if (isOption(Argument))
        return option(Argument);
      if (StopsAtOthers)
        break;
    }
    return constant(0);
  }

private:
  bool isByte(const char *At, char Wanted) {
    const Place Here = Call.at(Ordinal++);
    const Operand Is = compare(SF_OP_EQ, 8, byteAt(At), constant((uint8_t)Wanted));
    recordBranch(Is, Here);
    return *At == Wanted;
  }

  bool isOption(const char *Argument) { return isByte(Argument, '-') && !isByte(Argument + 1, 0); }

  Operand option(const char *Argument) {
    const bool Dashes = isByte(Argument + 1, '-');
    if (Dashes && isByte(Argument + 2, 0))
      return constant(0); // the end of all options
    if (Names && Dashes) {
      name(Argument + 2);
      return constant(0);
    }
    if (Names && OneDash && (!isByte(Argument + 2, 0) || !strchr(Letters, Argument[1])))
      if (name(Argument + 1))
        return constant(0);
    return letter(Argument + 1);
  }

  static bool isLetter(char C) { return C != ':' && C != ';'; }

  Operand letter(const char *At) {
    const Operand X = byteAt(At);
    for (const char *L = Letters; *L; ++L) // each may be chosen before one is
      if (isLetter(*L))
        recordGoal(compare(SF_OP_EQ, 8, X, constant((uint8_t)*L)), Call.at(Ordinal++));
    const char *Found = nullptr;
    for (const char *L = Letters; *L && !Found; ++L) {
      if (!isLetter(*L))
        continue;
      recordBranch(compare(SF_OP_EQ, 8, X, constant((uint8_t)*L)), Call.at(Ordinal++));
      Found = *L == *At ? L : nullptr;
    }
    const bool GoesOn = !isByte(At + 1, 0);
    InGroup = GoesOn && !(Found && Found[1] == ':') ? At + 1 : nullptr;
    return Found ? constant((uint8_t)*At) : X;
  }

  // Whether the text at At, up to '=' if there is one, is a name or starts one.
  bool name(const char *At) {
    InGroup = nullptr;
    const Text Here = Text::inMemory(At);
    unsigned Count = 0;
    for (; Names[Count].name && Count < NamesMax; ++Count)
      propose(Here, Names[Count]);
    unsigned Size = 0;
    while (!isByte(At + Size, 0) && !isByte(At + Size, '='))
      ++Size;
    bool Starts = false;
    for (unsigned I = 0; I < Count; ++I) {
      const char *Name = Names[I].name;
      unsigned Equal = 0;
      while (Equal < Size && Name[Equal] && isByte(At + Equal, Name[Equal]))
        ++Equal;
      Starts |= Equal == Size;
      if (Equal == Size && !Name[Equal])
        break; // exactly this one: the others are not asked for
    }
    return Starts;
  }

  // The whole name with what is to follow it, as far as the argument has room.
  void propose(const Text &Here, const ::option &Wanted) {
    char Whole[TextBytesMax];
    unsigned Size = 0;
    while (Size < sizeof(Whole) - 1 && Wanted.name[Size]) {
      Whole[Size] = Wanted.name[Size];
      ++Size;
    }
    Whole[Size++] = Wanted.has_arg == no_argument ? 0 : '=';
    recordTemplate(Here, 0, Whole, Size < Here.count ? Size : Here.count, Call.at(Ordinal++));
  }

  const ModelCall &Call;
  const char *Letters;
  const ::option *Names;
  bool OneDash, StopsAtOthers;
  uint64_t Ordinal = 0;
};

// Labels what the real function leaves behind; Letter is the one that it looked at.
void leaves(Operand Letter) {
  KeepErrno Keep;
  TableLock Lock;
  clearLabels((uint64_t)&optind, sizeof(optind));
  clearLabels((uint64_t)&optarg, sizeof(optarg));
  clearLabels((uint64_t)&optopt, sizeof(optopt));
  const Operand Wide = Lock ? sext(Letter, 8, 32) : constant(0);
  if (Wide.label && Wide.value == (uint32_t)optopt)
    storeLabel((uint64_t)&optopt, sizeof(optopt), Wide.label);
}

template <typename Real>
int optionModel(const void *Self, int Count, char *const *Arguments, const char *Letters,
                const option *Names, bool OneDash, Real Function) {
  if (!G.recording)
    return Function();
  ModelCall Call(Self, 0);
  Operand Letter = constant(0);
  {
    KeepErrno Keep;
    if (TableLock Lock; Lock)
      Letter = Walk(Call, Letters, Names, OneDash).next(Count, Arguments);
  }
  const int Result = Function();
  leaves(Letter);
  return Result;
}

} // namespace

SF_MODEL_API int __sf_model_getopt(int Count, char *const *Arguments, const char *Letters) {
  return optionModel((const void *)__sf_model_getopt, Count, Arguments, Letters, nullptr, false,
                     [&] { return getopt(Count, Arguments, Letters); });
}

SF_MODEL_API int __sf_model_getopt_long(int Count, char *const *Arguments, const char *Letters,
                                        const option *Names, int *Index) {
  return optionModel((const void *)__sf_model_getopt_long, Count, Arguments, Letters, Names, false,
                     [&] { return getopt_long(Count, Arguments, Letters, Names, Index); });
}

SF_MODEL_API int __sf_model_getopt_long_only(int Count, char *const *Arguments, const char *Letters,
                                             const option *Names, int *Index) {
  return optionModel((const void *)__sf_model_getopt_long_only, Count, Arguments, Letters, Names,
                     true,
                     [&] { return getopt_long_only(Count, Arguments, Letters, Names, Index); });
}
