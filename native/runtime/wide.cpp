// Arithmetic on integers of several words.
#include "wide.h"

namespace sf {

namespace {

Operand either(Operand A, Operand B) { return binary(SF_OP_OR, 1, A, B); }

Operand isZero(const Wide &A) { return wideEqual(A, wideConstant(0, A.count)); }

// A + B + Carry; Carry becomes the one out of the top.
Wide addWithCarry(const Wide &A, const Wide &B, Operand &Carry) {
  Wide Out{{}, A.count};
  for (unsigned I = 0; I < A.count; ++I) {
    Operand Sum = binary(SF_OP_ADD, 64, A.words[I], B.words[I]);
    Operand First = compare(SF_OP_UADDO, 64, A.words[I], B.words[I]);
    Operand In = zext(Carry, 1, 64);
    Out.words[I] = binary(SF_OP_ADD, 64, Sum, In);
    Operand Second = In.label || In.value ? compare(SF_OP_UADDO, 64, Sum, In) : constant(0);
    Carry = either(First, Second);
  }
  return Out;
}

// Adds Value to the words from Index on.
void addAt(Wide &To, unsigned Index, Operand Value) {
  for (; Index < To.count && (Value.label || Value.value); ++Index) {
    Operand Carry = compare(SF_OP_UADDO, 64, To.words[Index], Value);
    To.words[Index] = binary(SF_OP_ADD, 64, To.words[Index], Value);
    Value = zext(Carry, 1, 64);
  }
}

// A shifted by a number of bits below 64; words move apart from Fill above.
Wide shiftBits(sf_op Op, const Wide &A, Operand Amount, Operand Fill) {
  Wide Out{{}, A.count};
  const bool Left = Op == SF_OP_SHL;
  Operand Rest = binary(SF_OP_SUB, 64, constant(64), Amount);
  for (unsigned I = 0; I < A.count; ++I) {
    Operand Next =
        Left ? (I ? A.words[I - 1] : constant(0)) : (I + 1 < A.count ? A.words[I + 1] : Fill);
    Operand Own = binary(Left ? SF_OP_SHL : SF_OP_LSHR, 64, A.words[I], Amount);
    // A shift by 64 gives 0 here, so an amount of 0 needs no case of its own.
    Operand Neighbour = binary(Left ? SF_OP_LSHR : SF_OP_SHL, 64, Next, Rest);
    Out.words[I] = binary(SF_OP_OR, 64, Own, Neighbour);
  }
  return Out;
}

Wide shiftWords(sf_op Op, const Wide &A, unsigned Words, Operand Fill) {
  Wide Out{{}, A.count};
  for (unsigned I = 0; I < A.count; ++I)
    if (Op == SF_OP_SHL)
      Out.words[I] = I >= Words ? A.words[I - Words] : constant(0);
    else
      Out.words[I] = I + Words < A.count ? A.words[I + Words] : Fill;
  return Out;
}

unsigned usedWords(const Wide &A) {
  unsigned Used = A.count;
  while (Used > 1 && !A.words[Used - 1].label && !A.words[Used - 1].value)
    --Used;
  return Used;
}

// By one word at a time, from the top.
void divideByWord(const Wide &A, Operand By, Wide &Quotient, Wide &Remainder) {
  Quotient = wideConstant(0, A.count);
  Remainder = wideConstant(0, A.count);
  Operand Rest = constant(0);
  for (unsigned I = A.count; I-- > 0;) {
    Quotient.words[I] = divideDouble(SF_OP_UDIVW, 64, Rest, A.words[I], By);
    Rest = divideDouble(SF_OP_UREMW, 64, Rest, A.words[I], By);
  }
  Remainder.words[0] = Rest;
}

unsigned bitsInUse(const Wide &A) {
  unsigned Top = usedWords(A);
  uint64_t Word = A.words[Top - 1].value;
  return Word ? Top * 64 - (unsigned)__builtin_clzll(Word) : (Top - 1) * 64;
}

// The remainder of a division by a constant of Width bits, one bit wider than
// it: after each step it is smaller than the constant.
class Remainders {
public:
  Remainders(const Wide &Start, const Wide &By, unsigned Width)
      : By(By), Count(Width / 64 + 1), TopBits(Width % 64 + 1), Rest{{}, Count} {
    for (unsigned I = 0; I < Count; ++I)
      Rest.words[I] = extract(Start.words[I], 64, 0, bitsOf(I));
  }

