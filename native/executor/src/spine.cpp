#include "spine.h"
#include "semantics.h"

#include <bit>

namespace sf {
namespace {

/// Sums and products carry upwards: only the known bits at the lower end count.
unsigned knownLowBits(uint64_t known) { return unsigned(std::countr_one(known)); }

bool undoTimes(uint64_t factor, Wanted &wanted) {
  const unsigned low = knownLowBits(wanted.known);
  const unsigned zeros = factor ? unsigned(std::countr_zero(factor)) : 64;
  if (wanted.value & lowBits(std::min(low, zeros)) & wanted.known)
    return false;
  if (zeros >= low) {
    wanted = {};
    return true;
  }
  wanted.known = lowBits(low - zeros);
  wanted.value = (wanted.value >> zeros) * inverseOf(factor >> zeros) & wanted.known;
  return true;
}

bool undoPlain(const sf_row &row, uint64_t other, bool otherIsLeft, Wanted &wanted) {
  const uint64_t mask = lowBits(row.bits);
  auto carrying = [&](uint64_t value) {
    wanted.known = lowBits(knownLowBits(wanted.known)) & mask;
    wanted.value = value & wanted.known;
    return true;
  };
  switch (row.op) {
  case SF_OP_ADD:
    return carrying(wanted.value - other);
  case SF_OP_SUB:
    return carrying(otherIsLeft ? other - wanted.value : wanted.value + other);
  case SF_OP_MUL:
    return undoTimes(other, wanted);
  case SF_OP_XOR:
    wanted.value ^= other & wanted.known;
    return true;
  case SF_OP_AND:
    if (wanted.value & ~other)
      return false;
    wanted.known &= other;
    return true;
  case SF_OP_OR:
    if (wanted.known & other & ~wanted.value)
      return false;
    wanted.known &= ~other;
    wanted.value &= wanted.known;
    return true;
  case SF_OP_SHL:
    if (other >= row.bits)
      return wanted.value == 0 && (wanted = {}, true);
    if (wanted.value & lowBits(unsigned(other)))
      return false;
    wanted = {wanted.value >> other, wanted.known >> other};
    return true;
  case SF_OP_LSHR:
  case SF_OP_ASHR:
    if (other >= row.bits)
      return wanted = {}, true;
    if (row.op == SF_OP_LSHR && wanted.value & ~(mask >> other))
      return false;
    wanted = {wanted.value << other & mask, wanted.known << other & mask};
    return true;
  case SF_OP_ZEXT:
    if (wanted.value & ~lowBits(row.aux))
      return false;
    [[fallthrough]];
  case SF_OP_SEXT:
    wanted = {wanted.value & lowBits(row.aux), wanted.known & lowBits(row.aux)};
    return true;
  case SF_OP_EXTRACT:
    wanted = {wanted.value << row.aux, wanted.known << row.aux};
    return true;
  case SF_OP_BSWAP:
    wanted = {__builtin_bswap64(wanted.value) >> (64 - row.bits),
              __builtin_bswap64(wanted.known) >> (64 - row.bits)};
    return true;
  case SF_OP_CONCAT: {
    const uint64_t low = lowBits(row.aux);
    Wanted high{wanted.value >> row.aux, wanted.known >> row.aux};
    wanted = {wanted.value & low, wanted.known & low};
    if (otherIsLeft)
      std::swap(wanted, high); // `wanted` is what the other part is to be
    bool fits = (other & wanted.known) == wanted.value;
    wanted = high;
    return fits;
  }
  }
  return false;
}

/// The first operand of a shift by a constant, however it is written: a shift
/// by whole bytes is a part of the operand with zeros beside it. 0 if it is none.
uint32_t shiftedUp(const Trace &trace, const sf_row &row, unsigned &amount) {
  if (row.op == SF_OP_SHL && row.a && !row.b && row.k && row.k < row.bits) {
    amount = unsigned(row.k);
    return row.a;
  }
  if (row.op != SF_OP_CONCAT)
    return 0;
  const sf_row &high = trace.rows[row.a], &low = trace.rows[row.b];
  if (low.op != SF_OP_CONST || low.k || high.op != SF_OP_EXTRACT || high.aux ||
      trace.width(high.a) != row.bits)
    return 0;
  amount = low.bits;
  return high.a;
}

uint32_t shiftedDown(const Trace &trace, const sf_row &row, unsigned &amount) {
  if (row.op == SF_OP_LSHR && row.a && !row.b && row.k && row.k < row.bits) {
    amount = unsigned(row.k);
    return row.a;
  }
  if (row.op != SF_OP_ZEXT)
    return 0;
  const sf_row &part = trace.rows[row.a];
  if (part.op != SF_OP_EXTRACT || !part.aux || trace.width(part.a) != row.bits ||
      part.aux + part.bits != row.bits)
    return 0;
  amount = part.aux;
  return part.a;
}

/// The operand of a rotation to the left that is written as two parts of it.
uint32_t partsSwapped(const Trace &trace, const sf_row &row, unsigned &amount) {
  if (row.op != SF_OP_CONCAT)
    return 0;
  const sf_row &high = trace.rows[row.a], &low = trace.rows[row.b];
  if (high.op != SF_OP_EXTRACT || low.op != SF_OP_EXTRACT || high.a != low.a || high.aux ||
      low.aux != high.bits || trace.width(high.a) != row.bits)
    return 0;
  amount = low.bits;
  return high.a;
}

} // namespace

bool Undo::apply(const Trace &trace, uint64_t otherValue, Wanted &wanted) const {
  const sf_row &undone = trace.rows[row];
  const unsigned bits = undone.bits;
  const uint64_t mask = lowBits(bits);
  switch (kind) {
  case Plain:
    return undoPlain(undone, otherValue, otherIsLeft, wanted);
  case Times:
    return undoTimes(factor, wanted);
  case Rotate: {
    auto back = [&](uint64_t x) { return (x >> amount | x << (bits - amount)) & mask; };
    wanted = {back(wanted.value), back(wanted.known)};
    return true;
  }
  case XorShiftUp: {
    wanted.known = lowBits(knownLowBits(wanted.known)) & mask;
    uint64_t x = wanted.value;
    for (unsigned shift = amount; shift < bits; shift *= 2)
      x ^= x << shift;
    wanted.value = x & wanted.known;
    return true;
  }
  case XorShiftDown: {
    // Known from above, as far as no gap comes.
    uint64_t top = mask & ~wanted.known;
    unsigned gap = unsigned(std::bit_width(top)); // bits below may depend on it
    wanted.known = mask & ~lowBits(gap);
    uint64_t x = wanted.value & wanted.known;
    for (unsigned shift = amount; shift < bits; shift *= 2)
      x ^= x >> shift;
    wanted.value = x & wanted.known;
    return true;
  }
  }
  return false;
}

Spine::Spine(const Trace &trace, uint32_t top) {
  labels.push_back(top);
  while (labels.size() < LengthMax && step(trace, labels.back())) {
  }
}

/// x combined with a shift of itself: rotations, steps of hash functions.
bool Spine::mixesWithItself(const Trace &trace, uint32_t label) {
  const sf_row &row = trace.rows[label];
  if (!row.a || !row.b)
    return false;
  const sf_row &left = trace.rows[row.a], &right = trace.rows[row.b];
  unsigned up = 0, down = 0;
  Undo how;
  how.row = label;
  if (uint32_t x = partsSwapped(trace, row, up)) {
    how.kind = Undo::Rotate;
    how.amount = up;
    return go(x, how);
  }
  const bool joins = row.op == SF_OP_OR || row.op == SF_OP_XOR || row.op == SF_OP_ADD;
  for (auto [a, b] : {std::pair{&left, &right}, std::pair{&right, &left}}) {
    uint32_t x = shiftedUp(trace, *a, up), y = shiftedDown(trace, *b, down);
    if (joins && x && x == y && up + down == row.bits) {
      how.kind = Undo::Rotate;
      how.amount = up;
      return go(x, how);
    }
  }
  for (auto [shifted, plain] : {std::pair{&left, row.b}, std::pair{&right, row.a}}) {
    uint32_t x = shiftedUp(trace, *shifted, up), y = shiftedDown(trace, *shifted, down);
    if (row.op == SF_OP_XOR && (x == plain || y == plain)) {
      how.kind = x ? Undo::XorShiftUp : Undo::XorShiftDown;
      how.amount = x ? up : down;
      return go(plain, how);
    }
    if (x == plain && (row.op == SF_OP_ADD || row.op == SF_OP_SUB)) {
      const uint64_t power = uint64_t(1) << up;
      how.kind = Undo::Times;
      how.factor = row.op == SF_OP_ADD ? power + 1 : shifted == &left ? power - 1 : 1 - power;
      return go(plain, how);
    }
  }
  return false;
}

bool Spine::step(const Trace &trace, uint32_t label) {
  const sf_row &row = trace.rows[label];
  Undo how;
  how.row = label;
  switch (row.op) {
  case SF_OP_ZEXT:
  case SF_OP_SEXT:
  case SF_OP_EXTRACT:
  case SF_OP_BSWAP:
    return go(row.a, how);
  case SF_OP_ADD:
  case SF_OP_SUB:
  case SF_OP_MUL:
  case SF_OP_AND:
  case SF_OP_OR:
  case SF_OP_XOR:
  case SF_OP_CONCAT:
  case SF_OP_SHL:
  case SF_OP_LSHR:
  case SF_OP_ASHR:
    break;
  default:
    return false;
  }
  if (mixesWithItself(trace, label))
    return true;
  const uint64_t sizeA = row.a ? trace.sets.size(trace.bytes[row.a]) : 0;
  const uint64_t sizeB = row.b ? trace.sets.size(trace.bytes[row.b]) : 0;
  how.otherIsLeft = sizeB > sizeA;
  const bool isShift = row.op == SF_OP_SHL || row.op == SF_OP_LSHR || row.op == SF_OP_ASHR;
  if ((sizeA == 0 && sizeB == 0) || (isShift && how.otherIsLeft))
    return false; // an amount cannot be computed back
  how.other = {how.otherIsLeft ? row.a : row.b, row.k};
  return go(how.otherIsLeft ? row.b : row.a, how);
}

} // namespace sf
