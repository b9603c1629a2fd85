// What one execution and its search may use.
#pragma once

#include <cstdint>

namespace sf {

/// Every field is an upper bound. Those that are counted end a search at the
/// same place each time; those of wall time do not, and whoever meets one says
/// so (`time` in `degraded`).
struct Limits {
  uint64_t wallMs = 1000;          // one run of the target
  uint64_t cpuMs = 1000;           // one run of the target
  uint64_t rssMib = 2048;          // one run of the target, with its descendants
  uint64_t outputKib = 16384;      // a file that the target writes; what it prints has no limit
  uint64_t openFiles = 256;        // descriptors of the target
  uint64_t rows = 4u << 20;        // expression rows of one recording
  uint64_t events = 1u << 20;      // events of one recording
  uint64_t solverRlimit = 2000000; // Z3's counted units, one query
  uint64_t solverMs = 0;           // one query; 0 = no limit
  uint64_t goals = 1u << 16;       // goals given to the solvers, one execution
  uint64_t executionMs = 0;        // one execution with all candidates; 0 = none
  uint64_t children = 4096;        // children reported by one execution
  uint64_t resultMib = 64;         // bytes of those children
  uint64_t inputBytes = 1u << 20;
};

/// Which children are reported.
enum class Keep {
  Novel, ///< those with an edge that nobody has seen
  All,   ///< each distinct one, as a pure function of the input
};

} // namespace sf
