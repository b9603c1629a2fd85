// Several equations of floating-point numbers of the input at once.
#pragma once

#include "query.h"

namespace sf {

/// A number of the input as the program reads it.
struct InputNumber {
  uint32_t offset;
  unsigned format; // SF_SINGLE or SF_DOUBLE
  bool swapped;    // big-endian
};

/// Solves those of `conditions` that are equations by Newton's method.
///
/// One equation is inverted; with two, meeting one breaks the other. The slopes
/// are measured at the expressions themselves, and of the many solutions of too
/// few equations the nearest one is taken. Conditions of other kinds have no say
/// in where it goes, but the answer meets them all. Each evaluation takes one
/// from `budget`.
bool solveEquations(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                    std::span<const InputNumber> numbers, uint64_t &budget, Assignment &answer);

} // namespace sf
