// How one run of the target ended.
#pragma once

#include <cstdint>

namespace sf {

enum class Outcome {
  Ok,      ///< it exited, with whatever code, or asked itself to end by a signal
  Crash,   ///< it died by a signal that is a fault
  Hang,    ///< wall limit, and it was computing (or alone on the machine)
  Cpu,     ///< CPU limit
  Oom,     ///< memory limit, or the kernel's memory killer
  Flood,   ///< it wrote a larger file than it may
  Error,   ///< it could not be run
  Refused, ///< it read no symbolic byte
  Stalled, ///< wall limit without evidence of computing: no verdict
  Killed,  ///< a signal that nobody explains: no verdict
};

const char *toString(Outcome outcome);

/// Tell whether the run ended at a point that depends on the machine: what it
/// did until then is no function of the input.
constexpr bool cutShort(Outcome outcome) {
  return outcome == Outcome::Hang || outcome == Outcome::Cpu || outcome == Outcome::Oom ||
         outcome == Outcome::Stalled || outcome == Outcome::Killed;
}

/// Tell whether the outcome is something that people want to see the input of.
constexpr bool isFinding(Outcome outcome) {
  return outcome == Outcome::Crash || outcome == Outcome::Hang || outcome == Outcome::Cpu ||
         outcome == Outcome::Oom || outcome == Outcome::Flood;
}

/// What was seen of one run.
struct RunResult {
  Outcome outcome = Outcome::Error;
  int exitCode = 0; ///< when it exited
  int signal = 0;   ///< when a signal ended it
  uint64_t wallUs = 0;
  uint64_t cpuUs = 0;
  uint64_t rssKibMax = 0;
};

} // namespace sf
