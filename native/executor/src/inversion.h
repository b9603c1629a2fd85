// Ladder step 1: compute the input from the wanted value, backwards.
#pragma once

#include "query.h"

namespace sf {

/// Input-to-state inversion. The wanted value of the goal is pushed down
/// through operations that can be undone (additions, xors, extensions, byte
/// swaps, ...) until it reaches input bytes. Where several ways are open (which
/// operand changes, which value satisfies `<`), an attempt's number, read as a
/// mixed-radix numeral, chooses; the first `AttemptsMax` numerals are tried.
class Inversion : public Step {
public:
  const char *name() const override { return "inversion"; }
  Answer solve(const Query &query, Workbench &bench) override;

  /// One attempt: what reaches the input when `goal` is pushed down. `from` holds
  /// the values to start at, and bytes of `pinned` keep theirs. Nothing when this
  /// way is barred; sets `last` when higher numbers would repeat choices.
  static std::optional<Assignment> attempt(const Trace &trace, Evaluator &from,
                                           const Condition &goal, const Assignment &pinned,
                                           unsigned number, bool &last);

private:
  static constexpr unsigned AttemptsMax = 24;
};

/// Which characters of an SF_OP_TEXT row can change: those not joined from constants.
std::vector<bool> freeCharacters(const Trace &trace, const sf_row &row);

/// Inputs in which a number's text is replaced by another, of whatever size, that
/// may meet the goal: what follows moves, so no expression can tell whether it does.
std::vector<std::vector<uint8_t>> withNumbersReplaced(const Condition &goal, const Trace &trace);

/// The first of them that has a larger value written before what follows the number,
/// where a solution in place would be written over it; empty if there is none.
std::vector<uint8_t> withRoomForNumber(const Condition &goal, const Trace &trace);

} // namespace sf
