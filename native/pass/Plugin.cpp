// The pass and its registration: last in the optimiser, at every level.
#include "Coverage.h"
#include "IfConversion.h"
#include "Instrumenter.h"
#include "Runtime.h"

#include "symfleet/calls.h"

#if __has_include("llvm/IR/AttributeMask.h")
#include "llvm/IR/AttributeMask.h"
#endif
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/Local.h"

#include <set>

using namespace llvm;

namespace symfleet {

namespace {

struct Model {
  const char *name, *signature;
};

#define SF_MODEL(name, signature) {#name, signature},
constexpr Model Models[] = {
#include "symfleet/models.def"
};
constexpr Model CxxModels[] = {
#include "symfleet/cxx_models.def"
};
#undef SF_MODEL

char kindOf(Type *T) {
  if (T->isVoidTy())
    return 'v';
  if (T->isPointerTy())
    return 'p';
  if (T->isIntegerTy(64))
    return 'l';
  if (T->isIntegerTy(32))
    return 'i';
  if (T->isFloatTy())
    return 'f';
  if (T->isDoubleTy())
    return 'd';
  if (T->isX86_FP80Ty())
    return 'e';
  if (auto *S = dyn_cast<StructType>(T))
    return S->getNumElements() == 2 && S->getElementType(0)->isIntegerTy(64) &&
                   S->getElementType(1)->isIntegerTy(64)
               ? 't'
               : '?';
  return T->isIntegerTy(16) ? 's' : T->isIntegerTy(8) ? 'c' : '?';
}

std::string signatureOf(const FunctionType *T) {
  std::string S(1, kindOf(T->getReturnType()));
  for (Type *P : T->params())
    S += kindOf(P);
  return T->isVarArg() ? S + '.' : S;
}

// Names the model instead of the function, wherever this module mentions it.
void useModels(Module &M) {
  for (const Model &Each : Models) {
    Function *F = M.getFunction(Each.name);
    if (!F || !F->isDeclaration() || signatureOf(F->getFunctionType()) != Each.signature)
      continue;
    FunctionCallee Replacement =
        M.getOrInsertFunction((Twine("__sf_model_") + Each.name).str(), F->getFunctionType());
    F->replaceAllUsesWith(Replacement.getCallee());
  }
}

// The same for members of the C++ library, whose bodies may be here too: before
// anything is inlined. The library has those that the models call.
void useCxxModels(Module &M) {
  for (const Model &Each : CxxModels) {
    Function *F = M.getFunction(Each.name);
    if (!F || F->use_empty() || signatureOf(F->getFunctionType()) != Each.signature)
      continue;
    FunctionCallee Replacement =
        M.getOrInsertFunction((Twine("__sf_model_") + Each.name).str(), F->getFunctionType());
    F->replaceAllUsesWith(Replacement.getCallee());
    if (F->isDeclaration())
      continue;
    F->deleteBody();
    F->setComdat(nullptr);
  }
}

// clang forgets that they do with -fno-builtin. Then a value that waits in the frame
// may be gone when they return again, and ours are many.
void markThoseThatReturnTwice(Module &M) {
  for (const char *Name :
       {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "savectx", "vfork", "getcontext"})
    if (Function *F = M.getFunction(Name); F && F->isDeclaration())
      F->addFnAttr(Attribute::ReturnsTwice);
}

// What a function may do to memory is no longer what it said: it passes labels.
template <typename AttributesOf> void forgetMemoryEffects(AttributesOf &A) {
  AttributeMask Mask;
#if LLVM_VERSION_MAJOR >= 16
  Mask.addAttribute(Attribute::Memory);
#else
  for (auto Kind :
       {Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly, Attribute::ArgMemOnly,
        Attribute::InaccessibleMemOnly, Attribute::InaccessibleMemOrArgMemOnly})
    Mask.addAttribute(Kind);
#endif
  A.removeFnAttrs(Mask);
}

void forgetMemoryEffects(Module &M) {
  for (Function &F : M) {
    if (!F.isIntrinsic())
      forgetMemoryEffects<Function>(F);
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(I))
        forgetMemoryEffects<CallBase>(*Call);
  }
}

bool hasUnsupportedControlFlow(const Function &F) {
  for (const BasicBlock &BB : F)
    if (BB.isEHPad() && !BB.isLandingPad())
      return true; // Windows exceptions
  return false;
}

bool shouldInstrument(const Function &F, const std::set<const Value *> &Resolvers) {
  if (F.isDeclaration() || F.hasAvailableExternallyLinkage())
    return false;
  if (F.hasFnAttribute(Attribute::Naked) || F.isPresplitCoroutine())
    return false;
  if (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return false;
  // Resolvers run before the shadow exists.
  return !Resolvers.count(&F) && !hasUnsupportedControlFlow(F);
}

bool hasVectors(Function &F) {
  for (Instruction &I : instructions(F))
    if (I.getType()->isVectorTy())
      return true;
  return false;
}

void hashFunction(StableHash &H, const Function &F) {
  H.add(F.getName());
  for (const Instruction &I : instructions(F)) {
    if (I.isDebugOrPseudoInst())
      continue;
    H.add(uint64_t(I.getOpcode()) << 32 | I.getNumOperands());
    for (const Use &V : I.operands()) {
      if (auto *C = dyn_cast<ConstantInt>(V.get()))
        H.add(C->getValue().getRawData()[0]);
      else if (auto *G = dyn_cast<GlobalValue>(V.get()))
        H.add(G->getName());
    }
  }
}

// Says to who calls it from elsewhere that labels are not lost in there.
void markFunction(Function &F) {
  if (F.hasLocalLinkage() || F.hasPrefixData())
    return;
  static_assert(sizeof(SF_FUNCTION_MARK) == SF_FUNCTION_MARK_BYTES);
  F.setPrefixData(ConstantDataArray::getString(F.getContext(), SF_FUNCTION_MARK));
}

// Allocas behind our branches would become dynamic.
void gatherAllocas(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  SmallVector<AllocaInst *, 16> Static;
  for (Instruction &I : Entry)
    if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isStaticAlloca())
      Static.push_back(A);
  Instruction *Front = nullptr;
  for (AllocaInst *A : Static) {
    if (Front)
      A->moveAfter(Front);
    else if (A != &Entry.front())
      A->moveBefore(&Entry.front());
    Front = A;
  }
}

// The register allocator of -O0 gives each value that lives across a block or a
// call a place of its own in the frame. Ours are thousands in a long function,
// and where it calls itself the stack ends: let the allocator of higher levels
// share places. Frames are as large as clang's then.
void shareSpillSlots() {
  auto &Options = cl::getRegisteredOptions();
  auto Found = Options.find("optimize-regalloc");
  if (Found != Options.end() && !Found->second->getNumOccurrences()) // who named it knows why
    Found->second->addOccurrence(0, "optimize-regalloc", "true");
}

class Pass : public PassInfoMixin<Pass> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    if (M.getFunction("__sf_init_module"))
      return PreservedAnalyses::all();
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    std::set<const Value *> Resolvers;
    for (const GlobalIFunc &G : M.ifuncs())
      Resolvers.insert(G.getResolverFunction());
    useModels(M);
    forgetMemoryEffects(M);
    Runtime RT(M);
    SmallVector<Function *, 32> Functions;
    for (Function &F : M)
      if (shouldInstrument(F, Resolvers))
        Functions.push_back(&F);
    for (Function *F : Functions)
      instrument(*F, RT, FAM);
    startInMain(M, RT);
    RT.finish();
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }

private:
  void instrument(Function &F, Runtime &RT, FunctionAnalysisManager &FAM) {
    hashFunction(RT.Hash, F);
    removeUnreachableBlocks(F);
    convertIfs(F);
    if (hasVectors(F)) {
      FAM.invalidate(F, PreservedAnalyses::none());
      ScalarizerPass().run(F, FAM);
    }
    gatherAllocas(F);
    splitCriticalEdges(F);
    SmallVector<BasicBlock *, 16> Counted = blocksToCount(F);
    SmallVector<SelectInst *, 16> Selects = selectsToCount(F);
    Instrumenter Labels(RT, F);
    Labels.collect();
    for (BasicBlock *BB : Counted)
      countBlock(RT, *BB);
    for (SelectInst *S : Selects)
      countSelect(RT, *S);
    Labels.run();
    markFunction(F);
    F.removeFnAttr(Attribute::OptimizeNone); // of what runs after us, only spill slots are improved
    if (verifyFunction(F, &errs()))
      report_fatal_error(Twine("symfleet: the instrumented function is not valid: ") + F.getName());
  }

  void startInMain(Module &M, Runtime &RT) {
    Function *Main = M.getFunction("main");
    if (!Main || Main->isDeclaration())
      return;
    BasicBlock::iterator At = Main->getEntryBlock().getFirstInsertionPt();
    while (isa<AllocaInst>(*At))
      ++At;
    IRBuilder<> B(&*At);
    if (DISubprogram *Scope = Main->getSubprogram())
      B.SetCurrentDebugLocation(DILocation::get(RT.C, Scope->getLine(), 0, Scope));
    RT.call(B, "start", RT.Void, {});
    new GlobalVariable(M, RT.Int8, true, GlobalValue::ExternalLinkage, ConstantInt::get(RT.Int8, 1),
                       "__sf_main_is_instrumented");
  }
};

// Members of std::string and the like that clang knows, but expects in
// libstdc++: their bodies stay here, so that they are instrumented. Only C++
// library names: a copy of a C function would take the library's place.
void keepLibraryBodies(Module &M) {
  for (Function &F : M) {
    StringRef Name = F.getName();
    if (F.hasAvailableExternallyLinkage() && !F.isDeclaration() &&
        (Name.consume_front("_ZNS") || Name.consume_front("_ZNKS")))
      F.setLinkage(GlobalValue::LinkOnceODRLinkage);
  }
}

// What has to be known before anything is optimised.
class Preparation : public PassInfoMixin<Preparation> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    useCxxModels(M);
    markThoseThatReturnTwice(M);
    keepLibraryBodies(M);
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }
};

} // namespace

} // namespace symfleet

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "symfleet", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback([](ModulePassManager &MPM, OptimizationLevel) {
              MPM.addPass(symfleet::Preparation());
            });
            PB.registerOptimizerLastEPCallback([](ModulePassManager &MPM, OptimizationLevel Level) {
              if (Level == OptimizationLevel::O0)
                symfleet::shareSpillSlots();
              MPM.addPass(symfleet::Pass());
            });
          }};
}
