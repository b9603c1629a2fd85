// Models of number parsing, character classes and byte order.
#include "model.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

namespace sf {

Operand mapThroughTable(Operand A, unsigned Bits, uint64_t (*Map)(uint64_t, const void *),
                        const void *Context) {
  const uint64_t Value = Map(A.value, Context) & maskOf(Bits);
  uint64_t Values[256];
  if (!A.label || !evaluateForEachByte(A.label, Values))
    return constant(Value);
  uint8_t Elements[256 * 8];
  for (unsigned I = 0; I < 256; ++I) {
    uint64_t Mapped = Map(Values[I], Context);
    memcpy(Elements + I * (Bits / 8), &Mapped, Bits / 8);
  }
  return tableRead(meta(A.label).dependence, Bits, Elements, Value);
}

} // namespace sf

using namespace sf;

// By the names that they have in every C library: newer headers give strtol()
// the meaning of C23, which knows "0b", and it must not get that here.
#define SF_REAL(type, name)                                                                        \
  extern "C" type real_##name(const char *, char **, int) asm(#name);                              \
  extern "C" __attribute__((weak)) type real___isoc23_##name(const char *, char **,                \
                                                             int) asm("__isoc23_" #name)
SF_REAL(long, strtol);
SF_REAL(long long, strtoll);
SF_REAL(unsigned long, strtoul);
SF_REAL(unsigned long long, strtoull);

namespace {

unsigned digitOf(uint8_t C) {
  if (C >= '0' && C <= '9')
    return C - '0';
  uint8_t Lower = C | 0x20;
  return Lower >= 'a' && Lower <= 'z' ? Lower - 'a' + 10 : 255;
}

uint64_t spaceMap(uint64_t Byte, const void *) { return isspace((int)Byte) ? 1 : 0; }

// The text of a number as strtol reads it, event by event.
class NumberText {
public:
  NumberText(const ModelCall &Call, const char *Text, unsigned Base)
      : Call(Call), Start((const uint8_t *)Text), At(Start), Base(Base) {}

  // Value of the digits in 64 bits, with the sign applied.
  Operand read() {
    skipSpace();
    bool Negative = *At == '-';
    decide('-');
    if (!Negative)
      decide('+');
    if (Negative || *At == '+')
      ++At;
    chooseBase();
    Operand Sum = constant(0);
    while (digit(Sum))
      ++At;
    return Negative ? binary(SF_OP_SUB, 64, constant(0), Sum) : Sum;
  }

private:
  Place place() { return Call.at(Ordinal++); }

  void decide(uint8_t C) { recordBranch(compare(SF_OP_EQ, 8, byteAt(At), constant(C)), place()); }

  void skipSpace() {
    for (;; ++At) {
      Operand Space = mapThroughTable(byteAt(At), 8, spaceMap, nullptr);
      recordBranch(compare(SF_OP_NE, 8, Space, constant(0)), place());
      if (!isspace(*At))
        return;
    }
  }

  void chooseBase() {
    if (Base != 0 && Base != 16)
      return;
    decide('0');
    if (*At == '0') {
      Operand Letter = binary(SF_OP_OR, 8, byteAt(At + 1), constant(0x20));
      recordBranch(compare(SF_OP_EQ, 8, Letter, constant('x')), place());
      if ((At[1] | 0x20) == 'x' && digitOf(At[2]) < 16) {
        At += 2;
        Base = 16;
      }
    }
    if (Base == 0)
      Base = *At == '0' ? 8 : 10;
  }

  // Takes one digit into the sum; records whether the byte is one.
  bool digit(Operand &Sum) {
    const unsigned Concrete = digitOf(*At);
    Operand C = byteAt(At);
    Operand Numeral = binary(SF_OP_SUB, 8, C, constant('0'));
    const unsigned Numerals = Base < 10 ? Base : 10;
    recordBranch(compare(SF_OP_ULT, 8, Numeral, constant(Numerals)), place());
    Operand Digit = Numeral;
    if (Base > 10 && Numeral.value >= 10) {
      Operand Letter = binary(SF_OP_SUB, 8, binary(SF_OP_OR, 8, C, constant(0x20)), constant('a'));
      recordBranch(compare(SF_OP_ULT, 8, Letter, constant(Base - 10)), place());
      Digit = binary(SF_OP_ADD, 8, Letter, constant(10));
    }
    if (Concrete >= Base)
      return false;
    Sum = binary(SF_OP_ADD, 64, binary(SF_OP_MUL, 64, Sum, constant(Base)), zext(Digit, 8, 64));
    return true;
  }

  const ModelCall &Call;
  const uint8_t *Start, *At;
  unsigned Base;
  uint64_t Ordinal = 0;
};

// Hands out the label of a parsed number of Bits bits; a clamped one is
// concrete, because its value differs from the sum of the digits.
void parsed(ModelCall &Call, const char *Text, int Base, unsigned Bits, uint64_t Result) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock || Base < 0 || Base == 1 || Base > 36)
    return;
  Operand Sum = extract(NumberText(Call, Text, (unsigned)Base).read(), 64, 0, Bits);
  Call.returns(live(Sum.label, Result & maskOf(Bits)));
}

} // namespace

