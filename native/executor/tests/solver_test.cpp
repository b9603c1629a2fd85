// What each step solves, and what it refuses to claim.
#include "check.h"
#include "inversion.h"
#include "inversion_in_turn.h"
#include "ladder.h"
#include "program.h"
#include "random_table.h"
#include "scan.h"
#include "smt.h"

#include "symfleet/printed_number.h"

#include <cstring>

using namespace sf;
using namespace sf::test;

TEST_CASE(inversionUndoesChains) {
  Program program(std::vector<uint8_t>(8));
  uint32_t x = program.read(32, 2);
  x = program.row(SF_OP_ADD, 32, 0, x, 0, 0x1234);
  x = program.row(SF_OP_XOR, 32, 0, x, 0, 0xa5a5a5a5);
  x = program.row(SF_OP_MUL, 32, 0, x, 0, 0x10001);
  x = program.row(SF_OP_BSWAP, 32, 0, x);
  x = program.row(SF_OP_SUB, 32, 0, 0, x, 77); // 77 - x
  x = program.row(SF_OP_ZEXT, 64, 0, x);
  CHECK(isSat(solveWith<Inversion>(program, program.equal(x, 0xdeadbeef))));
  CHECK(!isSat(solveWith<Inversion>(program, program.equal(x, 0x1deadbeef))));
}

TEST_CASE(inversionMeetsBordersOfComparisons) {
  for (uint8_t op : {SF_OP_NE, SF_OP_ULT, SF_OP_ULE, SF_OP_SLT, SF_OP_SLE}) {
    for (bool swapped : {false, true}) {
      Program program(std::vector<uint8_t>(4));
      uint32_t x = program.read(32, 0);
      uint32_t goal =
          swapped ? program.row(op, 1, 32, 0, x, 1000) : program.row(op, 1, 32, x, 0, 1000);
      CHECK_EQUAL_ABOUT(isSat(solveWith<Inversion>(program, goal)), true, std::to_string(op));
    }
  }
}

TEST_CASE(inversionChoosesFromTables) {
  Program program({3});
  program.table.blobs.resize(256, 9);
  program.table.blobs[200] = 42;
  uint32_t x = program.row(SF_OP_TABLE, 8, 0, program.read(8, 0));
  CHECK(isSat(solveWith<Inversion>(program, program.equal(x, 42))));
  CHECK(!isSat(solveWith<Inversion>(program, program.equal(x, 43))));
}

TEST_CASE(scanDecidesOneByteExactly) {
  Program program({5});
  uint32_t x = program.read(8, 0);
  uint32_t square = program.row(SF_OP_MUL, 8, 0, x, x);
  CHECK(isSat(solveWith<Scan>(program, program.equal(square, 0x51)))); // 9 * 9
  CHECK_EQUAL(int(solveWith<Scan>(program, program.equal(square, 3))), int(Verdict::Unsat));
  uint32_t below = program.row(SF_OP_ULT, 1, 8, x, 0, 8);
  // 9 is barred by the path, but 247 squares to 0x51 too; with both barred none is left.
  uint32_t not0x77 = program.row(SF_OP_ULT, 1, 8, x, 0, 9);
  CHECK_EQUAL(int(solveWith<Scan>(program, program.equal(square, 0x51), {{not0x77, 1}})),
              int(Verdict::Unsat));
  CHECK_EQUAL(int(solveWith<Scan>(program, program.equal(x, 7), {{below, 1}})), int(Verdict::Sat));
}

TEST_CASE(scanTriesAllPairs) {
  Program program({1, 1});
  uint32_t x = program.row(SF_OP_ZEXT, 16, 0, program.read(8, 0));
  uint32_t y = program.row(SF_OP_ZEXT, 16, 0, program.read(8, 1));
  uint32_t product = program.row(SF_OP_MUL, 16, 0, x, y);
  CHECK(isSat(solveWith<Scan>(program, program.equal(product, 241 * 251))));
  CHECK_EQUAL(int(solveWith<Scan>(program, program.equal(product, 65521))), int(Verdict::Unsat));
}

TEST_CASE(z3SolvesWhatTheOthersCannot) {
  Program program(std::vector<uint8_t>(4));
  uint32_t x = program.read(32, 0);
  uint32_t sum = program.row(SF_OP_ADD, 32, 0, program.row(SF_OP_MUL, 32, 0, x, 0, 77),
                             program.row(SF_OP_LSHR, 32, 0, x, 0, 3));
  uint32_t goal = program.equal(sum, 123456u * 77u + (123456u >> 3));
  uint32_t small = program.row(SF_OP_ULT, 1, 32, x, 0, 0x30000);
  CHECK(isSat(solveWith<Smt>(program, goal, {{small, 1}})));
  uint32_t tiny = program.row(SF_OP_ULT, 1, 32, x, 0, 1000);
  CHECK_EQUAL(int(solveWith<Smt>(program, goal, {{tiny, 1}})), int(Verdict::Unsat));
}

