// What conditions on the input's length alone say, as sets of lengths.
#pragma once

#include "evaluator.h"
#include "trace.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sf {

/// All numbers from `first` to `last`.
struct Range {
  uint64_t first, last;
  bool operator==(const Range &) const = default;
};
/// Ascending, with gaps between them.
using Ranges = std::vector<Range>;

Ranges intersection(const Ranges &left, const Ranges &right);
/// The member that is nearest to `centre`, the smaller one of two.
std::optional<uint64_t> nearest(const Ranges &ranges, uint64_t centre);

/// Let an assignment ask for a length; it must not say anything of it yet.
void addLength(const Trace &trace, uint64_t wanted, Assignment &assignment);

/// A parser that knows where its input ends compares some pointer with the end
/// again and again. Each such branch is about one number of which there are few
/// values, so that what all of them allow together can be known exactly: a range
/// of lengths is taken through the expression as ranges of values, and halved
/// until the answer is the same for all of it (interval analysis by bisection;
/// R. Moore, "Interval Analysis", 1966).
class Lengths {
public:
  explicit Lengths(const Trace &recorded) : trace(recorded) {}

  /// Whether `label` reads nothing but the length.
  bool isAbout(uint32_t label) const;
  /// Lengths for which `condition`, on the length alone, holds; null when that
  /// takes too long to find out.
  const Ranges *truth(const Condition &condition);

private:
  static constexpr size_t RowsMax = 512;
  /// Rows that are computed for one condition at most.
  static constexpr size_t WorkMax = 1 << 16;
  static constexpr size_t RangesMax = 64;

  std::optional<Ranges> solve(const Condition &condition);
  bool plan(uint32_t label);
  /// The values of the planned label for all lengths of a range: maybe more.
  Range values(Range lengths);
  Range valuesOf(const sf_row &row, Range lengths);

  const Trace &trace;
  std::vector<uint32_t> cone; // ascending: operands come before what uses them
  std::unordered_map<uint32_t, Range> known;
  std::unordered_map<uint64_t, std::optional<Ranges>> truths;
};

} // namespace sf
