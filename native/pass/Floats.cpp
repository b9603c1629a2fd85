#include "Floats.h"

#include "Leaves.h"

#include "symfleet/abi.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace symfleet {

namespace {

using FloatKind = FloatOperation::Kind;

struct FloatName {
  const char *name; // of the library function for double, or of the intrinsic
  unsigned function;
  unsigned arity;
};

constexpr FloatName FloatNames[] = {
    {"sqrt", SF_FN_SQRT, 1},
    {"floor", SF_FN_FLOOR, 1},
    {"ceil", SF_FN_CEIL, 1},
    {"trunc", SF_FN_TRUNC, 1},
    {"rint", SF_FN_RINT, 1},
    {"nearbyint", SF_FN_RINT, 1},
    {"roundeven", SF_FN_RINT, 1},
    {"round", SF_FN_ROUND, 1},
    {"sin", SF_FN_SIN, 1},
    {"cos", SF_FN_COS, 1},
    {"tan", SF_FN_TAN, 1},
    {"asin", SF_FN_ASIN, 1},
    {"acos", SF_FN_ACOS, 1},
    {"atan", SF_FN_ATAN, 1},
    {"sinh", SF_FN_SINH, 1},
    {"cosh", SF_FN_COSH, 1},
    {"tanh", SF_FN_TANH, 1},
    {"asinh", SF_FN_ASINH, 1},
    {"acosh", SF_FN_ACOSH, 1},
    {"atanh", SF_FN_ATANH, 1},
    {"exp", SF_FN_EXP, 1},
    {"exp2", SF_FN_EXP2, 1},
    {"exp10", SF_FN_EXP10, 1},
    {"expm1", SF_FN_EXPM1, 1},
    {"log", SF_FN_LOG, 1},
    {"log2", SF_FN_LOG2, 1},
    {"log10", SF_FN_LOG10, 1},
    {"log1p", SF_FN_LOG1P, 1},
    {"logb", SF_FN_LOGB, 1},
    {"cbrt", SF_FN_CBRT, 1},
    {"erf", SF_FN_ERF, 1},
    {"erfc", SF_FN_ERFC, 1},
    {"tgamma", SF_FN_TGAMMA, 1},
    {"lgamma", SF_FN_LGAMMA, 1},
    {"lrint", SF_FN_LRINT, 1},
    {"llrint", SF_FN_LRINT, 1},
    {"lround", SF_FN_LROUND, 1},
    {"llround", SF_FN_LROUND, 1},
    {"fmod", SF_FN_REM, 2},
    {"frem", SF_FN_REM, 2}, // of a constrained intrinsic, as are the next ones
    {"fadd", SF_FN_ADD, 2},
    {"fsub", SF_FN_SUB, 2},
    {"fmul", SF_FN_MUL, 2},
    {"fdiv", SF_FN_DIV, 2},
    {"sitofp", SF_FN_FROM_SINT, 1},
    {"uitofp", SF_FN_FROM_UINT, 1},
    {"fptosi", SF_FN_TO_SINT, 1},
    {"fptoui", SF_FN_TO_UINT, 1},
    {"fptrunc", SF_FN_CONVERT, 1},
    {"fpext", SF_FN_CONVERT, 1},
    {"fmin", SF_FN_MIN, 2},
    {"minnum", SF_FN_MIN, 2},
    {"fmax", SF_FN_MAX, 2},
    {"maxnum", SF_FN_MAX, 2},
    {"minimum", SF_FN_MINIMUM, 2},
    {"maximum", SF_FN_MAXIMUM, 2},
    {"pow", SF_FN_POW, 2},
    {"atan2", SF_FN_ATAN2, 2},
    {"hypot", SF_FN_HYPOT, 2},
    {"fdim", SF_FN_FDIM, 2},
    {"nextafter", SF_FN_NEXTAFTER, 2},
    {"remainder", SF_FN_REMAINDER, 2},
    {"ldexp", SF_FN_LDEXP, 2},
    {"scalbn", SF_FN_LDEXP, 2},
    {"fma", SF_FN_FMA, 3},
};

// Names that belong to one of the two only.
bool isLibraryName(StringRef Name) {
  return !StringSwitch<bool>(Name)
              .Cases("minnum", "maxnum", "minimum", "maximum", "frem", true)
              .Cases("fadd", "fsub", "fmul", "fdiv", true)
              .Cases("sitofp", "uitofp", "fptosi", "fptoui", "fptrunc", "fpext", true)
              .Default(false);
}

const FloatName *findFloatName(StringRef Name) {
  static const StringMap<const FloatName *> Index = [] {
    StringMap<const FloatName *> All;
    for (const FloatName &Each : FloatNames)
      All[Each.name] = &Each;
    return All;
  }();
  auto It = Index.find(Name);
  return It == Index.end() ? nullptr : It->second;
}

// Whether the back end fuses llvm.fmuladd for this function.
bool fusesMultiplyAdd(const Function &F, Type *T) {
  StringRef Features = F.getFnAttribute("target-features").getValueAsString();
  bool Has = Features.contains("+fma,") || Features.contains("+fma4") ||
             Features.substr(Features.rfind(',') + 1) == "+fma";
  return Has && (T->getScalarType()->isFloatTy() || T->getScalarType()->isDoubleTy());
}

void describeComparison(FCmpInst::Predicate P, Value *X, Value *Y, FloatOperation &Out) {
  auto Set = [&](unsigned Function, bool Swap, bool Negated) {
    Out.function = Function;
    Out.operands = {Swap ? Y : X, Swap ? X : Y};
    Out.negated = Negated;
  };
  switch (P) {
  case FCmpInst::FCMP_OEQ:
    return Set(SF_FN_EQ, false, false);
  case FCmpInst::FCMP_UNE:
    return Set(SF_FN_EQ, false, true);
  case FCmpInst::FCMP_ONE:
    return Set(SF_FN_NE, false, false);
  case FCmpInst::FCMP_UEQ:
    return Set(SF_FN_NE, false, true);
  case FCmpInst::FCMP_OLT:
    return Set(SF_FN_LT, false, false);
  case FCmpInst::FCMP_UGE:
    return Set(SF_FN_LT, false, true);
  case FCmpInst::FCMP_OGT:
    return Set(SF_FN_LT, true, false);
  case FCmpInst::FCMP_ULE:
    return Set(SF_FN_LT, true, true);
  case FCmpInst::FCMP_OLE:
    return Set(SF_FN_LE, false, false);
  case FCmpInst::FCMP_UGT:
    return Set(SF_FN_LE, false, true);
  case FCmpInst::FCMP_OGE:
    return Set(SF_FN_LE, true, false);
  case FCmpInst::FCMP_ULT:
    return Set(SF_FN_LE, true, true);
  case FCmpInst::FCMP_UNO:
    return Set(SF_FN_UNO, false, false);
  case FCmpInst::FCMP_ORD:
    return Set(SF_FN_UNO, false, true);
  default:
    return; // always or never
  }
}

// A function of the first arguments of a call.
bool describeCall(const CallBase &Call, unsigned Function, unsigned Arity, FloatOperation &Out) {
  if (Call.arg_size() < Arity)
    return false;
  Out.function = Function;
  for (unsigned I = 0; I < Arity; ++I)
    Out.operands.push_back(Call.getArgOperand(I));
  return true;
}

bool describeSign(const CallBase &Call, StringRef Name, FloatOperation &Out) {
  if (Name == "fabs") {
    Out.kind = FloatKind::Absolute;
    return describeCall(Call, 0, 1, Out);
  }
  if (Name != "copysign")
    return false;
  Out.kind = FloatKind::CopySign;
  return describeCall(Call, 0, 2, Out);
}

bool describeIntrinsic(const IntrinsicInst &I, FloatOperation &Out) {
  StringRef Name = I.getCalledFunction()->getName().drop_front(5); // llvm.
  if (auto *Compare = dyn_cast<ConstrainedFPCmpIntrinsic>(&I)) {
    describeComparison(Compare->getPredicate(), I.getArgOperand(0), I.getArgOperand(1), Out);
    return Out.function != 0;
  }
  bool Constrained = Name.consume_front("experimental.constrained.");
  if (!Constrained && Name.consume_front("is.fpclass"))
    return describeCall(I, SF_FN_CLASS, 2, Out);
  bool Saturates = Name.substr(0, 6) == "fptosi" || Name.substr(0, 6) == "fptoui";
  if (Saturates && !Constrained)
    return describeCall(I, Name[4] == 's' ? SF_FN_TO_SINT_SAT : SF_FN_TO_UINT_SAT, 1, Out);
  Name = Name.split('.').first;
  if (describeSign(I, Name, Out))
    return true;
  if (Name == "fmuladd") {
    if (!fusesMultiplyAdd(*I.getFunction(), I.getType()))
      Out.kind = FloatKind::MultiplyAdd;
    return describeCall(I, SF_FN_FMA, 3, Out);
  }
  const FloatName *Known = findFloatName(Name);
  return Known && describeCall(I, Known->function, Known->arity, Out);
}

// Functions that store a part of their result.
bool describeStoring(const CallInst &Call, StringRef Name, FloatOperation &Out) {
  Type *Number = Call.getArgOperand(0)->getType();
  if (Name == "frexp") {
    Out.storedFunction = SF_FN_EXPONENT;
    Out.storedType = Type::getInt32Ty(Call.getContext());
  } else if (Name == "modf") {
    Out.storedFunction = SF_FN_TRUNC;
    Out.storedType = Number;
  } else {
    return false;
  }
  if (Call.arg_size() != 2 || !Call.getArgOperand(1)->getType()->isPointerTy())
    return false;
  Out.stored = Call.getArgOperand(1);
  return describeCall(Call, Name == "frexp" ? unsigned(SF_FN_FREXP) : unsigned(SF_FN_FRACTION), 1,
                      Out);
}

// A function of the library by its name: with f for float and l for long double.
bool describeLibraryCall(const CallInst &Call, FloatOperation &Out) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Callee->isIntrinsic() || Callee->isVarArg() ||
      Call.arg_empty() || Call.isNoBuiltin() || Call.isMustTailCall() ||
      Call.getFunction()->hasFnAttribute("no-builtins"))
    return false;
  Type *First = Call.getArgOperand(0)->getType();
  StringRef Name = Callee->getName();
  if (First->isFloatTy()      ? !Name.consume_back("f")
      : First->isX86_FP80Ty() ? !Name.consume_back("l")
                              : !First->isDoubleTy())
    return false;
  if (describeStoring(Call, Name, Out))
    return Call.getType() == First;
  if (describeSign(Call, Name, Out))
    return Call.getType() == First && Call.arg_size() == Out.operands.size();
  const FloatName *Known = findFloatName(Name);
  if (!Known || !isLibraryName(Name) || Call.arg_size() != Known->arity ||
      !describeCall(Call, Known->function, Known->arity, Out))
    return false;
  bool GivesInteger = Known->function == SF_FN_LRINT || Known->function == SF_FN_LROUND;
  if (GivesInteger ? !Call.getType()->isIntegerTy(64) : Call.getType() != First)
    return false;
  for (unsigned I = 1; I < Known->arity; ++I)
    if (Known->function == SF_FN_LDEXP ? !Call.getArgOperand(I)->getType()->isIntegerTy(32)
                                       : Call.getArgOperand(I)->getType() != First)
      return false;
  return true;
}

