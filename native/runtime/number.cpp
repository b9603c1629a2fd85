#include "number.h"

#include "shadow.h"

namespace sf {

namespace {

constexpr unsigned NumberBytes = 24; // hold every number of 64 bits in base ten
constexpr unsigned GrowthBytes = 3;  // looked at behind the number of this run
constexpr unsigned Binary = 0, Octal = 1, Decimal = 2, Hexadecimal = 3, Runs = 4;
constexpr unsigned BaseOf[Runs] = {2, 8, 10, 16};

Operand equals(Operand Byte, uint8_t C) { return compare(SF_OP_EQ, 8, Byte, constant(C)); }

// The automaton: one bit for each state, and what was computed so far.
class Reader {
public:
  Reader(const NumberForm &Form, Place At) : Form(Form), At(At) {
    Sum = Negative = Over = End = AnyDigit = Bare = None;
    for (Operand &R : Run)
      R = None;
    Lead = constant(1);
    Signed = Zero = Hex = Bin = None;
  }

  bool isActive() const { return active().value; }
  bool mayBeActive() const { return active().label || active().value; }

  void take(unsigned Index, Operand Byte);
  void endLead() {
    recordFact(Lead, At);
    Lead = constant(Lead.label ? 0 : Lead.value);
  }
  Operand active() const {
    Operand Any = anyOf(anyOf(Lead, Signed), anyOf(Zero, anyOf(Hex, Bin)));
    for (const Operand &R : Run)
      Any = anyOf(Any, R);
    return Any;
  }

  Operand Lead, Signed, Zero, Hex, Bin; // before a digit; after a first 0; after a prefix
  Operand Run[Runs];                    // among digits of each base; [0] if there is one only
  Operand Sum, Negative, Over, End, AnyDigit, Bare;
  unsigned RunBase = 10; // of this run
  uint64_t Greatest = 0; // that the digits give, whatever they are

private:
  static constexpr Operand None = {0, 0};

  unsigned maxBase() const { return Form.base ? Form.base : 16; }
  bool hasPrefix() const {
    return Form.base == 0 || Form.base == 16 || (Form.base == 2 && Form.knowsBinary);
  }
  void takeLead(Operand Byte, Operand &NewLead, Operand &NewSigned);
  void digitOf(Operand Byte);
  Operand isDigit(unsigned Base) { return compare(SF_OP_ULT, 8, Digit, constant(Base)); }
  void accumulate(unsigned Index, const Operand *NewRun, Operand NewZero);
  Operand appended(unsigned Base, Operand &Overflow);