TEST_CASE(z3KnowsEachCharacterOfAPrintedNumber) {
  const uint32_t forms[] = {
      10,
      10 | SF_PRINT_SIGNED,
      16 | SF_PRINT_ALTERNATE | SF_PRINT_UPPER,
      8 | SF_PRINT_ALTERNATE,
      10 | SF_PRINT_SIGNED | SF_PRINT_LEFT | SF_PRINT_PLUS | 6u << SF_PRINT_WIDTH_SHIFT,
      10 | SF_PRINT_ZERO | SF_PRINT_SIGNED | 5u << SF_PRINT_WIDTH_SHIFT,
      16 | SF_PRINT_SIGNED | 1u << SF_PRINT_PRECISION_SHIFT,
  };
  const uint64_t suffix = ';' | uint64_t(1) << 56;
  Random random(23);
  for (uint32_t form : forms)
    for (unsigned round = 0; round < 12; ++round) {
      const bool isSize = round % 3 == 0;
      const unsigned index = unsigned(random.below(7));
      auto valueOf = [&](uint64_t x) {
        return isSize ? sf_printed_number(x, 8, form, suffix).size
                      : sf_printed_number_at(x, 8, form, suffix, index);
      };
      const uint64_t any = valueOf(random.below(256));
      const uint64_t wanted = round % 2 ? any : any ^ random.below(4);
      bool exists = false;
      for (uint64_t x = 0; x < 256; ++x)
        exists |= valueOf(x) == wanted;
      Program program({7});
      program.table.rows.push_back({uint8_t(isSize ? SF_OP_PRINTED_SIZE : SF_OP_PRINTED), 8,
                                    uint16_t(isSize ? 0 : index), program.read(8, 0), 0, form,
                                    suffix});
      const uint32_t text = uint32_t(program.table.rows.size() - 1);
      CHECK_EQUAL_ABOUT(int(solveWith<Smt>(program, program.equal(text, wanted))),
                        int(exists ? Verdict::Sat : Verdict::Unsat),
                        std::to_string(form) + " " + std::to_string(wanted));
    }
}

TEST_CASE(z3SolvesTwoTextsOfOneNumber) {
  Program program(std::vector<uint8_t>(8));
  const uint32_t x = program.read(64, 0);
  const char decimal[] = "5000000000", hexadecimal[] = "12A05F200";
  std::vector<Condition> path;
  auto print = [&](uint32_t form, uint8_t op, unsigned index, uint64_t wanted) {
    program.table.rows.push_back({op, 8, uint16_t(index), x, 0, form, 0});
    path.push_back({uint32_t(program.table.rows.size() - 1), wanted});
  };
  print(10 | SF_PRINT_SIGNED, SF_OP_PRINTED_SIZE, 0, 10);
  for (unsigned i = 0; i < 7; ++i)
    print(10 | SF_PRINT_SIGNED, SF_OP_PRINTED, i, uint8_t(decimal[i]));
  for (unsigned i = 0; i < 9; ++i)
    print(16 | SF_PRINT_UPPER, SF_OP_PRINTED, i, uint8_t(hexadecimal[i]));
  CHECK(isSat(solveWith<Smt>(program, program.equal(x, 5000000000), path)));
  CHECK_EQUAL(int(solveWith<Smt>(program, program.equal(x, 5000000001), path)),
              int(Verdict::Unsat));
}

namespace {

/// A division of the 128 bits of the input by a constant of 64.
struct Division {
  Division() : program(std::vector<uint8_t>(16, 0x41)) {
    uint32_t high = program.row(SF_OP_LSHR, 64, 0, program.read(64, 8), 0, 20);
    uint32_t low = program.read(64, 0), by = program.row(SF_OP_CONST, 64, 0, 0, 0, Divisor);
    for (uint8_t op : {SF_OP_UDIVW, SF_OP_UREMW}) {
      program.table.rows.push_back({op, 64, 0, high, low, by, 0});
      (op == SF_OP_UDIVW ? quotient : remainder) = uint32_t(program.table.rows.size() - 1);
    }
  }
  uint32_t both(uint64_t wantedQuotient, uint64_t wantedRemainder) {
    uint32_t first = program.equal(quotient, wantedQuotient);
    return program.row(SF_OP_AND, 1, 0, first, program.equal(remainder, wantedRemainder));
  }

  static constexpr uint64_t Divisor = 0xc000000000000123;
  Program program;
  uint32_t quotient = 0, remainder = 0;
};

} // namespace

TEST_CASE(inversionUndoesDivisionsOfTwoWords) {
  Division division;
  Program &program = division.program;
  CHECK(isSat(solveWith<Inversion>(program, program.equal(division.quotient, 77))));
  CHECK(isSat(solveWith<Inversion>(program, program.equal(division.remainder, 77))));
  CHECK(!isSat(solveWith<Inversion>(program, program.equal(division.remainder, ~uint64_t(0)))));
}

