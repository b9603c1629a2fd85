// Conditions on the length alone, against every length there may be.
#include "lengths.h"
#include "program.h"
#include "scan.h"

using namespace sf;
using namespace sf::test;

namespace {

constexpr uint64_t LengthMax = 400;

/// A number in the low values that lengths have, near a power of two, or any.
uint64_t someNumber(Random &random) {
  switch (random.below(4)) {
  case 0:
    return random.next();
  case 1:
    return (uint64_t(1) << random.below(64)) - random.below(3);
  default:
    return random.below(LengthMax + 20);
  }
}

/// Rows as a compiler makes them of pointers, sizes and bounds, over a 32-bit length.
uint32_t someExpression(Random &random, Program &program) {
  uint32_t label = program.row(SF_OP_LENGTH, 32, 0, 0);
  unsigned bits = 32;
  for (uint64_t left = random.below(6); left; --left) {
    constexpr uint8_t binary[] = {SF_OP_ADD, SF_OP_SUB,  SF_OP_AND,  SF_OP_OR,
                                  SF_OP_XOR, SF_OP_MUL,  SF_OP_UDIV, SF_OP_UREM,
                                  SF_OP_SHL, SF_OP_LSHR, SF_OP_ASHR, SF_OP_SDIV};
    switch (random.below(6)) {
    case 0: {
      uint8_t op = random.below(2) ? SF_OP_ZEXT : SF_OP_SEXT;
      if (bits < 64)
        label = program.row(op, 64, 0, label);
      bits = 64;
      break;
    }
    case 1: {
      unsigned narrow = random.below(2) ? 32 : 8;
      unsigned from = unsigned(random.below(bits + 1 - narrow));
      if (narrow < bits)
        label = program.row(SF_OP_EXTRACT, narrow, from, label);
      bits = narrow < bits ? narrow : bits;
      break;
    }
    case 2: { // the smaller of two, as of what is there and what there is room for
      uint32_t most = program.row(SF_OP_CONST, bits, 0, 0, 0, someNumber(random) & lowBits(bits));
      uint32_t fits = program.row(SF_OP_ULE, 1, bits, label, most);
      program.table.rows.push_back({SF_OP_ITE, uint8_t(bits), 0, fits, label, most, 0});
      label = uint32_t(program.table.rows.size() - 1);
      break;
    }
    default: {
      uint8_t op = binary[random.below(std::size(binary))];
      uint64_t number =
          op >= SF_OP_SHL ? random.below(bits) + (op == SF_OP_SDIV) : someNumber(random);
      bool swapped = random.below(4) == 0;
      label = program.row(op, bits, 0, swapped ? 0 : label, swapped ? label : 0,
                          number & lowBits(bits));
    }
    }
  }
  constexpr uint8_t comparisons[] = {SF_OP_EQ,  SF_OP_NE,  SF_OP_ULT,
                                     SF_OP_ULE, SF_OP_SLT, SF_OP_SLE};
  uint8_t op = comparisons[random.below(std::size(comparisons))];
  return program.row(op, 1, bits, label, 0, someNumber(random) & lowBits(bits));
}

bool holdsFor(const Ranges &ranges, uint64_t length) {
  for (const Range &range : ranges)
    if (range.first <= length && length <= range.last)
      return true;
  return false;
}

} // namespace

TEST_CASE(whatIsSaidOfTheLengthIsKnownExactly) {
  Random random(77);
  unsigned decided = 0, cases = 0;
  for (int round = 0; round < 3000; ++round) {
    Program program(std::vector<uint8_t>(size_t(random.below(40)), 0x20));
    uint32_t goal = someExpression(random, program);
    Trace trace(program.table, program.input, LengthMax);
    CHECK_EQUAL(trace.skippedRows, 0u);
    Lengths lengths(trace);
    Evaluator evaluator(trace);
    if (!lengths.isAbout(goal))
      continue; // what the length was in is gone, as in x & 0
    for (uint64_t value : {0, 1}) {
      ++cases;
      const Ranges *truth = lengths.truth({goal, value});
      if (!truth)
        continue;
      ++decided;
      for (uint64_t length = 0; length <= LengthMax; ++length) {
        Assignment assignment;
        addLength(trace, length, assignment);
        evaluator.assume(assignment);
        CHECK_EQUAL_ABOUT(holdsFor(*truth, length), evaluator.holds({goal, value}),
                          "round " + std::to_string(round) + " length " + std::to_string(length));
      }
    }
  }
  CHECK(cases > 5000);
  CHECK(decided * 100 > cases * 90);
}

TEST_CASE(lengthsThatOtherConditionsExcludeAreNoAnswer) {
  Program program(std::vector<uint8_t>(20, 0x20));
  uint32_t length = program.row(SF_OP_LENGTH, 32, 0, 0);
  uint32_t room = program.row(SF_OP_CONST, 32, 0, 0, 0, 4096);
  uint32_t fits = program.row(SF_OP_ULT, 1, 32, length, room);
  program.table.rows.push_back({SF_OP_ITE, 32, 0, fits, length, room, 0});
  uint32_t got = uint32_t(program.table.rows.size() - 1);
  uint32_t wide = program.row(SF_OP_SEXT, 64, 0, got);
  uint32_t left = program.row(SF_OP_ADD, 64, 0, wide, 0, uint64_t(-6));
  uint32_t atLeast = program.row(SF_OP_SLT, 1, 64, 0, left, 3); // 3 < got - 6
  uint32_t few = program.row(SF_OP_SLT, 1, 64, wide, 0, 8);     // got < 8
  uint32_t ten = program.equal(got, 10), nine = program.equal(got, 9);
  uint32_t full = program.equal(wide, 4096), more = program.equal(wide, 4097);
  std::vector<Condition> path = {{atLeast, 1}};
  CHECK(solveWith<Scan>(program, few, path) == Verdict::Unsat);
  CHECK(solveWith<Scan>(program, nine, path) == Verdict::Unsat);
  CHECK(solveWith<Scan>(program, ten, path) == Verdict::Sat);
  CHECK(solveWith<Scan>(program, full, path) == Verdict::Sat);
  CHECK(solveWith<Scan>(program, more) == Verdict::Unsat);
  CHECK(solveWith<Scan>(program, few) == Verdict::Sat);
}

TEST_CASE(rangesMeetAndAreNearWhatTheyShouldBe) {
  Ranges some = {{2, 5}, {9, 12}, {20, 30}}, others = {{0, 2}, {4, 9}, {25, 99}};
  CHECK(intersection(some, others) == (Ranges{{2, 2}, {4, 5}, {9, 9}, {25, 30}}));
  CHECK(intersection(some, {}).empty());
  CHECK_EQUAL(*nearest(some, 7), 5u);
  CHECK_EQUAL(*nearest(some, 8), 9u);
  CHECK_EQUAL(*nearest(some, 25), 25u);
  CHECK(!nearest({}, 1));
}