  const NumberForm &Form;
  Place At;
  Operand Digit;
  unsigned DigitsMax = 0;
};

void Reader::takeLead(Operand Byte, Operand &NewLead, Operand &NewSigned) {
  NewLead = NewSigned = None;
  if (!Lead.label && !Lead.value)
    return;
  if (Form.skipsSpace)
    NewLead = allOf(Lead, spaceBit(Byte));
  Operand Minus = allOf(Lead, equals(Byte, '-'));
  NewSigned = anyOf(Minus, allOf(Lead, equals(Byte, '+')));
  Negative = anyOf(Negative, Minus);
}

// The digit's value, 36 or more for a byte that is none.
void Reader::digitOf(Operand Byte) {
  Operand Numeral = binary(SF_OP_SUB, 8, Byte, constant('0'));
  Digit = Numeral;
  if (maxBase() <= 10)
    return;
  Operand Letter = binary(SF_OP_SUB, 8, binary(SF_OP_OR, 8, Byte, constant(0x20)), constant('a'));
  Operand OfLetter = ite(compare(SF_OP_ULT, 8, Letter, constant(26)), 8,
                         binary(SF_OP_ADD, 8, Letter, constant(10)), constant(255));
  Digit = ite(compare(SF_OP_ULT, 8, Numeral, constant(10)), 8, Numeral, OfLetter);
}

Operand Reader::appended(unsigned Base, Operand &Overflow) {
  Operand Wide = zext(Digit, 8, 64);
  Operand Product = binary(SF_OP_MUL, 64, Sum, constant(Base));
  // Digits that fit into 64 bits whatever they are.
  unsigned Safe = 0;
  for (uint64_t Most = ~0ull; Most >= Base; Most /= Base)
    ++Safe;
  Overflow = None;
  if (DigitsMax > Safe)
    Overflow = anyOf(compare(SF_OP_UMULO, 64, Sum, constant(Base)),
                     compare(SF_OP_UADDO, 64, Product, Wide));
  return binary(SF_OP_ADD, 64, Product, Wide);
}

void Reader::accumulate(unsigned Index, const Operand *NewRun, Operand NewZero) {
  Operand Took = NewZero, Next = Sum, NewOver = None;
  ++DigitsMax;
  const uint64_t Last = maxBase() - 1;
  Greatest = Greatest > (~0ull - Last) / maxBase() ? ~0ull : Greatest * maxBase() + Last;
  for (unsigned R = 0; R < Runs; ++R) {
    if (!NewRun[R].label && !NewRun[R].value)
      continue;
    Operand Overflow, Value = appended(Form.base ? Form.base : BaseOf[R], Overflow);
    if (NewRun[R].value)
      RunBase = Form.base ? Form.base : BaseOf[R];
    Next = ite(NewRun[R], 64, Value, Next);
    NewOver = anyOf(NewOver, allOf(NewRun[R], Overflow));
    Took = anyOf(Took, NewRun[R]);
  }
  Sum = Next;
  Over = anyOf(Over, NewOver);
  End = ite(Took, 32, constant(Index + 1), End);
  AnyDigit = anyOf(AnyDigit, Took);
}

void Reader::take(unsigned Index, Operand Byte) {
  Operand NewLead, NewSigned, NewRun[Runs] = {None, None, None, None};
  Operand Before = anyOf(Lead, Signed);
  takeLead(Byte, NewLead, NewSigned);
  digitOf(Byte);
  Operand NewZero = None, NewHex = None, NewBin = None, AnyBehind = None;
  const unsigned Only = Form.base ? 0 : Decimal;
  NewRun[Only] = allOf(Before, isDigit(Form.base ? Form.base : 10));
  if (hasPrefix()) {
    Operand IsZero = equals(Byte, '0');
    NewZero = allOf(Before, IsZero);
    NewRun[Only] = allOf(NewRun[Only], logicalNot(IsZero));
    Operand Letter = binary(SF_OP_OR, 8, Byte, constant(0x20));
    if (Form.base != 2)
      NewHex = allOf(Zero, equals(Letter, 'x'));
    if (Form.knowsBinary && Form.base != 16)
      NewBin = allOf(Zero, equals(Letter, 'b'));
    unsigned Behind = Form.base ? 0 : Octal;
    NewRun[Behind] = anyOf(NewRun[Behind], allOf(Zero, isDigit(Form.base ? Form.base : 8)));
    unsigned OfHex = Form.base ? 0 : Hexadecimal;
    Operand HexDigit = allOf(Hex, isDigit(16)), BinaryDigit = allOf(Bin, isDigit(2));
    NewRun[OfHex] = anyOf(NewRun[OfHex], HexDigit);
    NewRun[Binary] = anyOf(NewRun[Binary], BinaryDigit);
    AnyBehind = anyOf(HexDigit, BinaryDigit);
  }
  for (unsigned R = 0; R < Runs; ++R)
    NewRun[R] = anyOf(NewRun[R], allOf(Run[R], isDigit(Form.base ? Form.base : BaseOf[R])));
  accumulate(Index, NewRun, NewZero);
  if (Form.eatsPrefix) {
    End = ite(anyOf(NewHex, NewBin), 32, constant(Index + 1), End);
    Bare = anyOf(anyOf(NewHex, NewBin), allOf(Bare, logicalNot(AnyBehind)));
  }
  Lead = NewLead;
  Signed = NewSigned;
  Zero = NewZero;
  // "0b" in base sixteen is two digits: the letter is taken as one above.
  Hex = NewHex;
  Bin = NewBin;
  for (unsigned R = 0; R < Runs; ++R)
    Run[R] = NewRun[R];
}

// Sign and saturation.
void finish(const NumberForm &Form, Reader &R, ParsedNumber &Out) {
  Operand Negated = binary(SF_OP_SUB, 64, constant(0), R.Sum);
  Operand Value = ite(R.Negative, 64, Negated, R.Sum), Most = constant(~0ull);
  Operand Over = R.Over;
  if (Form.range == NumberRange::Signed) {
    constexpr uint64_t Border = 1ull << 63;
    // The magnitude has at most so many bits that it cannot reach the border.
    if (R.Sum.label || R.Sum.value >> 63) {
      Operand Reaches = compare(SF_OP_ULE, 64, constant(Border), R.Sum);
      Operand Exact = allOf(R.Negative, compare(SF_OP_EQ, 64, R.Sum, constant(Border)));
      Over = anyOf(Over, allOf(Reaches, logicalNot(Exact)));
    }
    Most = ite(R.Negative, 64, constant(Border), constant(Border - 1));
  }
  Out.over = Over;
  Out.value = ite(Over, 64, Most, Value);
  Out.negative = R.Negative;
  Out.isNumber = R.AnyDigit;
  Out.end = R.End;
  Out.bare = R.Bare;
  Out.base = R.RunBase;
  Out.greatest = R.Greatest;
}

} // namespace

Operand allOf(Operand A, Operand B) { return binary(SF_OP_AND, 1, A, B); }
Operand anyOf(Operand A, Operand B) { return binary(SF_OP_OR, 1, A, B); }

bool isSpaceByte(uint64_t Byte) { return Byte == ' ' || (Byte >= '\t' && Byte <= '\r'); }

Operand spaceBit(Operand Byte) {
  Operand Control = binary(SF_OP_SUB, 8, Byte, constant('\t'));
  return anyOf(compare(SF_OP_ULT, 8, Control, constant(5)), equals(Byte, ' '));
}

Text Text::inMemory(const void *Start, uint64_t Limit) {
  Text Out;
  auto *At = (const uint8_t *)Start;
  for (;; ++At) {
    if (Out.count == Limit || Out.count == TextBytesMax) {
      Out.cut = Out.count == TextBytesMax && Limit > TextBytesMax;
      return Out;
    }
    // What lies behind the number of this run may be no memory.
    if ((Out.count == 0 || ((uint64_t)At & 4095) == 0) && !isReadable((uint64_t)At)) {
      Out.cut = true;
      return Out;
    }
    Operand Byte = byteAt(At);
    Out.add(Byte);
    if (!Byte.label && !Byte.value)
      return Out;
  }
}

bool parseNumber(const Text &From, const NumberForm &Form, Place At, ParsedNumber &Out) {
  unsigned Lead = 0, Last = 0;
  while (Form.skipsSpace && Lead < From.count && isSpaceByte(From.bytes[Lead].value))
    ++Lead;
  Out.lead = Lead;
  Reader R(Form, At);
  unsigned I = 0;
  bool Ended = false;
  for (; I < From.count && R.mayBeActive(); ++I) {
    if (!R.isActive() && !Ended) {
      Ended = true;
      Last = I;
    }
    if (Ended && R.End.value && I >= Last + GrowthBytes)
      break;
    if (Ended && I >= Lead + NumberBytes)
      break;
    if (I == Lead + 2)
      R.endLead();
    R.take(I, From.bytes[I]);
  }
  const bool Stopped = I < From.count || From.cut;
  if (Stopped && R.isActive()) {
    for (unsigned K = 0; K < I; ++K)
      recordFact(From.bytes[K], At);
    return false;
  }
  if (Stopped)
    recordFact(R.active(), At);
  finish(Form, R, Out);
  return true;
}

namespace {

// A row that is the value itself and says where its text is.
Operand suggest(const Text &From, unsigned Start, Operand Value, unsigned Bits, sf_number_kind Kind,
                uint64_t Form, unsigned TextSize) {
  if (!Value.label || Start >= From.count || !From.bytes[Start].label)
    return Value;
  const sf_row First = row(From.bytes[Start].label);
  if (First.op != SF_OP_INPUT || First.bits != 8)
    return Value;
  unsigned Room = 0;
  while (Start + Room < From.count && Room < 255) {
    Label L = From.bytes[Start + Room].label;
    if (!L || row(L).op != SF_OP_INPUT || row(L).k != First.k + Room)
      break;
    ++Room;
  }
  sf_row R{};
  R.op = SF_OP_NUMBER;
  R.bits = (uint8_t)Bits;
  R.aux = (uint16_t)(Form | (uint64_t)Kind << 8);
  R.a = Value.label;
  R.c = Room | (TextSize < Room ? TextSize : Room) << 8 | (uint32_t)Start << 16;
  R.k = First.k;
  Meta M = meta(Value.label);
  M.flags = 0;
  return {internRow(R, M), Value.value};
}

} // namespace

void suggestTexts(const Text &From, const NumberForm &Form, unsigned Bits, ParsedNumber &Number) {
  const uint64_t Base = Form.base ? Form.base : Number.base;
  const uint64_t Packed = Base | (Form.range == NumberRange::Signed ? SF_NUMBER_SIGNED : 0) |
                          (Form.skipsSpace ? SF_NUMBER_SKIPS_SPACE : 0);
  const unsigned End = (unsigned)Number.end.value, Start = Number.lead;
  const unsigned Size = End > Start ? End - Start : 0;
  auto Add = [&](Operand &Value, unsigned Width, sf_number_kind Kind) {
    Value = suggest(From, Start, Value, Width, Kind, Packed, Size);
  };
  Number.value = extract(Number.value, 64, 0, Bits);
  Add(Number.value, Bits, SF_NUMBER_VALUE);
  Add(Number.isNumber, 1, SF_NUMBER_IS_ONE);
  Add(Number.negative, 1, SF_NUMBER_NEGATIVE);
  Add(Number.over, 1, SF_NUMBER_OVER);
  Add(Number.end, 32, SF_NUMBER_END);
}

void recordEnd(const ParsedNumber &Number, Place At) {
  const uint64_t Least = Number.lead + 1;
  if (Number.end.value > Least)
    recordGoal(compare(SF_OP_EQ, 32, Number.end, constant(Least)), At);
  recordGoal(compare(SF_OP_EQ, 32, Number.end, constant(Number.end.value)), At);
  recordFact(Number.end, At);
}

void recordTemplate(const Text &From, unsigned Start, const char *Wanted, unsigned Size, Place At) {
  Operand All = constant(1);
  for (unsigned I = 0; I < Size;) {
    Operand X[8], Y[8];
    unsigned Count = 0;
    for (; Count < 8 && I < Size; ++I, ++Count) {
      if (Start + I >= From.count)
        return;
      X[Count] = From.bytes[Start + I];
      Y[Count] = constant((uint8_t)Wanted[I]);
      if (!X[Count].label && X[Count].value != Y[Count].value)
        return;
    }
    All = allOf(All, compare(SF_OP_EQ, 8 * Count, joinBytes(X, Count), joinBytes(Y, Count)));
  }
  recordGoal(All, At);
}

} // namespace sf
