// Integers of more than 64 bits: operands go to the runtime word by word.
//
// For `%c = add i128 %a, %b` the cold block fills a struct sf_wide on the stack
// with words and labels, calls __sf_wide(ADD | 128 << 8, record, site), and reads
// the labels of the result's words.
#include "Operations.h"

#include "symfleet/abi.h"
#include "symfleet/calls.h"

using namespace llvm;

namespace symfleet {

static constexpr uint64_t LabelsAt = offsetof(sf_wide, labels);
static constexpr uint64_t ResultsAt = offsetof(sf_wide, results);

LabelList OperationEmitter::wide(Builder &B, unsigned Op, ArrayRef<Value *> Operands,
                                 unsigned Results) {
  Type *T = Operands[0]->getType();
  LeafList Words = leavesOf(T, DL);
  bool Any = false;
  SmallVector<LabelList, 3> Labels;
  for (Value *V : Operands) {
    Labels.push_back(passThrough(B, V, 0, unsigned(Words.size())));
    Any |= !all_of(Labels.back(), [&](Value *L) { return isZero(L); });
  }
  if (!Any)
    return LabelList(Results, RT.NoLabel);
  if (!WideRecord)
    WideRecord = new AllocaInst(ArrayType::get(RT.Int64, sizeof(sf_wide) / 8), 0, "sf.wide",
                                &F.getEntryBlock().front());
  Value *Base = B.CreateBitCast(WideRecord, RT.BytePtr);
  auto Field = [&](uint64_t Offset, Type *FieldType) {
    Value *At = B.CreateConstInBoundsGEP1_64(RT.Int8, Base, Offset);
    return B.CreateBitCast(At, PointerType::get(FieldType, 0));
  };
  for (unsigned I = 0; I < Operands.size(); ++I)
    for (unsigned K = 0; K < Words.size(); ++K) {
      uint64_t Slot = I * SF_WIDE_WORDS + K;
      unchecked(B.CreateStore(leafValue(B, Operands[I], Words[K]), Field(8 * Slot, RT.Int64)));
      unchecked(B.CreateStore(Labels[I][K], Field(LabelsAt + 4 * Slot, RT.Int32)));
    }
  RT.call(B, "wide", RT.Void, {packed(Op | T->getIntegerBitWidth() << 8), Base, nextSite()});
  LabelList Out;
  for (unsigned K = 0; K < Results; ++K)
    Out.push_back(unchecked(B.CreateLoad(RT.Int32, Field(ResultsAt + 4 * K, RT.Int32))));
  return Out;
}

static unsigned wideOp(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::umin:
    return SF_WIDE_UMIN;
  case Intrinsic::umax:
    return SF_WIDE_UMAX;
  case Intrinsic::smin:
    return SF_WIDE_SMIN;
  case Intrinsic::smax:
    return SF_WIDE_SMAX;
  case Intrinsic::abs:
    return SF_WIDE_ABS;
  case Intrinsic::fshl:
    return SF_WIDE_FSHL;
  case Intrinsic::fshr:
    return SF_WIDE_FSHR;
  case Intrinsic::bswap:
    return SF_OP_BSWAP;
  case Intrinsic::bitreverse:
    return SF_OP_BITREVERSE;
  case Intrinsic::ctpop:
    return SF_OP_CTPOP;
  case Intrinsic::ctlz:
    return SF_OP_CTLZ;
  case Intrinsic::cttz:
    return SF_OP_CTTZ;
  case Intrinsic::uadd_with_overflow:
    return SF_OP_UADDO;
  case Intrinsic::sadd_with_overflow:
    return SF_OP_SADDO;
  case Intrinsic::usub_with_overflow:
    return SF_OP_USUBO;
  case Intrinsic::ssub_with_overflow:
    return SF_OP_SSUBO;
  case Intrinsic::umul_with_overflow:
    return SF_OP_UMULO;
  case Intrinsic::smul_with_overflow:
    return SF_OP_SMULO;
  default:
    return 0;
  }
}

bool OperationEmitter::wideIntrinsic(Builder &B, IntrinsicInst &I, LabelList &Out) {
  unsigned Op = I.arg_size() ? wideOp(I.getIntrinsicID()) : 0;
  if (!Op || !isWideInteger(I.getArgOperand(0)->getType()))
    return false;
  SmallVector<Value *, 3> Operands;
  for (Value *A : I.args()) // without the flags of abs, ctlz and cttz
    if (A->getType() == I.getArgOperand(0)->getType())
      Operands.push_back(A);
  Out = wide(B, Op, Operands, unsigned(leavesOf(I.getType(), DL).size()));
  return true;
}

// Sign extension to whole words: the sign fills those above.
LabelList OperationEmitter::wideSignExtension(Builder &B, CastInst &I) {
  Terms T(RT, B);
  Value *X = I.getOperand(0);
  LeafList From = leavesOf(X->getType(), DL), To = leavesOf(I.getType(), DL);
  LabelList Out;
  Term Top;
  for (unsigned K = 0; K < To.size(); ++K) {
    if (K < From.size()) {
      Top = T.sext({Label(B, X, K), leafValue(B, X, From[K]), From[K].bits}, 64);
    } else if (K == From.size()) {
      Top = T.binary(SF_OP_ASHR, Top, T.constant(63, 64));
    }
    Out.push_back(T.extract(Top, 0, To[K].bits).label);
  }
  return Out;
}

// The same bits cut at other places.
LabelList OperationEmitter::recut(Builder &B, Value *X, Type *To) {
  Terms T(RT, B);
  SmallVector<Term, 16> From = termsOf(B, X);
  LabelList Out;
  unsigned Piece = 0, Used = 0; // the next bit to be taken
  for (const Leaf &L : leavesOf(To, DL)) {
    Term Whole;
    for (unsigned Have = 0; Have < L.bits;) {
      unsigned Take = std::min(L.bits - Have, From[Piece].bits - Used);
      Term Part = T.extract(From[Piece], Used, Take);
      Whole = Have ? T.concat(Part, Whole) : Part;
      Have += Take;
      Used += Take;
      if (Used == From[Piece].bits) {
        ++Piece;
        Used = 0;
      }
    }
    Out.push_back(Whole.label);
  }
  return Out;
}

} // namespace symfleet
