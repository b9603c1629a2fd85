// Equations: what takes them apart is exact, and what solves them agrees with
// trying everything.
#include "check.h"
#include "conjuncts.h"
#include "distance.h"
#include "distance_search.h"
#include "ladder.h"
#include "linear.h"
#include "meet.h"
#include "program.h"
#include "random_table.h"
#include "semantics.h"
#include "spine.h"

#include <algorithm>

using namespace sf;
using namespace sf::test;

namespace {

/// x * factor + byte over all bytes of the input, in `bits` bits.
uint32_t polynomial(Program &program, unsigned bits, uint64_t factor, uint8_t join,
                    uint64_t start) {
  uint32_t x = program.row(SF_OP_CONST, bits, 0, 0, 0, start);
  for (size_t i = 0; i < program.input.size(); ++i) {
    uint32_t byte = program.row(SF_OP_ZEXT, bits, 0, program.read(8, i));
    bool before = join == SF_OP_XOR; // FNV-1a: first the byte, then the factor
    if (before)
      x = i == 0 ? program.row(join, bits, 0, byte, 0, start) : program.row(join, bits, 0, x, byte);
    x = i == 0 && !before ? byte : program.row(SF_OP_MUL, bits, 0, x, 0, factor);
    if (!before && i > 0)
      x = program.row(join, bits, 0, x, byte);
  }
  return x;
}

uint64_t valueOn(const Program &program, uint32_t label, const std::vector<uint8_t> &input) {
  return referenceValues(program.table, input)[label];
}

std::vector<uint8_t> bytesOf(const char *text) {
  return {text, text + std::char_traits<char>::length(text)};
}

} // namespace

TEST_CASE(conjunctsHoldTogetherExactlyWhenTheWholeDoes) {
  Random random(31);
  for (int graph = 0; graph < 150; ++graph) {
    RawTable table = randomTable(random, 60);
    std::vector<uint8_t> input = randomInput(random);
    Trace trace(table, input);
    Evaluator evaluator(trace);
    for (int round = 0; round < 20; ++round) {
      uint32_t label = uint32_t(1 + random.below(trace.rows.size() - 1));
      if (trace.bytes[label] == 0)
        continue;
      std::vector<uint64_t> wanted = referenceValues(table, randomInput(random));
      Condition whole{label, wanted[label]};
      std::vector<Condition> parts = conjunctsOf(trace, whole);
      for (int trial = 0; trial < 4; ++trial) {
        std::vector<uint8_t> other = randomInput(random);
        for (size_t i = 0; i < other.size(); ++i)
          if (random.below(2))
            other[i] = input[i];
        evaluator.assume(changeTo(other));
        CHECK_EQUAL_ABOUT(evaluator.holdAll(parts), evaluator.holds(whole),
                          describe(table.rows[label]));
      }
    }
  }
}

TEST_CASE(inequalitiesOfUpperBitsAreEquations) {
  unsigned equations = 0;
  for (uint8_t op = SF_OP_EQ; op <= SF_OP_SLE; ++op)
    for (uint64_t k = 0; k < 256; ++k)
      for (uint64_t wanted : {0, 1})
        for (bool swapped : {false, true}) {
          Program program({0});
          uint32_t x = program.read(8, 0);
          uint32_t goal = program.row(op, 1, 8, swapped ? 0 : x, swapped ? x : 0, k);
          Trace trace(program.table, program.input);
          auto equation = bitEquationOf(trace, {goal, wanted});
          if (!equation)
            continue;
          ++equations;
          const bool xIsLeft = equation->left.label == x;
          const uint64_t other = xIsLeft ? equation->right.constant : equation->left.constant;
          for (unsigned value = 0; value < 256; ++value) {
            bool holds = valueOn(program, goal, {uint8_t(value)}) == wanted;
            bool same = ((value ^ other) >> equation->from & lowBits(equation->bits)) == 0;
            CHECK_EQUAL_ABOUT(same, holds, std::to_string(op) + " " + std::to_string(k));
          }
        }
  CHECK(equations > 2 * 2 * 256);
}

