// Ladder step 2: try values of up to four bytes, or of the length.
#pragma once

#include "query.h"

namespace sf {

/// A goal over one byte is decided exactly from value sets; one over two bytes
/// by all pairs when the expression is small; one over three or four by the
/// values that constants of the expression suggest; one about the input's length
/// exactly again. Refutes what it exhausts.
class Scan : public Step {
public:
  const char *name() const override { return "scan"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  static constexpr size_t BytesMax = 4;
  /// Rows of an expression that is evaluated for single bytes, and for pairs.
  static constexpr size_t RowsMax = 2048;
  static constexpr size_t PairRowsMax = 96;
  /// Candidates that meet the goal and are checked against the slice.
  static constexpr unsigned ChecksMax = 64;

  Answer length(const Query &query, Workbench &bench, const Ranges &truth);
  Answer oneByte(const Query &query, Workbench &bench, uint32_t byte);
  Answer twoBytes(const Query &query, Workbench &bench, std::span<const uint32_t> bytes);
  Answer suggestions(const Query &query, Workbench &bench, std::span<const uint32_t> bytes);
};

} // namespace sf
