// Values of expressions under a changed input.
#pragma once

#include "trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sf {

/// New values of some input bytes, ascending by offset, each offset once.
struct ByteChange {
  uint32_t offset;
  uint8_t value;
  bool operator==(const ByteChange &) const = default;
};
using Assignment = std::vector<ByteChange>;

/// `changes`, and what `base` says of all other bytes.
Assignment merged(const Assignment &base, const Assignment &changes);

/// `label` has `value`: a path constraint, or a goal that is wanted.
struct Condition {
  uint32_t label;
  uint64_t value;
  bool fact = false; // the runtime's choice rather than the program's
  bool loop = false; // of a branch that the path takes more than once
  uint64_t site = 0; // of that branch
};

/// Evaluates labels for one assignment after another.
///
/// Only rows that read a changed byte are computed, and each of them once for
/// an assignment; all others keep their value on the recorded input. Iterative:
/// the depth of an expression is the length of the loop that built it.
class Evaluator {
public:
  explicit Evaluator(const Trace &trace);

  /// Begin with a new assignment.
  void assume(const Assignment &changes);
  /// Let a row that reads a changed byte have this value, whatever it computes.
  void pin(uint32_t label, uint64_t value) {
    stamps[label] = generation;
    values[label] = value;
  }
  uint64_t value(uint32_t label);
  bool holds(const Condition &condition) { return value(condition.label) == condition.value; }
  bool holdAll(std::span<const Condition> conditions);

private:
  bool changed(uint32_t label);
  void compute(uint32_t label);

  const Trace &trace;
  std::vector<uint8_t> input;
  std::vector<uint32_t> offsets; // of the assumed changes
  std::vector<uint64_t> values;
  std::vector<uint32_t> stamps;    // generation in which a value was computed
  std::vector<uint32_t> setStamps; // the same for the answer of each byte set
  std::vector<uint8_t> setTouched;
  std::vector<uint32_t> stack;
  uint32_t generation = 0;
};

} // namespace sf
