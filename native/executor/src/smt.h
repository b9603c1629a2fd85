// Ladder step 5: Z3 over bit-vectors.
#pragma once

#include "query.h"

namespace sf {

/// Translate the rows of a query to bit-vectors and ask Z3.
///
/// Every query gets a context of its own with fixed seeds: answers must not
/// depend on what was asked before (`keep` = all), and once libz3 is warm a
/// context costs 0.6 ms where a query costs 3. `solver_rlimit` bounds the
/// work in Z3's counted units; `solver_ms` bounds the time.
class Smt : public Step {
public:
  /// The part of the counted limit that a first try gets.
  static constexpr uint64_t Brief = 16;
  explicit Smt(uint64_t partOfLimit = 1) : part(partOfLimit) {}

  const char *name() const override { return "smt"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  uint64_t part;
  /// Rows that are translated for one query at most.
  static constexpr size_t RowsMax = 20000;
};

} // namespace sf
