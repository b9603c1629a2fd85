#include "events.h"

namespace sf {

void recordBranch(Operand Condition, Place At) {
  if (!Condition.label)
    return;
  Meta &M = meta(Condition.label);
  if (M.flags & RowBranched)
    return;
  bool Tried = M.flags & RowGoal; // by an earlier goal, under fewer constraints
  M.flags |= RowBranched;
  addEvent(Tried ? SF_EV_FACT : SF_EV_BRANCH, Condition.value & 1, At.ordinal, Condition.label,
           At.site, Tried ? Condition.value : 0);
}

void recordGoal(Operand Condition, Place At) {
  if (!Condition.label)
    return;
  Meta &M = meta(Condition.label);
  if (M.flags & (RowBranched | RowGoal))
    return;
  M.flags |= RowGoal;
  addEvent(SF_EV_GOAL, Condition.value & 1, At.ordinal, Condition.label, At.site, 0);
}

void recordFact(Operand Value, Place At) {
  if (!Value.label)
    return;
  Meta &M = meta(Value.label);
  if (M.flags & (RowFact | RowBranched))
    return;
  M.flags |= RowFact;
  addEvent(SF_EV_FACT, 0, At.ordinal, Value.label, At.site, Value.value);
}

void concretise(Operand Address, Place At) {
  if (!Address.label || meta(Address.label).flags & RowFact)
    return;
  // That a text ends where the input does is no reason to try another length.
  if (!(meta(Address.label).flags & RowLength))
    recordGoal(compare(SF_OP_EQ, row(Address.label).bits, Address, constant(Address.value)), At);
  recordFact(Address, At);
}

} // namespace sf