  // Brings a bit of the dividend down. Says whether the constant fits.
  Operand step(Operand Bit) {
    for (unsigned I = 0; I < Count; ++I) {
      const unsigned Bits = bitsOf(I);
      Operand Out = extract(Rest.words[I], Bits, Bits - 1, 1);
      Operand Kept = extract(Rest.words[I], Bits, 0, Bits > 1 ? Bits - 1 : 1);
      Rest.words[I] = Bits > 1 ? concat(Kept, Bits - 1, Bit, 1) : Bit;
      Bit = Out;
    }
    Wide Less{{}, Count};
    Operand Borrow = constant(0);
    for (unsigned I = 0; I < Count; ++I) {
      const unsigned Bits = bitsOf(I);
      Operand A = Rest.words[I], B = constant(By.words[I].value & maskOf(Bits));
      Operand Difference = binary(SF_OP_SUB, Bits, A, B);
      Less.words[I] = binary(SF_OP_SUB, Bits, Difference, zext(Borrow, 1, Bits));
      Operand Same = binary(SF_OP_AND, 1, compare(SF_OP_EQ, Bits, A, B), Borrow);
      Borrow = either(compare(SF_OP_ULT, Bits, A, B), Same);
    }
    // Less than twice the constant: the spare bit is the sign.
    Operand Fits = logicalNot(extract(Less.words[Count - 1], TopBits, TopBits - 1, 1));
    for (unsigned I = 0; I < Count; ++I)
      Rest.words[I] = ite(Fits, bitsOf(I), Less.words[I], Rest.words[I]);
    return Fits;
  }

  void give(Wide &Out) const {
    for (unsigned I = 0; I < Count && I < Out.count; ++I)
      Out.words[I] = zext(Rest.words[I], bitsOf(I), 64);
  }

private:
  unsigned bitsOf(unsigned Word) const { return Word + 1 == Count ? TopBits : 64; }

