#include "OutsideCalls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace symfleet {

namespace {

// Nothing that depends on the input comes back from these: they end, give back
// memory or locks, set up handlers and streams, or belong to a compiler's runtime.
constexpr StringLiteral Quiet[] = {"_Exit",
                                   "__assert_fail",
                                   "_exit",
                                   "abort",
                                   "err",
                                   "errx",
                                   "exit",
                                   "quick_exit",
                                   "verr",
                                   "verrx",
                                   "_ZSt9terminatev",
                                   "alarm",
                                   "call_once",
                                   "atexit",
                                   "clearerr",
                                   "closedir",
                                   "closelog",
                                   "endgrent",
                                   "endpwent",
                                   "fclose",
                                   "fflush",
                                   "fileno",
                                   "flockfile",
                                   "free",
                                   "freeaddrinfo",
                                   "funlockfile",
                                   "globfree",
                                   "longjmp",
                                   "nanosleep",
                                   "on_exit",
                                   "openlog",
                                   "raise",
                                   "regfree",
                                   "setbuf",
                                   "setbuffer",
                                   "setlinebuf",
                                   "setlocale",
                                   "setvbuf",
                                   "signal",
                                   "sleep",
                                   "usleep",
                                   "va_end",
                                   "sched_yield",
                                   "__stack_chk_fail",
                                   "setjmp",
                                   "_setjmp",
                                   "__sigsetjmp",
                                   "sigaction",
                                   "sigaddset",
                                   "sigaltstack",
                                   "sigdelset",
                                   "sigemptyset",
                                   "sigfillset",
                                   "siglongjmp",
                                   "sigprocmask",
                                   "sigsuspend",
                                   "sigwait"};
constexpr StringLiteral QuietPrefixes[] = {
    "__sf_", "symfleet_", "__asan_", "__ubsan_", "__sanitizer_", "__lsan_", "__cxa_", "__gxx_",
    "_Unwind_", "__clang_", "__llvm_", "pthread_", "sem_", "mtx_", "cnd_", "thrd_",
    // operator new and delete
    "_Znw", "_Zna", "_Zdl", "_Zda",
    // What has to do with the standard library's streams and containers as such,
    // and not with what is in them.
    "_ZNSt8ios_base", "_ZNKSt8ios_base", "_ZNSt6locale", "_ZNKSt6locale", "_ZNSt9basic_ios",
    "_ZNKSt9basic_ios", "_ZNSt13basic_filebuf", "_ZNKSt13basic_filebuf", "_ZNSt12__basic_file",
    "_ZNKSt12__basic_file", "_ZNSt14basic_ifstream", "_ZNSt14basic_ofstream",
    "_ZNSt13basic_fstream", "_ZSt18_Rb_tree", "_ZSt28_Rb_tree", "_ZSt29_Rb_tree",
    "_ZNSt8__detail15_List_node_base", "_ZNKSt8__detail20_Prime_rehash_policy", "__dynamic_cast",
    "_ZNSt28__atomic_futex", "_ZNSt13__future_base", "_ZNSt18condition_variable", "_ZNKSt5ctype",
    "_ZNSt3_V2",
    // Exceptions: what comes back is their text.
    "_ZNSt11logic_error", "_ZNSt13runtime_error", "_ZNSt12future_error", "_ZNSt12system_error",
    "_ZNSt16invalid_argument", "_ZNSt12out_of_range", "_ZNSt12length_error", "_ZNSt12domain_error",
    "_ZNSt11range_error", "_ZNSt14overflow_error", "_ZNSt15underflow_error", "_ZNSt9bad_alloc",
    "_ZNSt15__exception_ptr", "_ZNSt9exception", "_ZNSt6thread"};

// Output: what comes back is whether it worked.
constexpr StringLiteral Output[] = {
    "fputc",           "fputc_unlocked",   "fputs",    "fputs_unlocked",
    "fputwc",          "fputws",           "fwrite",   "perror",
    "fwrite_unlocked", "psignal",          "putc",     "putc_unlocked",
    "putchar",         "putchar_unlocked", "puts",     "putw",
    "putwc",           "putwchar",         "send",     "sendmsg",
    "sendto",          "syslog",           "vsyslog",  "__syslog_chk",
    "__vsyslog_chk",   "__overflow",       "_IO_putc", "writev",
    "pwrite",          "pwrite64"};
// The same, if nobody asks how many characters were written.
constexpr StringLiteral Printing[] = {
    "dprintf",        "fprintf",       "fwprintf",      "printf",       "vdprintf",
    "vfprintf",       "vfwprintf",     "vprintf",       "vwprintf",     "wprintf",
    "warn",           "warnx",         "vwarn",         "vwarnx",       "error",
    "error_at_line",  "__dprintf_chk", "__fprintf_chk", "__printf_chk", "__vdprintf_chk",
    "__vfprintf_chk", "__vprintf_chk"};

bool isOneOf(StringRef Name, ArrayRef<StringLiteral> Names) {
  return any_of(Names, [&](StringRef Each) { return Name == Each; });
}

// std::cout and its siblings, and what an inserter into one of them returned.
bool isStandardStream(const Value *Stream, unsigned Depth) {
  Stream = Stream->stripPointerCasts();
  if (auto *Global = dyn_cast<GlobalVariable>(Stream)) {
    StringRef Name = Global->getName();
    return Name == "_ZSt4cout" || Name == "_ZSt4cerr" || Name == "_ZSt4clog";
  }
  auto *Call = dyn_cast<CallBase>(Stream);
  return Call && Depth && !Call->arg_empty() && isStandardStream(Call->getArgOperand(0), Depth - 1);
}

bool isQuiet(const CallBase &Call, StringRef Name) {
  constexpr unsigned InsertersMax = 64;
  // UBSan hides that a function does not return.
  if (Call.doesNotReturn() || Name.find("__throw_") != StringRef::npos || isOneOf(Name, Quiet) ||
      isOneOf(Name, Output) || (Call.use_empty() && isOneOf(Name, Printing)))
    return true;
  if (any_of(QuietPrefixes, [&](StringRef Each) { return Name.substr(0, Each.size()) == Each; }))
    return true;
  StringRef Member = Name;
  return (Member.consume_front("_ZNSo") || Member.consume_front("_ZStls") ||
          Member.consume_front("_ZSt16__ostream_insert") || Member.consume_front("_ZSt4endl") ||
          Member.consume_front("_ZSt5flush")) &&
         !Call.arg_empty() && isStandardStream(Call.getArgOperand(0), InsertersMax);
}

// Whether a value decides where the program goes, as far as can be seen at once.
bool decides(const Value &V, unsigned Depth) {
  for (const User *U : V.users()) {
    if (isa<CmpInst>(U) || isa<SwitchInst>(U) || isa<BranchInst>(U))
      return true;
    if (!Depth)
      continue;
    // A variable of code that is not optimised: what is loaded from it again.
    if (auto *Store = dyn_cast<StoreInst>(U)) {
      auto *Variable = dyn_cast<AllocaInst>(Store->getPointerOperand());
      if (Variable && Store->getValueOperand() == &V)
        for (const User *Other : Variable->users())
          if (isa<LoadInst>(Other) && decides(*Other, Depth - 1))
            return true;
    } else if ((isa<CastInst>(U) || isa<BinaryOperator>(U) || isa<FreezeInst>(U) ||
                isa<ExtractValueInst>(U)) &&
               decides(*U, Depth - 1)) {
      return true;
    }
  }
  return false;
}

bool isConstantMemory(const Value *Pointer) {
  Pointer = Pointer->stripInBoundsOffsets();
  if (auto *Global = dyn_cast<GlobalVariable>(Pointer))
    return Global->isConstant();
  return isa<Constant>(Pointer); // null, a function
}

ComesBack wayBack(const CallBase &Call) {
  constexpr unsigned StepsMax = 4;
  if (!Call.use_empty())
    return decides(Call, StepsMax) ? ComesBack::Decides : ComesBack::Result;
  for (unsigned I = 0; I < Call.arg_size(); ++I)
    if (Call.getArgOperand(I)->getType()->isPointerTy() &&
        !isConstantMemory(Call.getArgOperand(I)) && !Call.onlyReadsMemory(I))
      return ComesBack::Memory;
  return ComesBack::State;
}

} // namespace

std::optional<OutsideCall> outsideCall(const CallBase &Call, bool HasLabels) {
  auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
  if (!Callee || Callee->isIntrinsic() ||
      !(Callee->isDeclaration() || Callee->hasAvailableExternallyLinkage()) ||
      isQuiet(Call, Callee->getName()))
    return std::nullopt;
  OutsideCall Found{Callee, wayBack(Call), {}};
  for (unsigned I = 0; I < Call.arg_size() && Found.pointers.size() < OutsidePointersMax; ++I) {
    Value *V = Call.getArgOperand(I);
    if (V->getType()->isPointerTy() && !isConstantMemory(V) && !Call.onlyWritesMemory(I) &&
        !Call.paramHasAttr(I, Attribute::StructRet) && !Call.isByValArgument(I))
      Found.pointers.push_back(V);
  }
  if (!HasLabels && Found.pointers.empty())
    return std::nullopt;
  return Found;
}

const char *nameOf(ComesBack Way) {
  switch (Way) {
  case ComesBack::Decides:
    return "decides";
  case ComesBack::Result:
    return "result";
  case ComesBack::Memory:
    return "memory";
  case ComesBack::State:
    return "state";
  }
  return "";
}

} // namespace symfleet
