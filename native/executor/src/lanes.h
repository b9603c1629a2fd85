// The same expressions for many inputs at once.
#pragma once

#include "evaluator.h"
#include "trace.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

namespace sf {

/// Evaluates up to `Width` assignments of a few bytes side by side, one row
/// after the other, so that the loop over the lanes is vectorised.
///
/// This is what makes trying every value of a byte cheaper than one query.
class Lanes {
public:
  static constexpr unsigned Width = 256;
  using Bytes = std::array<uint8_t, Width>;
  using Mask = std::bitset<Width>;

  explicit Lanes(const Trace &trace);

  /// Choose what is evaluated and which bytes vary (ascending).
  /// Answers false when more than `rowsMax` rows depend on them.
  bool prepare(uint32_t label, std::span<const uint32_t> varying, size_t rowsMax) {
    return prepare({&label, 1}, varying, rowsMax);
  }
  /// The same for several labels, which `compute` evaluates together.
  bool prepare(std::span<const uint32_t> labels, std::span<const uint32_t> varying, size_t rowsMax);
  /// Rows that one `run` computes. The text of a number counts for what it takes to
  /// make it: a budget of rows is to stand for about the same time.
  size_t cost() const { return cone.size() + TextRows * texts; }
  /// Evaluate with `values[i]` for the i-th varying byte: where has the label
  /// the wanted value?
  Mask run(std::span<const Bytes> values, uint64_t wanted);

  using Column = std::array<uint64_t, Width>;
  /// Evaluate all prepared labels; `column` then has their values.
  void compute(std::span<const Bytes> values);
  /// Values of a prepared label; null when no varying byte touches it, so that
  /// it is what the recorded input made it in every lane.
  const Column *column(uint32_t label) const {
    return stamps[label] == generation ? &columns[columnOf[label]] : nullptr;
  }

private:
  static constexpr size_t TextRows = 64;

  struct Step {
    uint32_t row;
    int32_t a, b, c, d; // column of an operand, or -1: a value that is the same everywhere
    uint64_t x, y, z, w;
  };
  void plan(uint32_t label);
  void execute(const Step &step, Column &out, std::span<const Bytes> values);
  void executeFour(const Step &step, Column &out);
  void readInput(const sf_row &row, Column &out, std::span<const Bytes> values);

  const Trace &trace;
  uint32_t target = 0;
  std::vector<uint32_t> varyingBytes;
  std::vector<uint32_t> cone;
  size_t texts = 0; // printed rows in the cone
  std::vector<uint32_t> stack;
  std::vector<uint32_t> stamps;
  std::vector<int32_t> columnOf;
  std::vector<Step> steps;
  std::vector<Column> columns;
  std::array<Column, 3> fixed; // operands that are the same in every lane
  uint32_t generation = 0;
};

} // namespace sf
