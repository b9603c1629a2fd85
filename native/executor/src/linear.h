// Ladder step 3: linear equations over bytes.
#pragma once

#include "conjuncts.h"
#include "query.h"

#include <span>

namespace sf {

/// Solves equations whose sides are linear in the input, in either of two
/// senses, without asking how the program wrote them down: linearity is seen
/// from values.
///
/// Over GF(2), each bit of a side is an exclusive or of input bits: checksums
/// by shift or by table, masks, rotations. One evaluation for each input bit
/// gives the matrix, elimination the change of the input.
///
/// Modulo 2^k, a side is a sum of functions of single bytes: numerals, sums,
/// polynomials, weighted digits. Evaluating all 256 values of each byte gives
/// the functions; a search with bounds on what the other bytes can still add
/// finds values, within what the path allows for each byte.
///
/// Whether it is linear is tested on a few samples, so nothing is refuted here.
class Linear : public Step {
public:
  const char *name() const override { return "linear"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  static constexpr size_t BytesMax = 64;
  static constexpr size_t RowsMax = 8192;
};

} // namespace sf
