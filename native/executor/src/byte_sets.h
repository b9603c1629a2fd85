// Sets of input bytes, one for each expression, shared by number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace sf {

/// Interned sets of byte offsets. Number 0 is the empty set.
///
/// A set is a sorted list of intervals. A checksum over n bytes makes n sets,
/// which is n intervals here and n^2 offsets in a plain list. A set that would
/// need more than `IntervalsMax` closes its smallest gaps: it then names bytes
/// that do not matter, which costs precision in slicing and nothing else.
class ByteSets {
public:
  struct Interval {
    uint32_t first, last;
    bool operator==(const Interval &) const = default;
  };
  static constexpr size_t IntervalsMax = 64;

  ByteSets();

  uint32_t interval(uint32_t first, uint32_t last);
  uint32_t unite(uint32_t left, uint32_t right);

  std::span<const Interval> intervals(uint32_t set) const {
    return {pool.data() + sets[set].begin, sets[set].count};
  }
  uint64_t size(uint32_t set) const { return sets[set].bytes; }
  size_t count() const { return sets.size(); }
  bool contains(uint32_t set, uint32_t byte) const;
  /// Tell whether any of the ascending `bytes` is in the set.
  bool touches(uint32_t set, std::span<const uint32_t> bytes) const;
  /// The first `max` offsets, ascending.
  std::vector<uint32_t> offsets(uint32_t set, size_t max) const;

private:
  struct Ref {
    uint32_t begin, count;
    uint64_t bytes;
  };
  uint32_t intern(std::span<const Interval> list);

  std::vector<Interval> pool;
  std::vector<Ref> sets;
  std::vector<Interval> merged;
  std::unordered_multimap<uint64_t, uint32_t> byHash;
  std::unordered_map<uint64_t, uint32_t> unions;
};

} // namespace sf
