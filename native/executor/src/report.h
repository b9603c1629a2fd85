// What an execution tells, as data: the wire and the terminal write it out.
#pragma once

#include "campaign_edges.h"
#include "outcome.h"
#include "sha256.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sf {

constexpr unsigned TurnShift = 32;

struct RunRequest {
  uint64_t id = 0;
  std::vector<uint8_t> input;
  /// Number of the first goal to try. With `keep` = novel, TurnShift bits further
  /// up: which turn of the input this is; after the first they are thorough.
  uint64_t bound = 0;
  /// Only goals that read one of these bytes ([first, last]); empty = all.
  std::vector<std::pair<uint64_t, uint64_t>> focus;
  bool solitary = false;
};

struct Child {
  uint64_t id = 0;
  std::vector<uint8_t> input;
  Digest digest{};
  const char *how = "";
  uint64_t site = 0;
  unsigned direction = 0;
  RunResult run;
  Edges edges;
  uint32_t unstable = 0;
};

struct Flips {
  uint64_t sat = 0, unsat = 0, timeout = 0, unknown = 0, skipped = 0;
};

/// Where something that depends on the input was made concrete, and how often.
struct Loss {
  std::string where;
  uint64_t count = 0;
};

/// Goals solved, by step.
struct HowCounts {
  uint64_t inversion = 0, scan = 0, linear = 0, meet = 0, search = 0, smt = 0, widen = 0,
           optimistic = 0, resize = 0;
};

struct Done {
  uint64_t id = 0;
  Digest digest{};
  RunResult run;
  Edges edges;
  uint32_t unstable = 0;
  uint32_t children = 0;  // reported
  uint32_t generated = 0; // distinct candidates that were executed
  uint32_t dropped = 0;   // of those, without new coverage
  Flips flips;
  HowCounts how;
  uint32_t executions = 0;
  uint64_t solverUs = 0, wallUs = 0, cpuUs = 0;
  uint64_t rssKibMax = 0;
  uint64_t rows = 0, events = 0;
  std::vector<std::string> degraded;
  std::optional<uint64_t> truncated; // number of the first goal not tried
  const char *reason = nullptr;      // why there are no children, or not all
  std::vector<std::string> opened;   // with Outcome::Refused
  // For people who look at one execution; not on the wire.
  uint64_t symbolicBytes = 0;
  std::vector<std::string> files; // that were opened beside the input
  std::vector<Loss> losses;
};

class Reporter {
public:
  virtual ~Reporter() = default;
  virtual void child(const Child &child) = 0;
  virtual void progress(uint64_t id, uint64_t counter) = 0;
};

} // namespace sf