TEST_CASE(undoingNeverExcludesTheOperandThatWas) {
  Random random(32);
  unsigned undone = 0;
  RawTable table;
  for (int round = 0; round < 4000; ++round) {
    if (round % 10 == 0)
      table = randomTable(random, 60);
    Trace trace(table, randomInput(random));
    std::vector<uint64_t> there = referenceValues(table, randomInput(random));
    uint32_t top = uint32_t(1 + random.below(trace.rows.size() - 1));
    Spine spine(trace, top);
    uint64_t known = random.below(2) ? lowBits(trace.width(top)) : random.next();
    known &= lowBits(trace.width(top));
    Wanted wanted{there[top] & known, known};
    for (size_t i = 0; i < spine.undo.size(); ++i) {
      const Undo &undo = spine.undo[i];
      uint64_t other = undo.other.label ? there[undo.other.label] : undo.other.constant;
      std::string about = describe(table.rows[undo.row]);
      CHECK_EQUAL_ABOUT(undo.apply(trace, other, wanted), true, about);
      CHECK_EQUAL_ABOUT(there[spine.labels[i + 1]] & wanted.known, wanted.value, about);
      ++undone;
    }
  }
  CHECK(undone > 1000);
}

TEST_CASE(mixingStepsAreUndoneWhole) {
  // x and a shift of itself, as hash functions have it.
  Random random(33);
  for (int round = 0; round < 300; ++round) {
    const unsigned bits = 8u << random.below(4);
    Program program(std::vector<uint8_t>(8));
    uint32_t x = program.read(bits, 0);
    uint64_t amount = 1 + random.below(bits - 1);
    uint32_t up = program.row(SF_OP_SHL, bits, 0, x, 0, amount);
    uint32_t down = program.row(SF_OP_LSHR, bits, 0, x, 0, amount);
    uint32_t rest = program.row(SF_OP_LSHR, bits, 0, x, 0, bits - amount);
    // The same by parts.
    uint32_t low = program.row(SF_OP_EXTRACT, bits - unsigned(amount), 0, x);
    uint32_t high = program.row(SF_OP_EXTRACT, unsigned(amount), bits - unsigned(amount), x);
    uint32_t zeros = program.row(SF_OP_CONST, unsigned(amount), 0, 0);
    uint32_t upper = program.row(SF_OP_EXTRACT, bits - unsigned(amount), unsigned(amount), x);
    uint32_t upByParts = program.row(SF_OP_CONCAT, bits, 0, low, zeros);
    uint32_t downByParts = program.row(SF_OP_ZEXT, bits, 0, upper);
    uint32_t mixed[] = {program.row(SF_OP_CONCAT, bits, 0, low, high),
                        program.row(SF_OP_XOR, bits, 0, x, upByParts),
                        program.row(SF_OP_XOR, bits, 0, downByParts, x),
                        program.row(SF_OP_ADD, bits, 0, upByParts, x),

                        program.row(SF_OP_XOR, bits, 0, x, up),
                        program.row(SF_OP_XOR, bits, 0, down, x),
                        program.row(SF_OP_OR, bits, 0, up, rest),
                        program.row(SF_OP_ADD, bits, 0, rest, up),
                        program.row(SF_OP_ADD, bits, 0, up, x),
                        program.row(SF_OP_SUB, bits, 0, up, x),
                        program.row(SF_OP_SUB, bits, 0, x, up)};
    Trace trace(program.table, program.input);
    std::vector<uint8_t> other(8);
    for (uint8_t &byte : other)
      byte = uint8_t(random.next());
    std::vector<uint64_t> there = referenceValues(program.table, other);
    for (uint32_t label : mixed) {
      Spine spine(trace, label);
      CHECK_EQUAL_ABOUT(spine.labels.back(), x, describe(program.table.rows[label]));
      Wanted wanted{there[label], lowBits(bits)};
      CHECK(spine.undo[0].apply(trace, 0, wanted));
      CHECK_EQUAL_ABOUT(wanted.value, there[x] & wanted.known, describe(program.table.rows[label]));
      CHECK_EQUAL(wanted.known, lowBits(bits));
    }
  }
}

