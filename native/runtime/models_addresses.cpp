// Models of functions that read the text of an internet address.
//
// Four numbers with dots between them are read by a small automaton that each byte
// moves symbolically, as numbers are: the address and whether it is one are
// expressions over the whole text, wherever the dots are now.
#include "model.h"
#include "number.h"

#include <arpa/inet.h>
#include <string.h>

using namespace sf;

namespace {

constexpr unsigned BytesMax = 16; // of the longest text, with what ends it

Operand isByte(Operand X, char C) { return compare(SF_OP_EQ, 8, X, constant((uint8_t)C)); }

// Decimal numbers up to 255 without zeros in front, in the way of inet_pton().
class DottedReader {
public:
  void take(Operand X, bool SpaceEnds) {
    const Operand Digit = binary(SF_OP_SUB, 8, X, constant('0'));
    const Operand IsDigit = compare(SF_OP_ULT, 8, Digit, constant(10));
    const Operand IsDot = isByte(X, '.');
    const Operand IsEnd = SpaceEnds ? anyOf(isByte(X, 0), spaceBit(X)) : isByte(X, 0);
    const Operand More =
        binary(SF_OP_ADD, 16, binary(SF_OP_MUL, 16, Number, constant(10)), zext(Digit, 8, 16));
    const Operand AfterZero = allOf(AnyDigit, compare(SF_OP_EQ, 16, Number, constant(0)));
    const Operand Fits = allOf(compare(SF_OP_ULT, 16, More, constant(256)), logicalNot(AfterZero));
    const Operand IsLast = compare(SF_OP_EQ, 8, Dots, constant(3));
    const Operand Right =
        anyOf(allOf(IsDigit, Fits),
              allOf(AnyDigit, anyOf(allOf(IsDot, logicalNot(IsLast)), allOf(IsEnd, IsLast))));
    const Operand Open = logicalNot(Ended);
    Good = allOf(Good, anyOf(Ended, Right));
    const Operand Joined =
        binary(SF_OP_OR, 32, binary(SF_OP_SHL, 32, Address, constant(8)), zext(Number, 16, 32));
    Address = ite(allOf(Open, anyOf(IsDot, IsEnd)), 32, Joined, Address);
    Dots = ite(allOf(Open, IsDot), 8, binary(SF_OP_ADD, 8, Dots, constant(1)), Dots);
    Number = ite(Open, 16, ite(IsDigit, 16, More, constant(0)), Number);
    AnyDigit = ite(Open, 1, IsDigit, AnyDigit);
    Ended = anyOf(Ended, IsEnd);
  }

  Operand isGood() const { return allOf(Good, Ended); }
  // As it is in memory.
  Operand address() const { return unary(SF_OP_BSWAP, 32, Address); }

private:
  Operand Good = constant(1), Ended = constant(0), AnyDigit = constant(0);
  Operand Number = constant(0), Dots = constant(0), Address = constant(0);
};

// Reads S up to the NUL that it has now. Whether it could go on there is a goal.
DottedReader readDotted(const ModelCall &Call, const char *S, bool SpaceEnds) {
  DottedReader Reader;
  for (unsigned I = 0; I < BytesMax; ++I) {
    const Operand X = byteAt(S + I);
    Reader.take(X, SpaceEnds);
    if (S[I] == 0) {
      recordGoal(isByte(X, 0), Call.at(1));
      break;
    }
  }
  return Reader;
}

void storeAddress(void *To, Operand Address) {
  clearLabels((uint64_t)To, 4);
  uint32_t Now;
  memcpy(&Now, To, sizeof(Now));
  if (Address.label && Address.value == Now)
    storeLabel((uint64_t)To, sizeof(Now), Address.label);
}

void notFollowed(const char *S, const char *Why) {
  noteUnmodelledLocked(Label(!isConcrete((uint64_t)S, strlen(S) + 1)), Why);
}

// Of the functions that know more ways to write an address: what is written in
// one of them is told from the usual one and is not followed.
Operand readUsual(const ModelCall &Call, const char *S, bool IsAddress) {
  const DottedReader Read = readDotted(Call, S, true);
  recordBranch(Read.isGood(), Call.at(0));
  if (Read.isGood().value)
    return Read.address();
  if (IsAddress)
    notFollowed(S, "an internet address that is not four decimal numbers");
  return constant(0);
}

} // namespace

SF_MODEL_API int __sf_model_inet_pton(int Family, const char *S, void *To) {
  const int Result = inet_pton(Family, S, To);
  afterwards((const void *)__sf_model_inet_pton, [&](ModelCall &Call) {
    if (Family == AF_INET) {
      const DottedReader Read = readDotted(Call, S, false);
      Call.returns(live(zext(Read.isGood(), 1, 32).label, (uint32_t)Result));
      if (Result == 1)
        storeAddress(To, Read.address());
    } else if (Family == AF_INET6) {
      notFollowed(S, "an internet address of version 6");
      if (Result == 1)
        clearLabels((uint64_t)To, sizeof(in6_addr));
    }
  });
  return Result;
}

SF_MODEL_API int __sf_model_inet_aton(const char *S, in_addr *To) {
  const int Result = inet_aton(S, To);
  afterwards((const void *)__sf_model_inet_aton, [&](ModelCall &Call) {
    const Operand Address = readUsual(Call, S, Result != 0);
    if (Result)
      storeAddress(To, Address);
  });
  return Result;
}

SF_MODEL_API in_addr_t __sf_model_inet_addr(const char *S) {
  const in_addr_t Result = inet_addr(S);
  afterwards((const void *)__sf_model_inet_addr, [&](ModelCall &Call) {
    Call.returns(live(readUsual(Call, S, Result != INADDR_NONE).label, Result));
  });
  return Result;
}
