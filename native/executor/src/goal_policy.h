// What is not worth asking again (`keep` = novel only).
#pragma once

#include "evaluator.h"
#include "sha256.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace sf {

/// Memory of one process over its executions. It only saves work: forgetting
/// everything (which it does when it is full) changes no answer. It never
/// closes a branch: after its first visits a context is tried again at each
/// 2^k-th, thorough searches (search.h) ask for no admission, and a
/// refutation holds for one slice.
class GoalPolicy {
public:
  /// Count a visit of a goal in its context; answers whether to try it.
  bool admit(uint64_t context);

  /// The same for following a candidate that met this goal (search.h, Lead).
  bool admitLead(uint64_t context);

  /// The outcome of an equal goal and slice, if known.
  struct Known {
    const char *how;       // which step met it; null: it was refuted
    Assignment assignment; // if refuted, what meets the goal without the slice
  };
  const Known *recall(uint64_t query) const;
  void remember(uint64_t query, Known known);

  /// Whether an equal goal and slice has used up as large a counted budget
  /// before: a larger one may try again.
  bool isBeyond(uint64_t query, uint64_t budget) const;
  void rememberTimeout(uint64_t query, uint64_t budget);

  /// Answers whether these bytes are tried for the first time.
  bool firstTime(const Digest &digest);

private:
  static constexpr size_t EntriesMax = 1u << 20;
  static constexpr uint32_t AlwaysFollows = 4;
  // Small programs reach the same branch by other ways more often than a few
  // times before one of these ways is the interesting one.
  static constexpr uint32_t AlwaysTried = 16;

  static bool backOff(std::unordered_map<uint64_t, uint32_t> &counts, uint64_t context,
                      uint32_t always);

  std::unordered_map<uint64_t, uint32_t> visits;
  std::unordered_map<uint64_t, Known> answers;
  std::unordered_map<uint64_t, uint64_t> timeouts; // the largest budget that was spent
  std::unordered_set<uint64_t> tried;
  std::unordered_map<uint64_t, uint32_t> follows;
};

} // namespace sf