TEST_CASE(distanceIsZeroExactlyWhereTheComparisonHolds) {
  for (uint8_t op = SF_OP_EQ; op <= SF_OP_SLE; ++op)
    for (uint64_t x = 0; x < 16; ++x)
      for (uint64_t y = 0; y < 16; ++y) {
        uint64_t holds = withOperation(op, [&]<uint8_t Op>() { return apply<Op>(1, 4, x, y, 0); });
        for (bool wanted : {false, true})
          CHECK_EQUAL(ofComparison(op, 4, x, y, wanted) == 0, (holds != 0) == wanted);
      }
  for (uint64_t difference = 1; difference < 100000; difference += 7)
    CHECK(ofMagnitude(difference) <= ofMagnitude(difference + 1));
}

TEST_CASE(checksumsAreSolvedAsLinearEquationsOverBits) {
  for (bool byTable : {false, true}) {
    Program program(bytesOf("AAAAAAAAAAAA"));
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t x = i;
      for (int k = 0; k < 8; ++k)
        x = x >> 1 ^ (0xedb88320u & -(x & 1));
      for (unsigned byte = 0; byte < 4; ++byte)
        program.table.blobs.push_back(uint8_t(x >> (8 * byte)));
    }
    uint32_t x = program.row(SF_OP_CONST, 32, 0, 0, 0, 0xffffffff);
    for (size_t i = 0; i < program.input.size(); ++i) {
      if (byTable) { // a table read for each byte, rotated into each other
        uint32_t entry = program.row(SF_OP_TABLE, 32, 0, program.read(8, i));
        x = i == 0 ? entry
                   : program.row(SF_OP_XOR, 32, 0, entry, program.row(SF_OP_LSHR, 32, 0, x, 0, 3));
        continue;
      }
      uint32_t byte = program.row(SF_OP_ZEXT, 32, 0, program.read(8, i));
      x = i == 0 ? program.row(SF_OP_XOR, 32, 0, byte, 0, 0xffffffff)
                 : program.row(SF_OP_XOR, 32, 0, x, byte);
      for (int k = 0; k < 8; ++k) {
        uint32_t bit = program.row(SF_OP_AND, 32, 0, x, 0, 1);
        uint32_t mask = program.row(SF_OP_SUB, 32, 0, 0, bit, 0);
        uint32_t term = program.row(SF_OP_AND, 32, 0, mask, 0, 0xedb88320);
        x = program.row(SF_OP_XOR, 32, 0, program.row(SF_OP_LSHR, 32, 0, x, 0, 1), term);
      }
    }
    uint32_t goal = program.equal(x, 0x12345678);
    // A second equation and what the path says about single bytes hold as well.
    uint32_t first = program.read(32, 0), second = program.read(32, 4);
    uint32_t same = program.equal(program.row(SF_OP_XOR, 32, 0, first, second), 0);
    uint32_t printable = program.row(SF_OP_ULT, 1, 8, 0, program.read(8, 8), 0x40);
    std::vector<Condition> path = {{printable, 1}};
    if (!byTable)
      path.push_back({same, 1});
    CHECK_EQUAL_ABOUT(isSat(solveWith<Linear>(program, goal, path)), true, std::to_string(byTable));
  }
}

TEST_CASE(numeralsAreSolvedAsSums) {
  Program program(bytesOf("00000000"));
  uint32_t x = 0;
  std::vector<Condition> path;
  for (size_t i = 0; i < program.input.size(); ++i) {
    uint32_t digit = program.row(SF_OP_SUB, 8, 0, program.read(8, i), 0, '0');
    path.push_back({program.row(SF_OP_ULT, 1, 8, digit, 0, 10), 1});
    digit = program.row(SF_OP_ZEXT, 64, 0, digit);
    x = i == 0 ? digit
               : program.row(SF_OP_ADD, 64, 0, program.row(SF_OP_MUL, 64, 0, x, 0, 10), digit);
  }
  CHECK(isSat(solveWith<Linear>(program, program.equal(x, 86420135), path)));
  CHECK(!isSat(solveWith<Linear>(program, program.equal(x, 186420135), path)));
  uint32_t above = program.row(SF_OP_SLT, 1, 64, 0, x, 99999998);
  CHECK(isSat(solveWith<Linear>(program, above, path)));
}

