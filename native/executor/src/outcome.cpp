#include "outcome.h"
#include "failure.h"

namespace sf {

const char *toString(Outcome outcome) {
  switch (outcome) {
  case Outcome::Ok:
    return "ok";
  case Outcome::Crash:
    return "crash";
  case Outcome::Hang:
    return "hang";
  case Outcome::Cpu:
    return "cpu";
  case Outcome::Oom:
    return "oom";
  case Outcome::Flood:
    return "flood";
  case Outcome::Error:
    return "error";
  case Outcome::Refused:
    return "refused";
  case Outcome::Stalled:
    return "stalled";
  case Outcome::Killed:
    return "killed";
  }
  __builtin_unreachable();
}

const char *toString(FailureReason reason) {
  switch (reason) {
  case FailureReason::TargetMissing:
    return "target_missing";
  case FailureReason::TargetNotExecutable:
    return "target_not_executable";
  case FailureReason::NotInstrumented:
    return "not_instrumented";
  case FailureReason::AbiMismatch:
    return "abi_mismatch";
  case FailureReason::NoMemory:
    return "no_memory";
  case FailureReason::NoSpace:
    return "no_space";
  case FailureReason::TargetDies:
    return "target_dies";
  case FailureReason::Internal:
    return "internal";
  }
  __builtin_unreachable();
}

int exitCodeOf(FailureReason reason) {
  switch (reason) {
  case FailureReason::TargetMissing:
  case FailureReason::TargetNotExecutable:
    return 64;
  case FailureReason::NotInstrumented:
  case FailureReason::AbiMismatch:
  case FailureReason::TargetDies:
    return 65;
  case FailureReason::NoMemory:
    return 69;
  case FailureReason::Internal:
    return 70;
  case FailureReason::NoSpace:
    return 74;
  }
  __builtin_unreachable();
}

} // namespace sf
