// The texts that printf makes of numbers, as bit-vector terms.
#pragma once

#include "trace.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>
#include <z3.h>

namespace sf {

/// Numbers with as many digits and the same sign have texts of the same shape, and
/// are an interval each: the size of the text, and what stands at an index, are
/// choices among a few intervals. Digits are bits in the bases 8 and 16. In base
/// ten they are unknowns of their own, whose sum by powers of ten is the number:
/// that has one solution, and costs additions where a division would be a circuit
/// of its own for each digit.
class PrintedTerms {
public:
  explicit PrintedTerms(Z3_context target) : z3(target) {}

  /// The term of an SF_OP_PRINTED or SF_OP_PRINTED_SIZE row about `number`, which
  /// has `bits` bits.
  Z3_ast term(const sf_row &row, Z3_ast number, unsigned bits);

  /// What says that the digits are those of the numbers; to be asserted, too.
  const std::vector<Z3_ast> &definitions() const { return defined; }

private:
  /// Numbers of one shape, as unsigned values.
  struct Interval {
    uint64_t first, last;
    bool negative;
    unsigned digits;
  };
  static std::vector<Interval> intervals(unsigned bits, uint32_t format);

  Z3_ast character(const sf_row &row, Z3_ast number, unsigned bits, const Interval &shape);
  Z3_ast digit(Z3_ast number, unsigned bits, uint32_t format, bool negative, unsigned index);
  const std::vector<Z3_ast> &decimals(Z3_ast magnitude, unsigned bits);
  Z3_ast constant(uint64_t value, unsigned bits) {
    return Z3_mk_unsigned_int64(z3, value, Z3_mk_bv_sort(z3, bits));
  }

  Z3_context z3;
  std::vector<Z3_ast> defined;
  std::map<Z3_ast, std::vector<Z3_ast>> decimalsOf; // of 4 bits, the lowest first
};

} // namespace sf
