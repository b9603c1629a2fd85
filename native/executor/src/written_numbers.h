// Texts of numbers: what to write so that a program reads, or prints, this one.
//
// Proposals only. Whatever is made here is evaluated, or run, before it counts.
#pragma once

#include "evaluator.h"
#include "trace.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sf {

/// In how many ways numberBytes() can write a number.
constexpr unsigned NumberWays = 3;

/// Bytes, none beyond the text's room, that give an SF_OP_NUMBER row this value.
std::optional<Assignment> numberBytes(const Trace &trace, const sf_row &row, uint64_t wanted,
                                      unsigned way);

/// The input with the number's text replaced, which may change its size.
std::optional<std::vector<uint8_t>> withNumber(const Trace &trace, const sf_row &row,
                                               uint64_t wanted);

/// A number whose printed text (SF_OP_PRINTED rows like `row`) has these characters;
/// `seed` is the number now.
std::optional<uint64_t> numberWithText(const sf_row &row, unsigned bits, uint64_t seed,
                                       const std::map<unsigned, uint8_t> &characters);

/// A number whose printed text (SF_OP_PRINTED_SIZE) has this size.
std::optional<uint64_t> numberWithLength(const sf_row &row, unsigned bits, uint64_t size,
                                         bool negative);

} // namespace sf
