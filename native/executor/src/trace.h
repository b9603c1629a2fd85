// What one recording left behind, checked and annotated.
//
// The table is written by a process that may be crashing, corrupted or hostile
// and that may go on writing while it is read. So the used part is copied
// first, and nothing in the copy is believed: each row is checked against the
// rows below it (which makes the graph acyclic), and rows and events that do
// not hold are skipped and counted. What the rest of the engine sees is valid.
#pragma once

#include "byte_sets.h"
#include "float_semantics.h"
#include "semantics.h"
#include "symfleet/abi.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sf {

/// The copied part of the shared table. Row 0 is present and unused.
struct RawTable {
  std::vector<sf_row> rows;
  std::vector<sf_event> events;
  std::vector<uint8_t> blobs;
};

class Trace {
public:
  /// Check and annotate `table`, recorded on `input`. No input may be longer than
  /// `lengthMax`.
  /// `terminated`: a zero follows the input, which may become one more byte of it.
  Trace(RawTable table, std::vector<uint8_t> input, uint64_t lengthMax = UINT32_MAX,
        bool terminated = false);

  /// Valid rows. Invalid ones have op SF_OP_INVALID and are no operand of a
  /// valid one. Constants are masked, unused operands are 0, and `aux` is as
  /// semantics.h wants it.
  std::vector<sf_row> rows;
  /// Valid events in the order of the path; labels name valid rows that depend
  /// on the input, except in SF_EV_EOF.
  std::vector<sf_event> events;
  /// The bytes of the input. Where the recording speaks of its length, that number
  /// follows in LengthBytes more bytes, so that it is solved as all others are.
  std::vector<uint8_t> input;
  static constexpr uint32_t LengthBytes = 4;
  /// How many of them are the input's own.
  uint32_t length = 0;
  /// Where the bytes of the length are: behind the input and its terminator.
  uint32_t lengthAt = 0;
  /// Says that the length is at most `lengthMax`; 0 where nobody asks for it.
  uint32_t lengthBound = 0;

  std::vector<uint64_t> seed;  // value of each row on the input
  std::vector<uint64_t> hash;  // structural, equal across executions
  std::vector<uint32_t> bytes; // ByteSets number: bytes that a row reads
  ByteSets sets;
  bool hasFloats = false; // some row has four operands

  uint64_t skippedRows = 0; // reserved but not written, or not valid
  uint64_t skippedEvents = 0;
  uint64_t inconsistentEvents = 0; // contradicted by the input itself

  /// Elements in the table of a valid SF_OP_TABLE or SF_OP_ARRAY row.
  static uint64_t tableSize(const sf_row &row) { return row.op == SF_OP_TABLE ? 256 : row.k; }
  /// Element `index` of that table, 0 beyond its end.
  uint64_t tableElement(const sf_row &row, uint64_t index) const {
    uint64_t value = 0;
    if (index >= tableSize(row))
      return 0;
    unsigned size = row.bits / 8;
    for (unsigned i = 0; i < size; ++i)
      value |= uint64_t(blobs[row.c + size * index + i]) << (8 * i);
    return value;
  }
  uint64_t inputValue(const sf_row &row, std::span<const uint8_t> from) const {
    uint64_t value = 0;
    for (unsigned i = 0; i < row.bits / 8u; ++i)
      value |= uint64_t(from[row.k + i]) << (8 * i);
    return value;
  }
  /// Call `visit(label)` for each operand that is a label.
  template <typename F> static void forEachOperand(const sf_row &row, F &&visit) {
    if (row.a)
      visit(row.a);
    if (row.b)
      visit(row.b);
    if (row.c && (isTernary(row.op) || hasFourOperands(row.op)))
      visit(row.c);
    if (hasFourOperands(row.op) && row.k)
      visit(uint32_t(row.k));
  }
  unsigned width(uint32_t label) const { return rows[label].bits; }

private:
  void makeLengthSolvable(uint64_t lengthMax);
  bool normalise(uint32_t index);
  bool normaliseBinary(uint32_t index);
  bool normaliseFour(uint32_t index);
  bool normalisePrinted(uint32_t index);
  /// Width of an operand, or 0 when it is no valid row below `index`.
  unsigned operandWidth(uint32_t label, uint32_t index) const {
    return label > 0 && label < index ? rows[label].bits : 0;
  }
  void annotate(uint32_t index);
  bool admits(const sf_event &event);
  uint64_t blobHash(const sf_row &row) const;

  std::vector<uint8_t> blobs;
};

} // namespace sf
