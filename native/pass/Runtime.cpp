#include "Runtime.h"

#include "symfleet/calls.h"
#include "symfleet/notes.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cstdlib>
#include <map>
#include <tuple>

using namespace llvm;

namespace symfleet {

void StableHash::add(StringRef Text) {
  for (char Ch : Text)
    State = (State ^ static_cast<uint8_t>(Ch)) * 0x100000001b3ull;
  add(Text.size());
}

void StableHash::add(uint64_t Number) {
  for (int I = 0; I < 8; ++I, Number >>= 8)
    State = (State ^ (Number & 0xff)) * 0x100000001b3ull;
}

uint64_t StableHash::finish() const {
  uint64_t X = State;
  X = (X ^ X >> 33) * 0xff51afd7ed558ccdull;
  X = (X ^ X >> 33) * 0xc4ceb9fe1a85ec53ull;
  return X ^ X >> 33;
}

// The name of the source relative to the project's root, which is the folder
// of the compilation unless SYMFLEET_ROOT says otherwise.
static std::string relativeSource(StringRef Source) {
  SmallString<256> Root;
  if (const char *Given = std::getenv("SYMFLEET_ROOT"))
    Root = Given;
  else if (sys::fs::current_path(Root))
    return Source.str();
  SmallString<256> Full(Source);
  sys::fs::make_absolute(Full);
  sys::path::remove_dots(Full, true);
  StringRef Rest = Full;
  if (Rest.consume_front(Root) && Rest.consume_front("/"))
    return Rest.str();
  return Source.str();
}

Runtime::Runtime(Module &M)
    : M(M), C(M.getContext()), Int8(Type::getInt8Ty(C)), Int32(Type::getInt32Ty(C)),
      Int64(Type::getInt64Ty(C)), Void(Type::getVoidTy(C)), BytePtr(PointerType::get(Int8, 0)),
      NoLabel(ConstantInt::get(Int32, 0)), SourceName(relativeSource(M.getSourceFileName())) {
  Tls = new GlobalVariable(M, ArrayType::get(Int8, sizeof(sf_tls)), false,
                           GlobalValue::ExternalLinkage, nullptr, "__sf_tls", nullptr,
                           GlobalValue::InitialExecTLSModel);
  Tls->setAlignment(Align(8));
  EdgeBase = new GlobalVariable(M, BytePtr, false, GlobalValue::InternalLinkage,
                                ConstantPointerNull::get(BytePtr), "__sf_edge_base");
  // Stands for the bytes until their number is known.
  Watch = new GlobalVariable(M, Int8, false, GlobalValue::InternalLinkage,
                             ConstantInt::get(Int8, 0), "__sf_watch_first");
}

CallInst *Runtime::call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
  SmallVector<Type *, 8> Types;
  for (Value *A : Arguments)
    Types.push_back(A->getType());
  auto *FT = FunctionType::get(Result, Types, false);
  FunctionCallee Callee = M.getOrInsertFunction(("__sf_" + Name).str(), FT);
  if (auto *F = dyn_cast<Function>(Callee.getCallee())) {
    F->addFnAttr(Attribute::NoUnwind);
    F->addFnAttr(Attribute::Cold);
  }
  CallInst *Call = B.CreateCall(Callee, Arguments);
  Call->setDoesNotThrow();
  return unchecked(Call);
}

Constant *Runtime::tlsField(uint64_t Offset, Type *FieldType) {
  Constant *Base = ConstantExpr::getBitCast(Tls, BytePtr);
  Constant *At =
      ConstantExpr::getInBoundsGetElementPtr(Int8, Base, ConstantInt::get(Int64, Offset));
  return ConstantExpr::getBitCast(At, PointerType::get(FieldType, 0));
}

static Constant *textOf(Runtime &RT, StringRef Text) {
  Constant *Bytes = ConstantDataArray::getString(RT.C, Text);
  auto *Place = new GlobalVariable(RT.M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes,
                                   "__sf_lost");
  return ConstantExpr::getBitCast(Place, RT.BytePtr);
}

void Runtime::tellPlace(const Instruction &I, const LostOperation &Place) {
  std::string Text =
      Place.what + " " + Place.file + ":" + std::to_string(Place.line) + " " + Place.function;
  LostPlaces[&I] = textOf(*this, Text);
}

void Runtime::noteLost(const Instruction &I, LostOperation Operation) {
  tellPlace(I, Operation);
  Lost.push_back(std::move(Operation));
}

