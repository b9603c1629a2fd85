#include "goal_policy.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sf {

/// Count a visit; answers true for the first `always` ones and each 2^k-th.
bool GoalPolicy::backOff(std::unordered_map<uint64_t, uint32_t> &counts, uint64_t context,
                         uint32_t always) {
  if (counts.size() >= EntriesMax)
    counts.clear();
  uint32_t before = counts[context]++;
  return before < always || std::has_single_bit(before);
}

bool GoalPolicy::admit(uint64_t context) { return backOff(visits, context, AlwaysTried); }

bool GoalPolicy::admitLead(uint64_t context) { return backOff(follows, context, AlwaysFollows); }

const GoalPolicy::Known *GoalPolicy::recall(uint64_t query) const {
  auto it = answers.find(query);
  return it == answers.end() ? nullptr : &it->second;
}

void GoalPolicy::remember(uint64_t query, Known known) {
  if (answers.size() >= EntriesMax)
    answers.clear();
  answers[query] = std::move(known);
}

bool GoalPolicy::isBeyond(uint64_t query, uint64_t budget) const {
  auto it = timeouts.find(query);
  return it != timeouts.end() && budget <= it->second;
}

void GoalPolicy::rememberTimeout(uint64_t query, uint64_t budget) {
  if (timeouts.size() >= EntriesMax)
    timeouts.clear();
  uint64_t &spent = timeouts[query];
  spent = std::max(spent, budget);
}

bool GoalPolicy::firstTime(const Digest &digest) {
  if (tried.size() >= EntriesMax)
    tried.clear();
  uint64_t key;
  std::memcpy(&key, digest.data(), sizeof key);
  return tried.insert(key).second;
}

} // namespace sf
