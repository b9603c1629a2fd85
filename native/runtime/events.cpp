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

namespace {

// The operand that has one value for each value of this row; 0 if it has none.
Label sourceOf(Label L) {
  const sf_row &R = row(L);
  switch (R.op) {
  case SF_OP_ADD:
  case SF_OP_SUB:
  case SF_OP_XOR:
    return R.a && R.b ? 0 : R.a | R.b;
  case SF_OP_ZEXT:
  case SF_OP_SEXT:
  case SF_OP_BSWAP:
  case SF_OP_BITREVERSE:
    return R.a;
  default:
    return 0;
  }
}

} // namespace

// An address that is a size behind some place says what the size is, and of the
// size it is said: whatever else is computed from it is then known to be fixed.
void recordFact(Operand Value, Place At) {
  while (Value.label) {
    Meta &M = meta(Value.label);
    if (M.flags & (RowFact | RowBranched))
      return;
    M.flags |= RowFact;
    Label Source = sourceOf(Value.label);
    if (!Source)
      break;
    Value = known(Source);
  }
  if (Value.label)
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
