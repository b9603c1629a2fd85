// The label side of floating-point operations.
//
// For `%c = fadd double %a, %b` the cold block holds
//   %lc = call i32 @__sf_float(ADD | formats, 64, widths, %la, %lb, 0, 0,
//                              bits of %a, bits of %b, 0, 0, bits of %c)
// The runtime computes nothing: the value of the row is the one that the program
// came to.
#include "Operations.h"

#include "symfleet/abi.h"

using namespace llvm;

namespace symfleet {

namespace {

// Operands of one row, and its call.
class FloatRow {
public:
  FloatRow(Runtime &RT, IRBuilder<> &B) : RT(RT), B(B) {
    for (unsigned I = 0; I < 4; ++I) {
      Labels[I] = RT.NoLabel;
      Values[I] = ConstantInt::get(RT.Int64, 0);
    }
  }

  void add(Value *Label, Value *V, unsigned Bits) {
    Labels[Count] = Label;
    Values[Count] = V;
    Widths |= Bits << (8 * Count++);
  }

  // The label of a result of Bits bits.
  Value *emit(uint32_t Aux, unsigned Bits, Value *Result) {
    if (all_of(Labels, [&](Value *L) { return L == RT.NoLabel; }))
      return RT.NoLabel;
    return RT.call(B, "float", RT.Int32,
                   {ConstantInt::get(RT.Int32, Aux | Bits << 16),
                    ConstantInt::get(RT.Int32, Widths), Labels[0], Labels[1], Labels[2], Labels[3],
                    Values[0], Values[1], Values[2], Values[3], Result});
  }

private:
  Runtime &RT;
  IRBuilder<> &B;
  Value *Labels[4], *Values[4];
  unsigned Count = 0;
  uint32_t Widths = 0;
};

uint64_t signBit(unsigned Bits) { return 1ull << (Bits - 1); }
uint64_t widthMask(unsigned Bits) { return Bits == 64 ? ~0ull : (1ull << Bits) - 1; }

unsigned leavesPerLane(Type *T) { return T->isX86_FP80Ty() ? 2 : 1; }

} // namespace

LabelList OperationEmitter::floating(Builder &B, Instruction &I, const FloatOperation &Known) {
  LabelList Out;
  unsigned Lanes = unsigned(leavesOf(I.getType(), DL).size()) / leavesPerLane(I.getType());
  for (unsigned Lane = 0; Lane < Lanes; ++Lane)
    for (Value *L : Known.kind == FloatOperation::Kind::Function ||
                            Known.kind == FloatOperation::Kind::MultiplyAdd
                        ? floatLane(B, I, Known, Lane)
                        : signLane(B, Known, Lane))
      Out.push_back(L);
  if (Known.stored)
    storeFloatPart(B, Known);
  return Out;
}

LabelList OperationEmitter::floatLane(Builder &B, Instruction &I, const FloatOperation &Known,
                                      unsigned Lane) {
  FloatRow Row(RT, B);
  auto Add = [&](FloatRow &To, Value *V) {
    LeafList Leaves = leavesOf(V->getType(), DL);
    const unsigned Parts = leavesPerLane(V->getType());
    for (unsigned K = Lane * Parts; K < (Lane + 1) * Parts; ++K) {
      Value *L = Label(B, V, K), *Bits = leafValue(B, V, Leaves[K]);
      unsigned Width = Leaves[K].bits;
      bool Widens = Known.function == SF_FN_FROM_SINT || Known.function == SF_FN_FROM_UINT;
      if (Widens && Width < 64) { // integers are converted from 64 bits
        bool Signed = Known.function == SF_FN_FROM_SINT;
        if (!isZero(L))
          L = RT.call(
              B, "cast", RT.Int32,
              {packed((Signed ? SF_OP_SEXT : SF_OP_ZEXT) | Width << 8 | 64 << 16), L, Bits});
        if (Signed)
          Bits = B.CreateSExt(B.CreateTrunc(Bits, B.getIntNTy(Width)), RT.Int64);
        Width = 64;
      }
      To.add(L, Bits, Width);
    }
  };
  const unsigned From = floatFormat(Known.operands[0]->getType()).value_or(SF_HALF);
  const unsigned To = floatFormat(I.getType()).value_or(SF_HALF);
  LeafList Leaves = leavesOf(I.getType(), DL);
  LabelList Out;
  if (Known.kind == FloatOperation::Kind::MultiplyAdd) {
    const unsigned Parts = leavesPerLane(I.getType());
    Value *X = Known.operands[0], *Y = Known.operands[1], *Z = Known.operands[2];
    Value *Product = B.CreateFMul(X, Y);
    LabelList Products;
    FloatRow Multiply(RT, B);
    Add(Multiply, X);
    Add(Multiply, Y);
    for (unsigned K = 0; K < Parts; ++K) {
      const Leaf &L = Leaves[Lane * Parts + K];
      Products.push_back(
          Multiply.emit(SF_FLOAT_AUX(SF_FN_MUL, From, To, K), L.bits, leafValue(B, Product, L)));
      Row.add(Products.back(), leafValue(B, Product, L), L.bits);
    }
    Add(Row, Z);
  } else {
    for (Value *V : Known.operands)
      Add(Row, V);
  }
  const unsigned Function =
      Known.kind == FloatOperation::Kind::MultiplyAdd ? unsigned(SF_FN_ADD) : Known.function;
  const unsigned Parts = leavesPerLane(I.getType());
  for (unsigned K = 0; K < Parts; ++K) {
    const Leaf &L = Leaves[Lane * Parts + K];
    Value *Result = leafValue(B, &I, L);
    if (Known.negated)
      Result = B.CreateXor(Result, 1);
    Value *Computed = Row.emit(SF_FLOAT_AUX(Function, From, To, K), L.bits, Result);
    if (Known.negated)
      Computed = binary(B, SF_OP_XOR, 1, Computed, RT.NoLabel, Result, number(1));
    Out.push_back(Computed);
  }
  return Out;
}

// The sign is the highest bit of the last leaf.
LabelList OperationEmitter::signLane(Builder &B, const FloatOperation &Known, unsigned Lane) {
  Value *X = Known.operands[0];
  const unsigned Parts = leavesPerLane(X->getType());
  LabelList Out = passThrough(B, X, Lane * Parts, Parts);
  const unsigned Last = (Lane + 1) * Parts - 1;
  const Leaf L = leavesOf(X->getType(), DL)[Last];
  const uint64_t Sign = signBit(L.bits), Rest = widthMask(L.bits) & ~Sign;
  Value *Bits = leafValue(B, X, L);
  if (Known.kind == FloatOperation::Kind::Negate) {
    Out.back() = binary(B, SF_OP_XOR, L.bits, Out.back(), RT.NoLabel, Bits, number(Sign));
    return Out;
  }
  Value *Magnitude = binary(B, SF_OP_AND, L.bits, Out.back(), RT.NoLabel, Bits, number(Rest));
  if (Known.kind == FloatOperation::Kind::CopySign) {
    Value *Y = Known.operands[1], *Other = leafValue(B, Y, L);
    Value *LS = binary(B, SF_OP_AND, L.bits, Label(B, Y, Last), RT.NoLabel, Other, number(Sign));
    Magnitude = binary(B, SF_OP_OR, L.bits, Magnitude, LS, B.CreateAnd(Bits, Rest),
                       B.CreateAnd(Other, Sign));
  }
  Out.back() = Magnitude;
  return Out;
}

// What frexp and modf leave in memory, which is read back here.
void OperationEmitter::storeFloatPart(Builder &B, const FloatOperation &Known) {
  Value *X = Known.operands[0];
  Type *T = Known.storedType;
  Value *At = B.CreateBitCast(Known.stored, PointerType::get(T, 0));
  Value *Stored = unchecked(B.CreateAlignedLoad(T, At, Align(1)));
  const unsigned From = *floatFormat(X->getType());
  const unsigned To = floatFormat(T).value_or(SF_HALF);
  FloatRow Row(RT, B);
  LeafList Leaves = leavesOf(X->getType(), DL), Results = leavesOf(T, DL);
  for (unsigned K = 0; K < Leaves.size(); ++K)
    Row.add(Label(B, X, K), leafValue(B, X, Leaves[K]), Leaves[K].bits);
  LabelList Labels;
  for (unsigned K = 0; K < Results.size(); ++K)
    Labels.push_back(Row.emit(SF_FLOAT_AUX(Known.storedFunction, From, To, K), Results[K].bits,
                              leafValue(B, Stored, Results[K])));
  storeLabels(B, Known.stored, Stored, Labels);
}

} // namespace symfleet