TEST_CASE(sumsOfWeightedBytesAreSolvedWithinDomains) {
  Program program(std::vector<uint8_t>(6, 0x41));
  uint32_t x = polynomial(program, 32, 3, SF_OP_ADD, 0);
  std::vector<uint8_t> other = {9, 8, 7, 6, 5, 33};
  uint32_t goal = program.equal(x, valueOn(program, x, other));
  std::vector<Condition> path;
  for (size_t i = 0; i < 5; ++i)
    path.push_back({program.row(SF_OP_ULT, 1, 8, program.read(8, i), 0, 10), 1});
  CHECK(isSat(solveWith<Linear>(program, goal, path)));
}

TEST_CASE(hashesAndProductsMeetInTheMiddle) {
  for (const char *text : {"word", "abcde", "a key"}) {
    Program program(std::vector<uint8_t>(std::char_traits<char>::length(text), 0x41));
    uint32_t hash = polynomial(program, 32, 16777619, SF_OP_XOR, 2166136261u);
    uint32_t goal = program.equal(hash, valueOn(program, hash, bytesOf(text)));
    CHECK_EQUAL_ABOUT(isSat(solveWith<Meet>(program, goal)), true, text);
  }
  Program program(std::vector<uint8_t>(4, 0x41));
  uint32_t x = program.row(SF_OP_ZEXT, 32, 0, program.read(16, 0));
  uint32_t y = program.row(SF_OP_ZEXT, 32, 0, program.read(16, 2));
  uint32_t product = program.row(SF_OP_MUL, 32, 0, x, y);
  uint32_t larger = program.row(SF_OP_ULT, 1, 32, y, x);
  uint32_t goal = program.equal(product, 60013u * 59999u);
  CHECK(isSat(solveWith<Meet>(program, goal, {{larger, 1}})));
  CHECK(isSat(solveWith<Meet>(program, program.row(SF_OP_AND, 1, 0, larger, goal))));
  // 4294967291 is prime and larger than both factors can be.
  CHECK_EQUAL(int(solveWith<Meet>(program, program.equal(product, 4294967291u))),
              int(Verdict::Unsat));
}

TEST_CASE(meetingRefutesExactlyWhatNoInputReaches) {
  Random random(35);
  unsigned reached = 0;
  for (int round = 0; round < 200; ++round) {
    const unsigned bits = 8u << random.below(4);
    Program program(std::vector<uint8_t>(4, 1));
    uint8_t join = random.below(2) ? SF_OP_XOR : SF_OP_ADD;
    uint64_t factor = random.next() & lowBits(bits); // even ones lose bits
    uint32_t hash = polynomial(program, bits, factor, join, random.next() & lowBits(bits));
    std::vector<uint64_t> all;
    for (unsigned number = 0; number < 256; ++number)
      all.push_back(valueOn(program, hash,
                            {uint8_t(number & 3), uint8_t(number >> 2 & 3),
                             uint8_t(number >> 4 & 3), uint8_t(number >> 6)}));
    uint64_t wanted = all[random.below(256)] + (random.below(2) ? 0 : random.below(9));
    wanted &= lowBits(bits);
    std::vector<Condition> path;
    for (size_t i = 0; i < 4; ++i)
      path.push_back({program.row(SF_OP_ULT, 1, 8, program.read(8, i), 0, 4), 1});
    bool exists = std::ranges::count(all, wanted) > 0;
    Verdict verdict = solveWith<Meet>(program, program.equal(hash, wanted), path);
    CHECK(verdict == Verdict::Unknown || (verdict == Verdict::Sat) == exists);
    reached += verdict == Verdict::Unknown ? 0 : exists ? 1 : 1000;
  }
  CHECK(reached % 1000 > 60);
  CHECK(reached > 20000);
}