void Runtime::noteOutside(const CallBase &Call, const OutsideCall &Known, LostOperation Place) {
  LostOperation Told = Place;
  Told.what = SF_LOSS_CALL + Told.what;
  tellPlace(Call, Told);
  Outside.push_back({std::move(Place), Known.way});
  auto [At, IsNew] = Watched.insert({Known.callee, nullptr});
  if (IsNew)
    At->second =
        ConstantExpr::getGetElementPtr(Int8, Watch, ConstantInt::get(Int64, Watched.size() - 1));
  OutsideCalls[&Call] = At->second;
}

Constant *Runtime::lostPlace(const Instruction &I) {
  Constant *&Place = LostPlaces[&I];
  return Place ? Place : Place = textOf(*this, "");
}

void Runtime::finish() {
  emitRegistration();
  emitNotes();
}

void Runtime::emitRegistration() {
  // Counters count into a private area until the program runs under an executor.
  auto *AreaType = ArrayType::get(Int8, Edges ? Edges : 1);
  auto *Area = new GlobalVariable(M, AreaType, false, GlobalValue::InternalLinkage,
                                  ConstantAggregateZero::get(AreaType), "__sf_edges");
  EdgeBase->setInitializer(ConstantExpr::getBitCast(Area, BytePtr));

  auto *BytesType = ArrayType::get(Int8, Watched.empty() ? 1 : Watched.size());
  auto *Bytes = new GlobalVariable(M, BytesType, false, GlobalValue::InternalLinkage,
                                   ConstantAggregateZero::get(BytesType), "__sf_watch");
  Watch->replaceAllUsesWith(ConstantExpr::getBitCast(Bytes, BytePtr));
  Watch->eraseFromParent();

  Constant *Fields[] = {
      ConstantInt::get(Int32, SF_MODULE_VERSION), ConstantInt::get(Int32, Edges),
      ConstantInt::get(Int64, Hash.finish()),     ConstantExpr::getBitCast(EdgeBase, BytePtr),
      ConstantExpr::getBitCast(Bytes, BytePtr),   ConstantInt::get(Int64, Watched.size())};
  auto *RecordType = StructType::get(C, {Int32, Int32, Int64, BytePtr, BytePtr, Int64});
  auto *Record = new GlobalVariable(M, RecordType, true, GlobalValue::InternalLinkage,
                                    ConstantStruct::get(RecordType, Fields), "__sf_module");

  auto *Init = Function::Create(FunctionType::get(Void, false), GlobalValue::InternalLinkage,
                                "__sf_init_module", &M);
  IRBuilder<> B(BasicBlock::Create(C, "entry", Init));
  call(B, "register", Void, {B.CreateBitCast(Record, BytePtr)});
  B.CreateRetVoid();
  appendToGlobalCtors(M, Init, 0);
}

static std::string noteLine(std::initializer_list<StringRef> Fields) {
  std::string Line;
  for (StringRef Field : Fields) {
    Line += Line.empty() ? "" : "\t";
    for (char Ch : Field)
      Line += Ch == '\t' || Ch == '\n' || Ch == '\0' ? '?' : Ch;
  }
  return Line + "\n";
}

void Runtime::emitNotes() {
  std::string Text = noteLine({SF_NOTES_MODULE, SourceName, std::to_string(LLVM_VERSION_MAJOR),
                               std::to_string(Edges), std::to_string(Lost.size())});
  std::map<std::tuple<std::string, std::string, unsigned, std::string>, unsigned> Places;
  for (const LostOperation &L : Lost)
    ++Places[{L.what, L.file, L.line, L.function}];
  for (const auto &[Place, Count] : Places) {
    const auto &[What, File, Line, Function] = Place;
    Text += noteLine(
        {SF_NOTES_LOST, std::to_string(Count), What, File, std::to_string(Line), Function});
  }
  std::map<std::tuple<std::string, std::string, std::string, unsigned, std::string>, unsigned>
      Calls;
  for (const OutsideNote &O : Outside)
    ++Calls[{nameOf(O.way), O.place.what, O.place.file, O.place.line, O.place.function}];
  for (const auto &[Place, Count] : Calls) {
    const auto &[Way, Callee, File, Line, Function] = Place;
    Text += noteLine(
        {SF_NOTES_CALL, std::to_string(Count), Way, Callee, File, std::to_string(Line), Function});
  }
  Constant *Bytes = ConstantDataArray::getString(C, Text, false);
  auto *Note = new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes,
                                  "__sf_notes");
  Note->setSection(SF_NOTES_SECTION);
  Note->setAlignment(Align(1));
  appendToUsed(M, {Note});
}

} // namespace symfleet