bool describeCast(const CastInst &I, FloatOperation &Out) {
  Out.operands = {I.getOperand(0)};
  switch (I.getOpcode()) {
  case Instruction::SIToFP:
    Out.function = SF_FN_FROM_SINT;
    return true;
  case Instruction::UIToFP:
    Out.function = SF_FN_FROM_UINT;
    return true;
  case Instruction::FPToSI:
    Out.function = SF_FN_TO_SINT;
    return true;
  case Instruction::FPToUI:
    Out.function = SF_FN_TO_UINT;
    return true;
  case Instruction::FPTrunc:
  case Instruction::FPExt:
    Out.function = SF_FN_CONVERT;
    return true;
  default:
    return false;
  }
}

bool describeFloat(const Instruction &I, FloatOperation &Out) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
    Out.function = SF_FN_ADD;
    break;
  case Instruction::FSub:
    Out.function = SF_FN_SUB;
    break;
  case Instruction::FMul:
    Out.function = SF_FN_MUL;
    break;
  case Instruction::FDiv:
    Out.function = SF_FN_DIV;
    break;
  case Instruction::FRem:
    Out.function = SF_FN_REM;
    break;
  case Instruction::FNeg:
    Out.kind = FloatKind::Negate;
    Out.operands = {I.getOperand(0)};
    return true;
  case Instruction::FCmp:
    describeComparison(llvm::cast<FCmpInst>(I).getPredicate(), I.getOperand(0), I.getOperand(1),
                       Out);
    return Out.function != 0;
  case Instruction::Call:
    if (auto *Known = dyn_cast<IntrinsicInst>(&I))
      return describeIntrinsic(*Known, Out);
    return describeLibraryCall(llvm::cast<CallInst>(I), Out);
  default:
    if (auto *C = dyn_cast<CastInst>(&I))
      return describeCast(*C, Out);
    return false;
  }
  Out.operands = {I.getOperand(0), I.getOperand(1)};
  return true;
}