TEST_CASE(distancesLeadDownhill) {
  // A bent curve: no step before this one computes it backwards.
  Program program(std::vector<uint8_t>(8, 0x41));
  uint32_t x = program.read(64, 0);
  uint32_t bent = program.row(SF_OP_ADD, 64, 0, x, program.row(SF_OP_LSHR, 64, 0, x, 0, 2));
  CHECK(isSat(solveWith<DistanceSearch>(program, program.equal(bent, 0x123456789abcdef1))));
  uint32_t square =
      program.row(SF_OP_MUL, 64, 0, program.row(SF_OP_ZEXT, 64, 0, program.read(32, 0)),
                  program.row(SF_OP_ZEXT, 64, 0, program.read(32, 4)));
  uint32_t above = program.row(SF_OP_ULT, 1, 64, 0, square, 0x7fffffffffffffff);
  uint32_t small = program.row(SF_OP_ULT, 1, 32, program.read(32, 0), 0, 0xc0000001);
  CHECK(isSat(solveWith<DistanceSearch>(program, above, {{small, 1}})));
}

TEST_CASE(everyStepAgreesWithTryingAllInputs) {
  // Each byte has few values by the path, so that all inputs can be tried.
  Random random(34);
  Limits limits;
  limits.solverRlimit = 400000;
  constexpr unsigned Values = 6;
  unsigned solved[4] = {}, exists = 0;
  for (int graph = 0; graph < 150; ++graph) {
    RawTable table = randomTable(random, 40, 4);
    std::vector<uint8_t> input = randomInput(random, 4);
    for (uint8_t &byte : input)
      byte %= Values;
    std::vector<Condition> path;
    uint32_t label = uint32_t(table.rows.size() - 1);
    for (uint32_t i = 0; i < 4; ++i) {
      table.rows.push_back({SF_OP_INPUT, 8, 0, 0, 0, 0, i});
      table.rows.push_back({SF_OP_ULT, 1, 8, uint32_t(table.rows.size() - 1), 0, 0, Values});
      path.push_back({uint32_t(table.rows.size() - 1), 1});
    }
    Trace trace(table, input);
    while (label > 0 && trace.bytes[label] == 0)
      --label;
    std::vector<uint8_t> other = randomInput(random, 4);
    for (uint8_t &byte : other)
      byte %= random.below(2) ? Values : 255;
    Condition goal{label, referenceValues(table, other)[label]};
    Evaluator evaluator(trace);
    bool possible = false;
    for (unsigned number = 0; number < Values * Values * Values * Values && !possible; ++number) {
      evaluator.assume({{0, uint8_t(number % 6)},
                        {1, uint8_t(number / 6 % 6)},
                        {2, uint8_t(number / 36 % 6)},
                        {3, uint8_t(number / 216)}});
      possible = evaluator.holds(goal);
    }
    exists += possible;
    Linear linear;
    Meet meet;
    DistanceSearch search;
    Step *steps[] = {&linear, &meet, &search};
    for (size_t i = 0; i <= std::size(steps); ++i) {
      Workbench bench(trace, limits);
      for (const Condition &condition : path)
        bench.path.add(condition);
      Query query{goal, bench.path.slice(label)};
      Verdict verdict = i < std::size(steps) ? steps[i]->solve(query, bench).verdict
                                             : Ladder().solve(query, bench, false).verdict;
      std::string about = std::to_string(i) + " " + describe(table.rows[label]);
      if (verdict == Verdict::Sat)
        CHECK_EQUAL_ABOUT(possible, true, about);
      if (verdict == Verdict::Unsat)
        CHECK_EQUAL_ABOUT(possible, false, about);
      solved[i] += verdict == Verdict::Sat;
    }
  }
  CHECK(exists > 40);
  CHECK(solved[3] * 20 >= exists * 19);
  CHECK(solved[2] * 2 >= exists);
}
