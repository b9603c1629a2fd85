// Models of functions that cut strings at delimiters.
//
// Where a token ends is a fact for what comes later, and another end is a goal. A
// byte of the token that is a delimiter in another input would be NUL there: its
// label says so, so that a comparison with a word can ask for the end it needs.
#include "model.h"
#include "source.h"

#include <string.h>

using namespace sf;

extern "C" char *__strtok_r(char *, const char *, char **);

namespace {

constexpr uint64_t TokenBytesMax = 1u << 14;

uint64_t delimits(uint64_t Byte, const void *Set) {
  return !Byte || strchr((const char *)Set, (int)Byte) ? 1 : 0;
}

uint64_t cutByte(uint64_t Byte, const void *Set) { return delimits(Byte, Set) ? 0 : Byte; }

class Cutting {
public:
  Cutting(const ModelCall &Call, char *Start, const char *Set) : Call(Call), At(Start), Set(Set) {}

  void skipDelimiters() {
    for (; *At; ++At) {
      decide(inside(byteAt(At)));
      if (!strchr(Set, *At))
        return;
    }
    decide(inside(byteAt(At)));
  }

  // Labels the token and what ends it, before the real function writes there.
  // Far ends are tried first: they leave room for the tokens before them.
  void takeToken() {
    uint64_t Size = 0;
    while (Size < TokenBytesMax && !delimits((uint8_t)At[Size], Set))
      ++Size;
    for (uint64_t I = Size + 1; I-- > 0;)
      recordGoal(ends(At + I), Call.at(Ordinal + I));
    for (uint64_t I = 0; I <= Size; ++I) {
      recordFact(ends(At + I), Call.at(Ordinal++));
      if (I == Size)
        decide(compare(SF_OP_EQ, 8, byteAt(At + I), constant(0)));
      Label Cut = mapThroughTable(byteAt(At + I), 8, cutByte, Set).label;
      if (Cut || I == Size)
        storeLabel((uint64_t)At + I, 1, Cut);
    }
    At += Size;
  }

  char *end() const { return At; }

private:
  Operand ends(const char *Where) const {
    return memberBit(byteAt(Where), delimits, Set, Call.at(Ordinal));
  }

  // 1 for a delimiter, also where strchr() finds the NUL of the set.
  Operand inside(Operand Byte) const {
    Operand Ends = memberBit(Byte, delimits, Set, Call.at(Ordinal));
    return allOf(Ends, compare(SF_OP_NE, 8, Byte, constant(0)));
  }

  void decide(Operand Condition) {
    const Place Here = Call.at(Ordinal++);
    recordGoal(Condition, Here);
    recordFact(Condition, Here);
  }

  const ModelCall &Call;
  char *At;
  const char *Set;
  uint64_t Ordinal = 0;
};

// What strtok() goes on with, as far as instrumented code called it.
char *Remembered;

void tokenised(const ModelCall &Call, char *Start, const char *Set, char *&Next) {
  KeepErrno Keep;
  TableLock Lock;
  Next = nullptr;
  if (!Lock || !Start)
    return;
  Cutting Token(Call, Start, Set);
  Token.skipDelimiters();
  if (*Token.end())
    Token.takeToken();
  Next = Token.end() + (*Token.end() ? 1 : 0);
}

} // namespace

SF_MODEL_API char *__sf_model_strtok(char *S, const char *Set) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strtok, 0);
    tokenised(Call, S ? S : Remembered, Set, Remembered);
  }
  return strtok(S, Set);
}

SF_MODEL_API char *__sf_model_strtok_r(char *S, const char *Set, char **Rest) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strtok_r, 0);
    char *Ignored;
    tokenised(Call, S ? S : *Rest, Set, Ignored);
    clearLabels((uint64_t)Rest, sizeof(*Rest));
  }
  return strtok_r(S, Set, Rest);
}

SF_MODEL_API char *__sf_model___strtok_r(char *S, const char *Set, char **Rest) {
  char *Token = __sf_model_strtok_r(S, Set, Rest);
  return Token;
}

SF_MODEL_API char *__sf_model_strsep(char **Rest, const char *Set) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strsep, 0);
    KeepErrno Keep;
    if (TableLock Lock; Lock && *Rest)
      Cutting(Call, *Rest, Set).takeToken();
    clearLabels((uint64_t)Rest, sizeof(*Rest));
  }
  return strsep(Rest, Set);
}
