#include "VectorIntrinsics.h"

#include "symfleet/abi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;

namespace symfleet {

namespace {

using List = SmallVector<Term, 16>;

enum class Kind {
  Unknown,
  SignMask,
  PackSigned,   // to signed, saturated
  PackUnsigned, // to unsigned, saturated
  ShuffleBytes,
  ShiftLeft,
  ShiftRight,
  ShiftSigned,
  TestZero, // ptest: the zero flag, the carry flag, neither
  TestCarry,
  TestNeither,
  Average,
  Differences, // psadbw
  MultiplyAdd, // pmaddwd
  AddCarry,
  SubtractBorrow,
  Reduce,
};

// By name: not every version of LLVM has every number.
Kind kindOf(StringRef Name) {
  if (!Name.consume_front("llvm."))
    return Kind::Unknown;
  if (Name.consume_front("vector.reduce.")) {
    StringRef Op = Name.split('.').first;
    bool Known = StringSwitch<bool>(Op)
                     .Cases("add", "mul", "and", "or", "xor", true)
                     .Cases("umin", "umax", "smin", "smax", true)
                     .Default(false);
    return Known ? Kind::Reduce : Kind::Unknown;
  }
  if (!Name.consume_front("x86."))
    return Kind::Unknown;
  return StringSwitch<Kind>(Name)
      .Cases("sse2.pmovmskb.128", "avx2.pmovmskb", Kind::SignMask)
      .Cases("sse.movmsk.ps", "sse2.movmsk.pd", Kind::SignMask)
      .Cases("avx.movmsk.ps.256", "avx.movmsk.pd.256", Kind::SignMask)
      .Cases("sse2.packsswb.128", "sse2.packssdw.128", Kind::PackSigned)
      .Cases("avx2.packsswb", "avx2.packssdw", Kind::PackSigned)
      .Cases("sse2.packuswb.128", "sse41.packusdw", Kind::PackUnsigned)
      .Cases("avx2.packuswb", "avx2.packusdw", Kind::PackUnsigned)
      .Cases("ssse3.pshuf.b.128", "avx2.pshuf.b", Kind::ShuffleBytes)
      .Cases("sse2.pslli.w", "sse2.pslli.d", "sse2.pslli.q", Kind::ShiftLeft)
      .Cases("avx2.pslli.w", "avx2.pslli.d", "avx2.pslli.q", Kind::ShiftLeft)
      .Cases("sse2.psrli.w", "sse2.psrli.d", "sse2.psrli.q", Kind::ShiftRight)
      .Cases("avx2.psrli.w", "avx2.psrli.d", "avx2.psrli.q", Kind::ShiftRight)
      .Cases("sse2.psrai.w", "sse2.psrai.d", Kind::ShiftSigned)
      .Cases("avx2.psrai.w", "avx2.psrai.d", Kind::ShiftSigned)
      .Cases("sse41.ptestz", "avx.ptestz.256", Kind::TestZero)
      .Cases("sse41.ptestc", "avx.ptestc.256", Kind::TestCarry)
      .Cases("sse41.ptestnzc", "avx.ptestnzc.256", Kind::TestNeither)
      .Cases("sse2.pavg.b", "sse2.pavg.w", Kind::Average)
      .Cases("avx2.pavg.b", "avx2.pavg.w", Kind::Average)
      .Cases("sse2.psad.bw", "avx2.psad.bw", Kind::Differences)
      .Cases("sse2.pmadd.wd", "avx2.pmadd.wd", Kind::MultiplyAdd)
      .Cases("addcarry.32", "addcarry.64", Kind::AddCarry)
      .Cases("subborrow.32", "subborrow.64", Kind::SubtractBorrow)
      .Default(Kind::Unknown);
}

class Lanes {
public:
  Lanes(const IntrinsicInst &I, const Terms &T, LanesOf Get)
      : I(I), T(T), Get(Get), Name(I.getCalledFunction()->getName()) {}

  List run();

private:
  // Elements of a lane of 128 bits, in which packs and shuffles work.
  static constexpr unsigned LaneBits = 128;

  List signMask();
  List pack(bool Signed);
  List shuffle();
  List shift(unsigned Op);
  List test(Kind K);
  List average();
  List differences();
  List multiplyAdd();
  List addCarry(bool Subtracts);
  List reduce();
  Term clamp(const Term &X, unsigned To, bool Signed);
  Term smaller(const Term &X, const Term &Y, unsigned Less, bool Larger);