TEST_CASE(partsThatShareBytesAreInvertedInTurn) {
  Division division;
  CHECK(isSat(solveWith<InversionInTurn>(division.program, division.both(77, 1234567))));
  CHECK(!isSat(solveWith<InversionInTurn>(division.program, division.both(77, ~uint64_t(0)))));
}

TEST_CASE(z3DividesTwoWordsByAConstant) {
  Division division;
  CHECK(isSat(solveWith<Smt>(division.program, division.both(77, 1234567))));
  CHECK_EQUAL(int(solveWith<Smt>(division.program, division.both(77, Division::Divisor))),
              int(Verdict::Unsat));
}

TEST_CASE(z3StopsAtItsCountedLimitAtTheSamePlace) {
  Program program(std::vector<uint8_t>(8));
  uint32_t x = program.read(64, 0);
  uint32_t goal = program.equal(program.row(SF_OP_MUL, 64, 0, x, x), 0x123456789abcdef1);
  Trace trace(program.table, program.input);
  Limits limits;
  limits.solverRlimit = 5000;
  Workbench bench(trace, limits);
  for (int i = 0; i < 3; ++i) {
    Answer answer = Smt().solve({{goal, 1}, {}}, bench);
    CHECK_EQUAL(int(answer.verdict), int(Verdict::Timeout));
    CHECK(!answer.byTime);
  }
}

TEST_CASE(answersDoNotDependOnHistory) {
  Random random(21);
  Limits limits;
  std::vector<Trace> traces;
  for (int i = 0; i < 12; ++i) {
    RawTable table = randomTable(random, 60);
    traces.emplace_back(std::move(table), randomInput(random));
  }
  auto solveOne = [&](const Trace &trace) {
    Workbench bench(trace, limits);
    uint32_t label = uint32_t(trace.rows.size() - 1);
    while (trace.bytes[label] == 0)
      --label;
    Ladder ladder;
    Solution solution = ladder.solve({{label, trace.seed[label] ^ 1}, {}}, bench, true);
    std::string text = std::to_string(int(solution.verdict));
    for (const ByteChange &change : solution.assignment.value_or(Assignment()))
      text += " " + std::to_string(change.offset) + "=" + std::to_string(change.value);
    return text;
  };
  std::vector<std::string> forwards(traces.size());
  for (size_t i = 0; i < traces.size(); ++i)
    forwards[i] = solveOne(traces[i]);
  for (size_t i = traces.size(); i-- > 0;)
    CHECK_EQUAL(solveOne(traces[i]), forwards[i]);
}

TEST_CASE(optimisticStepMeetsTheGoalAloneAfterARefutation) {
  Program program({5});
  uint32_t x = program.read(8, 0);
  uint32_t below = program.row(SF_OP_ULT, 1, 8, x, 0, 10);
  uint32_t above = program.row(SF_OP_ULT, 1, 8, 0, x, 20);
  Trace trace(program.table, program.input);
  Limits limits;
  Workbench bench(trace, limits);
  bench.path.add({below, 1});
  Query query{{above, 1}, bench.path.slice(above)};
  Solution strict = Ladder().solve(query, bench, false);
  CHECK_EQUAL(int(strict.verdict), int(Verdict::Unsat));
  CHECK(!strict.assignment);
  Solution loose = Ladder().solve(query, bench, true);
  CHECK_EQUAL(int(loose.verdict), int(Verdict::Unsat));
  CHECK_EQUAL(std::string(loose.how), "optimistic");
  bench.evaluator.assume(*loose.assignment);
  CHECK(bench.evaluator.holds(query.goal));
}

TEST_CASE(ladderFindsWhatExists) {
  // The wanted values are those of another input, so a solution is known to exist.
  Random random(22);
  Limits limits;
  int solved = 0, wanted = 0;
  for (int graph = 0; graph < 60; ++graph) {
    RawTable table = randomTable(random, 40);
    std::vector<uint8_t> input = randomInput(random), other = randomInput(random);
    Trace trace(table, input);
    std::vector<uint64_t> there = referenceValues(table, other);
    Workbench bench(trace, limits);
    for (uint32_t label = uint32_t(trace.rows.size()) - 1; label > 0; --label) {
      if (there[label] == trace.seed[label] || trace.bytes[label] == 0)
        continue;
      ++wanted;
      Solution solution = Ladder().solve({{label, there[label]}, {}}, bench, false);
      CHECK_EQUAL_ABOUT(solution.verdict == Verdict::Unsat, false, describe(table.rows[label]));
      solved += solution.verdict == Verdict::Sat;
      break;
    }
  }
  CHECK(wanted > 40);
  CHECK(solved * 10 >= wanted * 9);
}