SF_MODEL_API int __sf_model_atoi(const char *Text) {
  int Result = atoi(Text);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_atoi, 0);
  parsed(Call, Text, 10, 32, (uint64_t)Result);
  return Result;
}

#define SF_PARSE_MODEL(type, name, parameters, text, end, base, real)                              \
  SF_MODEL_API type __sf_model_##name parameters {                                                 \
    type Result = real;                                                                            \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    if (end)                                                                                       \
      clearLabels((uint64_t)(end), sizeof(char *));                                                \
    parsed(Call, text, base, 64, (uint64_t)Result);                                                \
    return Result;                                                                                 \
  }
#define SF_STRTO(type, name, real)                                                                 \
  SF_PARSE_MODEL(type, name, (const char *Text, char **End, int Base), Text, End, Base,            \
                 real(Text, End, Base))

SF_PARSE_MODEL(long, atol, (const char *Text), Text, (char **)nullptr, 10, atol(Text))
SF_PARSE_MODEL(long long, atoll, (const char *Text), Text, (char **)nullptr, 10, atoll(Text))
SF_STRTO(long, strtol, real_strtol)
SF_STRTO(long long, strtoll, real_strtoll)
SF_STRTO(unsigned long, strtoul, real_strtoul)
SF_STRTO(unsigned long long, strtoull, real_strtoull)
// A program that calls these was compiled for a C library that has them.
SF_STRTO(long, __isoc23_strtol, real___isoc23_strtol)
SF_STRTO(long long, __isoc23_strtoll, real___isoc23_strtoll)
SF_STRTO(unsigned long, __isoc23_strtoul, real___isoc23_strtoul)
SF_STRTO(unsigned long long, __isoc23_strtoull, real___isoc23_strtoull)

// Character functions of one byte become a table of their results.
#define SF_CTYPE_MODEL(name)                                                                       \
  static uint64_t map_##name(uint64_t C, const void *) {                                           \
    int Signed = (int)(uint32_t)C;                                                                 \
    return Signed >= -128 && Signed < 256 ? (uint32_t)name(Signed) : 0;                            \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##name(int C) {                                                      \
    int Result = name(C);                                                                          \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 1);                                            \
    TableLock Lock;                                                                                \
    if (Lock)                                                                                      \
      Call.returns(mapThroughTable(Call.argument(0, (uint32_t)C), 32, map_##name, nullptr).label); \
    return Result;                                                                                 \
  }
SF_CTYPE_MODEL(toupper)
SF_CTYPE_MODEL(tolower)
SF_CTYPE_MODEL(isalnum)
SF_CTYPE_MODEL(isalpha)
SF_CTYPE_MODEL(isblank)
SF_CTYPE_MODEL(iscntrl)
SF_CTYPE_MODEL(isdigit)
SF_CTYPE_MODEL(isgraph)
SF_CTYPE_MODEL(islower)
SF_CTYPE_MODEL(isprint)
SF_CTYPE_MODEL(ispunct)
SF_CTYPE_MODEL(isspace)
SF_CTYPE_MODEL(isupper)
SF_CTYPE_MODEL(isxdigit)

#define SF_SWAP_MODEL(type, name, bits)                                                            \
  SF_MODEL_API type __sf_model_##name(type Value) {                                                \
    if (G.recording) {                                                                             \
      ModelCall Call((const void *)__sf_model_##name, 1);                                          \
      TableLock Lock;                                                                              \
      if (Lock)                                                                                    \
        Call.returns(unary(SF_OP_BSWAP, bits, Call.argument(0, Value)).label);                     \
    }                                                                                              \
    return name(Value);                                                                            \
  }
SF_SWAP_MODEL(uint32_t, htonl, 32)
SF_SWAP_MODEL(uint32_t, ntohl, 32)
SF_SWAP_MODEL(uint16_t, htons, 16)
SF_SWAP_MODEL(uint16_t, ntohs, 16)
