#include "float_groups.h"

#include <algorithm>

namespace sf {
namespace {

constexpr size_t ClusterBytesMax = 2;

struct Cluster {
  std::vector<uint32_t> bytes; // ascending
  std::vector<Condition> conditions;
  bool isLarge = false;
};

/// Add a condition to the groups; those that it connects become one.
void addTo(std::vector<Cluster> &groups, const Condition &condition, std::vector<uint32_t> bytes,
           bool isLarge) {
  Cluster whole{std::move(bytes), {condition}, isLarge};
  for (size_t i = groups.size(); i-- > 0;) {
    Cluster &group = groups[i];
    const bool shares = std::ranges::any_of(
        group.bytes, [&](uint32_t byte) { return std::ranges::count(whole.bytes, byte) != 0; });
    if (!shares)
      continue;
    std::vector<uint32_t> all;
    std::ranges::set_union(whole.bytes, group.bytes, std::back_inserter(all));
    whole.bytes = std::move(all);
    whole.conditions.insert(whole.conditions.begin(), group.conditions.begin(),
                            group.conditions.end());
    whole.isLarge |= group.isLarge;
    groups.erase(groups.begin() + ptrdiff_t(i));
  }
  groups.push_back(std::move(whole));
}

/// The n-th value counted from the present one outwards, around the end.
uint8_t outwards(uint8_t present, unsigned n) {
  const unsigned distance = (n + 1) / 2;
  return uint8_t(n % 2 ? present + distance : present - distance);
}

bool goThrough(const Cluster &group, Workbench &bench, Assignment &found) {
  const unsigned seconds = group.bytes.size() == ClusterBytesMax ? 256 : 1;
  Assignment trial;
  for (uint32_t byte : group.bytes)
    trial.push_back({byte, 0});
  for (unsigned j = 0; j < seconds; ++j)
    for (unsigned i = 0; i < 256; ++i) {
      trial[0].value = outwards(bench.trace.input[group.bytes[0]], i);
      if (seconds > 1)
        trial[1].value = outwards(bench.trace.input[group.bytes[1]], j);
      bench.evaluator.assume(trial);
      if (!bench.evaluator.holdAll(group.conditions))
        continue;
      found.insert(found.end(), trial.begin(), trial.end());
      return true;
    }
  return false;
}

} // namespace

bool searchGroups(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                  Assignment &answer) {
  constexpr uint32_t OffsetsMax = 64;
  const Trace &trace = bench.trace;
  std::vector<Cluster> groups;
  for (const Condition &condition : conditions) {
    const uint32_t set = trace.bytes[condition.label];
    std::vector<uint32_t> bytes = trace.sets.offsets(set, OffsetsMax);
    addTo(groups, condition, std::move(bytes), trace.sets.size(set) > OffsetsMax);
  }
  Assignment found;
  for (const Cluster &group : groups) {
    bench.evaluator.assume({});
    if (bench.evaluator.holdAll(group.conditions))
      continue;
    if (group.isLarge || group.bytes.empty() || group.bytes.size() > ClusterBytesMax ||
        !goThrough(group, bench, found))
      return false;
  }
  std::ranges::sort(found, {}, &ByteChange::offset);
  if (!bench.accepts(query, found))
    return false;
  answer = std::move(found);
  return true;
}

} // namespace sf