// A number with rows, or an integer of at most 64 bits; of vectors, each lane.
bool hasRows(Type *T, const DataLayout &DL) {
  if (leavesOf(T, DL).empty())
    return false;
  Type *Scalar = T->getScalarType();
  if (Scalar->isIntegerTy())
    return Scalar->getIntegerBitWidth() <= 64;
  return floatFormat(T) && !(T->isVectorTy() && Scalar->isX86_FP80Ty());
}

} // namespace

std::optional<unsigned> floatFormat(Type *T) {
  T = T->getScalarType();
  if (T->isHalfTy())
    return SF_HALF;
  if (T->isFloatTy())
    return SF_SINGLE;
  if (T->isDoubleTy())
    return SF_DOUBLE;
  if (T->isX86_FP80Ty())
    return SF_X87;
  return std::nullopt;
}

std::optional<FloatOperation> floatOperationOf(const Instruction &I, const DataLayout &DL) {
  FloatOperation Out;
  if (!describeFloat(I, Out) || !hasRows(I.getType(), DL))
    return std::nullopt;
  for (Value *V : Out.operands)
    if (!hasRows(V->getType(), DL))
      return std::nullopt;
  bool OfLongDouble = Out.operands[0]->getType()->isX86_FP80Ty();
  if (OfLongDouble && Out.function == SF_FN_FMA && Out.kind == FloatKind::Function)
    return std::nullopt; // would need six operands
  return Out;
}

bool isMathCall(const Instruction &I, const DataLayout &DL) {
  return isa<CallInst>(I) && !isa<IntrinsicInst>(I) && floatOperationOf(I, DL).has_value();
}

} // namespace symfleet