  const IntrinsicInst &I;
  const Terms &T;
  LanesOf Get;
  StringRef Name;
};

List Lanes::signMask() {
  List X = Get(0);
  Term Mask = T.extract(X[0], X[0].bits - 1, 1);
  for (unsigned K = 1; K < X.size(); ++K)
    Mask = T.concat(T.extract(X[K], X[K].bits - 1, 1), Mask);
  return {T.zext(Mask, 32)};
}

Term Lanes::clamp(const Term &X, unsigned To, bool Signed) {
  const uint64_t Half = 1ull << (To - 1);
  Term High = T.constant(Signed ? Half - 1 : 2 * Half - 1, X.bits);
  Term Low = T.constant(Signed ? 0 - Half : 0, X.bits);
  Term Out = T.choose(T.compare(SF_OP_SLT, High, X), High, X);
  Out = T.choose(T.compare(SF_OP_SLT, X, Low), Low, Out);
  return T.extract(Out, 0, To);
}

List Lanes::pack(bool Signed) {
  List X = Get(0), Y = Get(1), Out;
  const unsigned Per = LaneBits / X[0].bits;
  for (unsigned First = 0; First < X.size(); First += Per)
    for (List *From : {&X, &Y})
      for (unsigned K = 0; K < Per; ++K)
        Out.push_back(clamp((*From)[First + K], X[0].bits / 2, Signed));
  return Out;
}

// A byte of the control chooses one of its lane, or zero; which one may depend on the input.
List Lanes::shuffle() {
  List X = Get(0), Control = Get(1), Out;
  const unsigned Per = LaneBits / 8;
  for (unsigned K = 0; K < X.size(); ++K) {
    const Term &C = Control[K];
    unsigned First = K / Per * Per;
    Term Index = T.extract(C, 0, 4), Chosen = X[First];
    for (unsigned From = 1; From < Per; ++From)
      Chosen = T.choose(T.compare(SF_OP_EQ, Index, T.constant(From, 4)), X[First + From], Chosen);
    Out.push_back(T.choose(T.extract(C, 7, 1), T.constant(0, 8), Chosen));
  }
  return Out;
}

List Lanes::shift(unsigned Op) {
  List X = Get(0), Out;
  Term Amount = Get(1)[0];
  const unsigned Bits = X[0].bits;
  Term Large = T.compare(SF_OP_ULE, T.constant(Bits, 32), Amount);
  Term Narrow = Bits >= 32 ? T.zext(Amount, Bits) : T.extract(Amount, 0, Bits);
  for (const Term &Each : X) {
    Term Filled = Op == SF_OP_ASHR ? T.binary(SF_OP_ASHR, Each, T.constant(Bits - 1, Bits))
                                   : T.constant(0, Bits);
    Out.push_back(T.choose(Large, Filled, T.binary(Op, Each, Narrow)));
  }
  return Out;
}

List Lanes::test(Kind K) {
  List X = Get(0), Y = Get(1);
  Term Zero = T.constant(1, 1), Carry = T.constant(1, 1);
  for (unsigned Word = 0; Word < X.size(); ++Word) {
    const unsigned Bits = X[Word].bits;
    Term None = T.constant(0, Bits), Not = T.binary(SF_OP_XOR, X[Word], T.constant(~0ull, Bits));
    Term Both = T.binary(SF_OP_AND, X[Word], Y[Word]), Rest = T.binary(SF_OP_AND, Not, Y[Word]);
    Zero = T.binary(SF_OP_AND, Zero, T.compare(SF_OP_EQ, Both, None));
    Carry = T.binary(SF_OP_AND, Carry, T.compare(SF_OP_EQ, Rest, None));
  }
  Term Neither = T.binary(SF_OP_AND, T.flip(Zero), T.flip(Carry));
  return {T.zext(K == Kind::TestZero ? Zero : K == Kind::TestCarry ? Carry : Neither, 32)};
}

List Lanes::average() {
  List X = Get(0), Y = Get(1), Out;
  for (unsigned K = 0; K < X.size(); ++K) {
    const unsigned Bits = X[K].bits;
    Term Sum = T.binary(SF_OP_ADD, T.zext(X[K], Bits + 1), T.zext(Y[K], Bits + 1));
    Sum = T.binary(SF_OP_ADD, Sum, T.constant(1, Bits + 1));
    Out.push_back(T.extract(Sum, 1, Bits));
  }
  return Out;
}

List Lanes::differences() {
  List X = Get(0), Y = Get(1), Out;
  for (unsigned K = 0; K < X.size(); ++K) {
    Term Less = T.compare(SF_OP_ULT, X[K], Y[K]);
    Term Difference = T.choose(Less, T.binary(SF_OP_SUB, Y[K], X[K]), //
                               T.binary(SF_OP_SUB, X[K], Y[K]));
    Difference = T.zext(Difference, 64);
    if (K % 8 == 0)
      Out.push_back(Difference);
    else
      Out.back() = T.binary(SF_OP_ADD, Out.back(), Difference);
  }
  return Out;
}

List Lanes::multiplyAdd() {
  List X = Get(0), Y = Get(1), Out;
  auto Product = [&](unsigned K) {
    return T.binary(SF_OP_MUL, T.sext(X[K], 32), T.sext(Y[K], 32));
  };
  for (unsigned K = 0; K + 1 < X.size(); K += 2)
    Out.push_back(T.binary(SF_OP_ADD, Product(K), Product(K + 1)));
  return Out;
}

// {carry out, result} of a carry in (any number but zero) and two operands.
List Lanes::addCarry(bool Subtracts) {
  Term In = Get(0)[0], X = Get(1)[0], Y = Get(2)[0];
  Term Carry = T.zext(T.compare(SF_OP_NE, In, T.constant(0, In.bits)), X.bits);
  const unsigned Op = Subtracts ? SF_OP_SUB : SF_OP_ADD;
  const unsigned Flag = Subtracts ? SF_OP_USUBO : SF_OP_UADDO;
  Term Part = T.binary(Op, X, Y), Result = T.binary(Op, Part, Carry);
  Term Out = T.binary(SF_OP_OR, T.compare(Flag, X, Y), T.compare(Flag, Part, Carry));
  return {T.zext(Out, 8), Result};
}

Term Lanes::smaller(const Term &X, const Term &Y, unsigned Less, bool Larger) {
  Term First = T.compare(Less, X, Y);
  return Larger ? T.choose(First, Y, X) : T.choose(First, X, Y);
}

List Lanes::reduce() {
  List X = Get(0);
  StringRef Op = Name.drop_front(StringRef("llvm.vector.reduce.").size()).split('.').first;
  unsigned Binary = StringSwitch<unsigned>(Op)
                        .Case("add", SF_OP_ADD)
                        .Case("mul", SF_OP_MUL)
                        .Case("and", SF_OP_AND)
                        .Case("or", SF_OP_OR)
                        .Case("xor", SF_OP_XOR)
                        .Default(0);
  Term Out = X[0];
  for (unsigned K = 1; K < X.size(); ++K)
    Out = Binary
              ? T.binary(Binary, Out, X[K])
              : smaller(Out, X[K], Op[0] == 's' ? SF_OP_SLT : SF_OP_ULT, Op.drop_front() == "max");
  return {Out};
}

List Lanes::run() {
  switch (Kind K = kindOf(Name)) {
  case Kind::SignMask:
    return signMask();
  case Kind::PackSigned:
  case Kind::PackUnsigned:
    return pack(K == Kind::PackSigned);
  case Kind::ShuffleBytes:
    return shuffle();
  case Kind::ShiftLeft:
    return shift(SF_OP_SHL);
  case Kind::ShiftRight:
    return shift(SF_OP_LSHR);
  case Kind::ShiftSigned:
    return shift(SF_OP_ASHR);
  case Kind::TestZero:
  case Kind::TestCarry:
  case Kind::TestNeither:
    return test(K);
  case Kind::Average:
    return average();
  case Kind::Differences:
    return differences();
  case Kind::MultiplyAdd:
    return multiplyAdd();
  case Kind::AddCarry:
  case Kind::SubtractBorrow:
    return addCarry(K == Kind::SubtractBorrow);
  case Kind::Reduce:
    return reduce();
  case Kind::Unknown:
    break;
  }
  return {};
}

} // namespace

bool isModelledVectorIntrinsic(const IntrinsicInst &I) {
  if (kindOf(I.getCalledFunction()->getName()) == Kind::Unknown)
    return false;
  for (const Use &A : I.args()) // numbers above 64 bits are words, not lanes
    if (A->getType()->getScalarSizeInBits() > 64)
      return false;
  return true;
}

List followVectorIntrinsic(const IntrinsicInst &I, const Terms &T, LanesOf Get) {
  return Lanes(I, T, Get).run();
}

} // namespace symfleet
