// A condition taken apart into simple ones that must hold together.
#pragma once

#include "evaluator.h"
#include "trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sf {

/// Conditions that hold together exactly when `whole` does. A string compare is
/// one conjunction of many bytes; taken apart, each part reads few bytes and has
/// a form that the steps know. What cannot be split is returned as it is.
std::vector<Condition> conjunctsOf(const Trace &trace, const Condition &whole);

/// A value of the recording: a label, or a constant when the label is 0.
struct Term {
  uint32_t label = 0;
  uint64_t constant = 0;
};

/// `left` equals `right` in `bits` bits from bit `from` on.
struct Equation {
  Term left, right;
  unsigned bits;
  unsigned from = 0;
};

/// A condition as an equation of whole values; none if it is an inequality.
std::optional<Equation> equationOf(const Trace &trace, const Condition &condition);

/// The same, or an inequality that only says what some upper bits are: a sign,
/// or being below a power of two.
std::optional<Equation> bitEquationOf(const Trace &trace, const Condition &condition);

} // namespace sf
