// Errors that end the engine, in the words of the executor protocol.
#pragma once

#include <stdexcept>
#include <string>

namespace sf {

enum class FailureReason {
  TargetMissing,
  TargetNotExecutable,
  NotInstrumented,
  AbiMismatch,
  NoMemory,
  NoSpace, ///< said while an input runs, too: the input is not at fault
  TargetDies,
  Internal,
};

const char *toString(FailureReason reason);
/// 64 usage, 65 data, 69 host, 70 internal, 74 input and output.
int exitCodeOf(FailureReason reason);

/// The engine cannot serve this target. `what()` says what happened; `hint`
/// says what to do about it.
class Failure : public std::runtime_error {
public:
  Failure(FailureReason why, const std::string &message, std::string advice)
      : std::runtime_error(message), reason(why), hint(std::move(advice)) {}

  FailureReason reason;
  std::string hint;
};

} // namespace sf
