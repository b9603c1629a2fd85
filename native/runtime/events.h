// Branch events: what was decided by input bytes.
#ifndef SYMFLEET_RUNTIME_EVENTS_H
#define SYMFLEET_RUNTIME_EVENTS_H

#include "expr.h"

namespace sf {

// Where an event happens: the branch site and an ordinal within it.
struct Place {
  uint64_t site;
  uint16_t ordinal;
};

// Each of these takes an operand of one bit (fact: of any width) and does
// nothing for a constant one. A condition is recorded once in an execution: it
// can have only one value, whichever branch asks again.
void recordBranch(Operand Condition, Place At);
void recordGoal(Operand Condition, Place At);
void recordFact(Operand Value, Place At);

// Makes an address concrete: other addresses are a goal, this one a fact.
void concretise(Operand Address, Place At);

} // namespace sf

#endif
