#include "byte_sets.h"
#include "mix.h"

#include <algorithm>

namespace sf {
namespace {

/// Close the smallest gaps until the list is short enough.
void closeSmallGaps(std::vector<ByteSets::Interval> &list, size_t max) {
  if (list.size() <= max)
    return;
  std::vector<uint32_t> gaps;
  for (size_t i = 1; i < list.size(); ++i)
    gaps.push_back(list[i].first - list[i - 1].last);
  size_t closed = list.size() - max;
  std::nth_element(gaps.begin(), gaps.begin() + (closed - 1), gaps.end());
  uint32_t widest = gaps[closed - 1];
  std::vector<ByteSets::Interval> kept;
  for (const auto &interval : list) {
    if (!kept.empty() && interval.first - kept.back().last <= widest)
      kept.back().last = interval.last;
    else
      kept.push_back(interval);
  }
  list = std::move(kept);
}

} // namespace

ByteSets::ByteSets() { sets.push_back({0, 0, 0}); }

uint32_t ByteSets::intern(std::span<const Interval> list) {
  uint64_t hash = list.size(), bytes = 0;
  for (const Interval &i : list) {
    hash = mix(hash ^ (uint64_t(i.first) << 32 | i.last));
    bytes += uint64_t(i.last) - i.first + 1;
  }
  auto [from, to] = byHash.equal_range(hash);
  for (auto it = from; it != to; ++it)
    if (std::ranges::equal(intervals(it->second), list))
      return it->second;
  uint32_t set = uint32_t(sets.size());
  sets.push_back({uint32_t(pool.size()), uint32_t(list.size()), bytes});
  pool.insert(pool.end(), list.begin(), list.end());
  byHash.emplace(hash, set);
  return set;
}

uint32_t ByteSets::interval(uint32_t first, uint32_t last) {
  Interval one{first, last};
  return intern({&one, 1});
}

uint32_t ByteSets::unite(uint32_t left, uint32_t right) {
  if (left == right || right == 0)
    return left;
  if (left == 0)
    return right;
  if (left > right)
    std::swap(left, right);
  auto [known, fresh] = unions.try_emplace(uint64_t(left) << 32 | right, 0);
  if (!fresh)
    return known->second;

  auto a = intervals(left), b = intervals(right);
  merged.clear();
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    bool fromA = j == b.size() || (i < a.size() && a[i].first <= b[j].first);
    const Interval &next = fromA ? a[i++] : b[j++];
    if (!merged.empty() && next.first <= uint64_t(merged.back().last) + 1)
      merged.back().last = std::max(merged.back().last, next.last);
    else
      merged.push_back(next);
  }
  closeSmallGaps(merged, IntervalsMax);
  return known->second = intern(merged);
}

bool ByteSets::contains(uint32_t set, uint32_t byte) const {
  auto list = intervals(set);
  auto it = std::ranges::upper_bound(list, byte, {}, &Interval::first);
  return it != list.begin() && byte <= std::prev(it)->last;
}

bool ByteSets::touches(uint32_t set, std::span<const uint32_t> bytes) const {
  for (const Interval &i : intervals(set)) {
    auto it = std::ranges::lower_bound(bytes, i.first);
    if (it != bytes.end() && *it <= i.last)
      return true;
  }
  return false;
}

std::vector<uint32_t> ByteSets::offsets(uint32_t set, size_t max) const {
  std::vector<uint32_t> list;
  for (const Interval &i : intervals(set))
    for (uint64_t byte = i.first; byte <= i.last && list.size() < max; ++byte)
      list.push_back(uint32_t(byte));
  return list;
}

} // namespace sf
