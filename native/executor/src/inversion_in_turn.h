// Goals of several parts, one after the other.
#pragma once

#include "query.h"

namespace sf {

/// Ladder step, behind inversion: a goal that is several conditions at once (a
/// quotient and a remainder, fields of one number) whose parts share bytes. To push
/// all of them down from the recorded input would have each set bytes that another
/// one needs. Here one part is pushed down from where those before have led, the
/// one that leaves the fewest open, and again, for a few rounds: most parts leave
/// the larger share of what others want as it was. Refutes nothing.
class InversionInTurn : public Step {
public:
  const char *name() const override { return "inversion"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  static constexpr size_t PartsMax = 8;
  static constexpr unsigned RoundsMax = 12;
  static constexpr unsigned WaysMax = 12;
};

} // namespace sf
