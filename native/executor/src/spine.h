// A chain of operations that can be undone, from an equation towards the input.
#pragma once

#include "conjuncts.h"
#include "trace.h"

#include <cstdint>
#include <vector>

namespace sf {

/// What is wanted of a value: the bits of `value` that are in `known`.
struct Wanted {
  uint64_t value = 0, known = 0;
};

/// One operation of a chain: how a wanted result becomes a wanted operand.
struct Undo {
  enum Kind : uint8_t {
    Plain,       ///< as row.op says; `other` is the other operand
    Times,       ///< multiplication by the constant `factor`
    Rotate,      ///< rotation to the left by `amount`
    XorShiftUp,  ///< x ^ (x << amount)
    XorShiftDown ///< x ^ (x >> amount)
  };
  Kind kind = Plain;
  uint32_t row = 0;
  Term other; // of binary operations and concatenations
  bool otherIsLeft = false;
  uint64_t factor = 0;
  unsigned amount = 0;

  /// Turn what is wanted of the row into what is wanted of its operand, given
  /// the other one's value. Answers false when no operand gives that. The
  /// result never excludes an operand that does.
  bool apply(const Trace &trace, uint64_t otherValue, Wanted &wanted) const;
};

/// Find the chain below a label. Where both operands are symbolic the one that
/// reads more bytes goes on.
class Spine {
public:
  static constexpr size_t LengthMax = 512;

  Spine(const Trace &trace, uint32_t top);

  /// labels[0] is the top; undo[i] leads from labels[i] to labels[i + 1].
  std::vector<uint32_t> labels;
  std::vector<Undo> undo;

private:
  bool step(const Trace &trace, uint32_t label);
  bool mixesWithItself(const Trace &trace, uint32_t label);
  bool go(uint32_t to, Undo how) {
    undo.push_back(how);
    labels.push_back(to);
    return true;
  }
};

} // namespace sf
