// Models of number parsing, character classes and byte order.
#include "model.h"
#include "number.h"

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
SF_REAL(intmax_t, strtoimax);
SF_REAL(uintmax_t, strtoumax);

namespace {

// What the number's bytes decide besides its value.
void decided(const ModelCall &Call, const ParsedNumber &Number) {
  recordGoal(Number.isNumber, Call.at(0));
  recordGoal(Number.negative, Call.at(1));
  recordGoal(Number.over, Call.at(2));
}

// errno was Before; the real function has set it for this run.
void setErrno(const ParsedNumber &Number, Operand Before) {
  Operand Now = ite(Number.over, 32, constant(ERANGE), Before);
  if (Now.value == (uint32_t)errno)
    storeLabel((uint64_t)&errno, sizeof(errno), Now.label);
}

// Hands out the labels of a parsed number of Bits bits.
void parsed(ModelCall &Call, const char *Text, char **End, NumberForm Form, unsigned Bits,
            uint64_t Result, Operand ErrnoBefore) {
  KeepErrno Keep;
  TableLock Lock;
  if (End)
    clearLabels((uint64_t)End, sizeof(char *));
  if (!Lock || Form.base == 1 || Form.base > 36)
    return;
  const sf::Text From = sf::Text::inMemory(Text);
  ParsedNumber Number;
  if (!parseNumber(From, Form, Call.at(3), Number))
    return;
  suggestTexts(From, Form, Bits, Number);
  decided(Call, Number);
  if (Bits == 64) // atoi() leaves it as strtol() does, too
    setErrno(Number, ErrnoBefore);
  Call.returns(live(Number.value.label, Result & maskOf(Bits)));
  Operand After = binary(SF_OP_ADD, 64, constant((uint64_t)Text), zext(Number.end, 32, 64));
  if (End && (uint64_t)*End == After.value)
    storeLabel((uint64_t)End, sizeof(char *), After.label);
}

Operand errnoNow() {
  if (!G.recording)
    return constant(0);
  const int Value = errno;
  TableLock Lock;
  return Lock ? loadOperand((uint64_t)&errno, sizeof(errno), (uint32_t)Value)
              : constant((uint32_t)Value);
}

constexpr NumberForm formOf(int Base, NumberRange Range, bool KnowsBinary) {
  NumberForm Form;
  Form.base = Base < 0 ? 1 : (unsigned)Base;
  Form.range = Range;
  Form.knowsBinary = KnowsBinary;
  return Form;
}

} // namespace

#define SF_PARSE_MODEL(type, name, parameters, text, end, base, range, binary, real)               \
  SF_MODEL_API type __sf_model_##name parameters {                                                 \
    const Operand Before = errnoNow();                                                             \
    type Result = real;                                                                            \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    parsed(Call, text, end, formOf(base, NumberRange::range, binary), sizeof(type) * 8,            \
           (uint64_t)Result, Before);                                                              \
    return Result;                                                                                 \
  }
#define SF_ATO(type, name)                                                                         \
  SF_PARSE_MODEL(type, name, (const char *Text), Text, nullptr, 10, Signed, false, name(Text))
#define SF_STRTO(type, name, range, binary, real)                                                  \
  SF_PARSE_MODEL(type, name, (const char *Text, char **End, int Base), Text, End, Base, range,     \
                 binary, real(Text, End, Base))

SF_ATO(int, atoi)
SF_ATO(long, atol)
SF_ATO(long long, atoll)
SF_STRTO(long, strtol, Signed, false, real_strtol)
SF_STRTO(long long, strtoll, Signed, false, real_strtoll)
SF_STRTO(unsigned long, strtoul, Unsigned, false, real_strtoul)
SF_STRTO(unsigned long long, strtoull, Unsigned, false, real_strtoull)
SF_STRTO(intmax_t, strtoimax, Signed, false, real_strtoimax)
SF_STRTO(uintmax_t, strtoumax, Unsigned, false, real_strtoumax)
// A program that calls these was compiled for a C library that has them.
SF_STRTO(long, __isoc23_strtol, Signed, true, real___isoc23_strtol)
SF_STRTO(long long, __isoc23_strtoll, Signed, true, real___isoc23_strtoll)
SF_STRTO(unsigned long, __isoc23_strtoul, Unsigned, true, real___isoc23_strtoul)
SF_STRTO(unsigned long long, __isoc23_strtoull, Unsigned, true, real___isoc23_strtoull)
SF_STRTO(intmax_t, __isoc23_strtoimax, Signed, true, real___isoc23_strtoimax)
SF_STRTO(uintmax_t, __isoc23_strtoumax, Unsigned, true, real___isoc23_strtoumax)

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