  const Wide &By;
  unsigned Count, TopBits;
  Wide Rest;
};

// Shift and subtract: by a constant of several words.
void divideByBits(const Wide &A, const Wide &By, Wide &Quotient, Wide &Remainder) {
  const unsigned Width = bitsInUse(By), All = 64 * usedWords(A);
  Quotient = wideConstant(0, A.count);
  Remainder = A;
  if (All < Width)
    return;
  const unsigned Steps = All - Width + 1;
  Wide Larger = wideZext(A, 64 * A.count, A.count + 1), Divisor = By;
  Divisor.words[By.count] = constant(0);
  Remainders R(wideShift(SF_OP_LSHR, Larger, constant(Steps)), Divisor, Width);
  unsigned Have = 0; // bits of the quotient's present word
  for (unsigned Shift = Steps; Shift-- > 0;) {
    Operand Bit = extract(A.words[Shift / 64], 64, Shift % 64, 1);
    Operand Fits = R.step(Bit);
    Operand &Word = Quotient.words[Shift / 64];
    Word = Have ? concat(Word, Have, Fits, 1) : Fits;
    ++Have;
    if (Shift % 64 == 0) {
      Word = zext(Word, Have, 64);
      Have = 0;
    }
  }
  Remainder = wideConstant(0, A.count);
  R.give(Remainder);
}

// Of two words by a constant of two: half of the dividend by the constant's upper 64
// bits gives the quotient, or one more (H. Warren, "Hacker's Delight", 9-5).
void divideTwoWords(const Wide &A, const Wide &By, Wide &Quotient, Wide &Remainder) {
  const unsigned Above = (unsigned)__builtin_clzll(By.words[1].value);
  const Wide Half = wideShift(SF_OP_LSHR, A, constant(1));
  const Wide Top = wideShift(SF_OP_SHL, By, constant(Above));
  Operand Guess = divideDouble(SF_OP_UDIVW, 64, Half.words[1], Half.words[0], Top.words[1]);
  Guess = binary(SF_OP_LSHR, 64, Guess, constant(63 - Above));
  Operand Some = compare(SF_OP_NE, 64, Guess, constant(0));
  Guess = binary(SF_OP_SUB, 64, Guess, zext(Some, 1, 64));
  Wide Lower = wideConstant(0, 2);
  Lower.words[0] = Guess;
  const Wide Rest = wideSubtract(A, wideMultiply(Lower, By));
  const Operand Fits = logicalNot(wideLess(Rest, By, false));
  Quotient = wideConstant(0, 2);
  Quotient.words[0] = binary(SF_OP_ADD, 64, Guess, zext(Fits, 1, 64));
  Remainder = wideChoose(Fits, wideSubtract(Rest, By), Rest);
}

} // namespace

Wide wideConstant(uint64_t Value, unsigned Count) {
  Wide Out{{}, Count};
  for (unsigned I = 0; I < Count; ++I)
    Out.words[I] = constant(I ? 0 : Value);
  return Out;
}

static Wide widen(const Wide &A, unsigned Bits, unsigned Count, bool Signed) {
  Wide Out{{}, Count};
  unsigned Top = (Bits - 1) / 64, Used = Bits - 64 * Top;
  for (unsigned I = 0; I < Count && I < Top; ++I)
    Out.words[I] = A.words[I];
  if (Top >= Count)
    return Out;
  Operand Last = extract(A.words[Top], 64, 0, Used);
  Out.words[Top] = Signed ? sext(Last, Used, 64) : zext(Last, Used, 64);
  Operand Fill = Signed ? binary(SF_OP_ASHR, 64, Out.words[Top], constant(63)) : constant(0);
  for (unsigned I = Top + 1; I < Count; ++I)
    Out.words[I] = Fill;
  return Out;
}

Wide wideZext(const Wide &A, unsigned Bits, unsigned Count) { return widen(A, Bits, Count, false); }
Wide wideSext(const Wide &A, unsigned Bits, unsigned Count) { return widen(A, Bits, Count, true); }

Wide wideBitwise(sf_op Op, const Wide &A, const Wide &B) {
  Wide Out{{}, A.count};
  for (unsigned I = 0; I < A.count; ++I)
    Out.words[I] = binary(Op, 64, A.words[I], B.words[I]);
  return Out;
}

Wide wideAdd(const Wide &A, const Wide &B) {
  Operand Carry = constant(0);
  return addWithCarry(A, B, Carry);
}

Wide wideSubtract(const Wide &A, const Wide &B) {
  Wide Out{{}, A.count};
  Operand Borrow = constant(0);
  for (unsigned I = 0; I < A.count; ++I) {
    Operand Difference = binary(SF_OP_SUB, 64, A.words[I], B.words[I]);
    Operand First = compare(SF_OP_ULT, 64, A.words[I], B.words[I]);
    Operand In = zext(Borrow, 1, 64);
    Out.words[I] = binary(SF_OP_SUB, 64, Difference, In);
    Borrow = either(First, compare(SF_OP_ULT, 64, Difference, In));
  }
  return Out;
}

Wide wideMultiply(const Wide &A, const Wide &B) {
  Wide Out = wideConstant(0, A.count);
  for (unsigned I = 0; I < A.count; ++I)
    for (unsigned J = 0; I + J < A.count; ++J) {
      addAt(Out, I + J, binary(SF_OP_MUL, 64, A.words[I], B.words[J]));
      if (I + J + 1 < A.count)
        addAt(Out, I + J + 1, binary(SF_OP_UMULH, 64, A.words[I], B.words[J]));
    }
  return Out;
}

Wide wideShift(sf_op Op, const Wide &A, Operand Amount) {
  Operand Fill =
      Op == SF_OP_ASHR ? binary(SF_OP_ASHR, 64, A.words[A.count - 1], constant(63)) : constant(0);
  Operand Words = binary(SF_OP_LSHR, 64, Amount, constant(6));
  Operand Bits = binary(SF_OP_AND, 64, Amount, constant(63));
  auto Moved = [&](unsigned By) { return shiftBits(Op, shiftWords(Op, A, By, Fill), Bits, Fill); };
  if (!Words.label)
    return Moved(Words.value < A.count ? (unsigned)Words.value : A.count);
  Wide Out{{}, A.count};
  for (unsigned I = 0; I < A.count; ++I)
    Out.words[I] = Fill;
  for (unsigned By = 0; By < A.count; ++By)
    Out = wideChoose(compare(SF_OP_EQ, 64, Words, constant(By)), Moved(By), Out);
  return Out;
}

void wideDivide(const Wide &A, Wide By, Place At, Wide &Quotient, Wide &Remainder) {
  recordBranch(isZero(By), At);
  for (unsigned I = 1; I < By.count; ++I) {
    concretise(By.words[I], At);
    By.words[I].label = 0;
  }
  if (usedWords(By) == 1) {
    divideByWord(A, By.words[0], Quotient, Remainder);
    return;
  }
  concretise(By.words[0], At);
  By.words[0].label = 0;
  if (A.count == 2)
    divideTwoWords(A, By, Quotient, Remainder);
  else
    divideByBits(A, By, Quotient, Remainder);
}

Operand wideEqual(const Wide &A, const Wide &B) {
  Operand All = constant(1);
  for (unsigned I = 0; I < A.count; ++I)
    All = binary(SF_OP_AND, 1, All, compare(SF_OP_EQ, 64, A.words[I], B.words[I]));
  return All;
}

Operand wideLess(const Wide &A, const Wide &B, bool Signed) {
  Operand Less = constant(0);
  for (unsigned I = 0; I < A.count; ++I) {
    sf_op Op = Signed && I + 1 == A.count ? SF_OP_SLT : SF_OP_ULT;
    Operand Here = compare(Op, 64, A.words[I], B.words[I]);
    Operand Equal = compare(SF_OP_EQ, 64, A.words[I], B.words[I]);
    Less = either(Here, binary(SF_OP_AND, 1, Equal, Less));
  }
  return Less;
}

Wide wideChoose(Operand Condition, const Wide &Then, const Wide &Else) {
  Wide Out{{}, Then.count};
  for (unsigned I = 0; I < Then.count; ++I)
    Out.words[I] = ite(Condition, 64, Then.words[I], Else.words[I]);
  return Out;
}

} // namespace sf
