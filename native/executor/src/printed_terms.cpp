#include "printed_terms.h"
#include "semantics.h"

#include "symfleet/printed_number.h"

#include <algorithm>

namespace sf {
namespace {

unsigned baseOf(uint32_t format) { return std::max(format & SF_PRINT_BASE, 2u); }

} // namespace

std::vector<PrintedTerms::Interval> PrintedTerms::intervals(unsigned bits, uint32_t format) {
  const bool isSigned = format & SF_PRINT_SIGNED;
  const uint64_t most = isSigned ? lowBits(bits) >> 1 : lowBits(bits);
  std::vector<Interval> all;
  auto add = [&](uint64_t largest, bool negative) {
    uint64_t first = negative ? 1 : 0, last = 0;
    for (unsigned digits = negative ? 1 : 0; first <= largest; ++digits) {
      const bool isLast = digits > 0 && first > largest / baseOf(format);
      last = digits == 0 ? 0 : isLast ? largest : first * baseOf(format) - 1;
      last = std::min(last, largest);
      if (negative)
        all.push_back({(0 - last) & lowBits(bits), (0 - first) & lowBits(bits), true, digits});
      else
        all.push_back({first, last, false, digits});
      if (last == largest)
        break;
      first = last + 1;
    }
  };
  add(most, false);
  if (isSigned)
    add(most + 1, true);
  std::ranges::sort(all, {}, &Interval::first);
  return all;
}

Z3_ast PrintedTerms::term(const sf_row &row, Z3_ast number, unsigned bits) {
  const std::vector<Interval> shapes = intervals(bits, row.c);
  Z3_ast chosen = nullptr;
  for (size_t i = shapes.size(); i-- > 0;) {
    const Interval &shape = shapes[i];
    Z3_ast here = row.op == SF_OP_PRINTED
                      ? character(row, number, bits, shape)
                      : constant(sf_printed_number(shape.first, bits, row.c, row.k).size, row.bits);
    Z3_ast upTo = constant(shape.last, bits);
    if (!chosen)
      chosen = here;
    else if (here != chosen)
      chosen = Z3_mk_ite(z3, Z3_mk_bvule(z3, number, upTo), here, chosen);
  }
  return chosen;
}

Z3_ast PrintedTerms::character(const sf_row &row, Z3_ast number, unsigned bits,
                               const Interval &shape) {
  const unsigned index = row.aux;
  const sf_printed text = sf_printed_number(shape.first, bits, row.c, row.k);
  unsigned end = text.size - std::min(unsigned(row.k >> 56), SF_PRINT_SUFFIX_MAX);
  while (row.c & SF_PRINT_LEFT && end > 0 && text.at[end - 1] == ' ')
    --end;
  if (index < end && index + shape.digits >= end)
    return digit(number, bits, row.c, shape.negative, end - 1 - index);
  return constant(index < text.size ? uint8_t(text.at[index]) : 0, 8);
}

/// The character of digit `index`, counted from the lowest.
Z3_ast PrintedTerms::digit(Z3_ast number, unsigned bits, uint32_t format, bool negative,
                           unsigned index) {
  const unsigned base = baseOf(format);
  Z3_ast magnitude = negative ? Z3_mk_bvneg(z3, number) : number, value = nullptr;
  if (base == 10) {
    value = Z3_mk_zero_ext(z3, 4, decimals(magnitude, bits)[index]);
  } else {
    const unsigned each = base == 16 ? 4 : base == 8 ? 3 : 1, low = each * index;
    const unsigned high = std::min(low + each, bits) - 1;
    value = Z3_mk_zero_ext(z3, 8 - (high - low + 1), Z3_mk_extract(z3, high, low, magnitude));
  }
  Z3_ast numeral = Z3_mk_bvadd(z3, value, constant('0', 8));
  if (base != 16)
    return numeral;
  const uint64_t letters = (format & SF_PRINT_UPPER ? 'A' : 'a') - 10;
  return Z3_mk_ite(z3, Z3_mk_bvult(z3, value, constant(10, 8)), numeral,
                   Z3_mk_bvadd(z3, value, constant(letters, 8)));
}

const std::vector<Z3_ast> &PrintedTerms::decimals(Z3_ast magnitude, unsigned bits) {
  auto [entry, fresh] = decimalsOf.try_emplace(magnitude);
  if (!fresh)
    return entry->second;
  const unsigned wide = bits + 4; // no digit is lost where all of them are nines
  Z3_ast sum = constant(0, wide);
  uint64_t power = 1;
  for (uint64_t rest = lowBits(bits); rest; rest /= 10, power *= 10) {
    Z3_ast each = Z3_mk_fresh_const(z3, "digit", Z3_mk_bv_sort(z3, 4));
    entry->second.push_back(each);
    defined.push_back(Z3_mk_bvule(z3, each, constant(9, 4)));
    sum = Z3_mk_bvadd(z3, sum,
                      Z3_mk_bvmul(z3, Z3_mk_zero_ext(z3, wide - 4, each), constant(power, wide)));
  }
  defined.push_back(Z3_mk_eq(z3, sum, Z3_mk_zero_ext(z3, 4, magnitude)));
  return entry->second;
}

} // namespace sf
