// Numbers in texts, and numbers of the input.
#include "float_inversion.h"
#include "float_search.h"
#include "ladder.h"
#include "program.h"

#include <cstring>
#include <string_view>

using namespace sf;
using namespace sf::test;

namespace {

/// A row of up to four operands.
uint32_t fourOf(Program &program, uint8_t op, unsigned bits, uint16_t aux,
                std::initializer_list<uint32_t> operands) {
  sf_row row{op, uint8_t(bits), aux, 0, 0, 0, 0};
  unsigned index = 0;
  for (uint32_t operand : operands) {
    index == 0   ? (void)(row.a = operand)
    : index == 1 ? (void)(row.b = operand)
    : index == 2 ? (void)(row.c = operand)
                 : (void)(row.k = operand);
    ++index;
  }
  program.table.rows.push_back(row);
  return uint32_t(program.table.rows.size() - 1);
}

uint32_t constantOf(Program &program, unsigned bits, uint64_t value) {
  return program.row(SF_OP_CONST, bits, 0, 0, 0, value);
}

uint32_t doubleOf(Program &program, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return constantOf(program, 64, bits);
}

uint16_t onDoubles(unsigned function) { return SF_FLOAT_AUX(function, SF_DOUBLE, SF_DOUBLE, 0); }

Program textProgram(std::string_view text) { return Program({text.begin(), text.end()}); }

/// Whether all conditions can be met by the float step; none is broken by the answer.
bool isMet(const Program &program, uint32_t goal, std::vector<Condition> path = {}) {
  return isSat(solveWith<FloatSearch>(program, goal, std::move(path)));
}

} // namespace

TEST_CASE(textsFillTheRoomBetweenTwoBorders) {
  // Most numbers of the interval have no text of so few characters.
  for (unsigned result : {SF_TEXT_NUMBER, SF_TEXT_SCANNED_NUMBER}) {
    Program program = textProgram("00000000");
    uint32_t text = program.read(64, 0);
    uint32_t x = fourOf(program, SF_OP_TEXT, 64, SF_FLOAT_AUX(result, 0, SF_DOUBLE, 0), {text});
    uint32_t scaled =
        fourOf(program, SF_OP_FLOAT, 64, onDoubles(SF_FN_MUL), {x, doubleOf(program, 1.8)});
    uint32_t above =
        fourOf(program, SF_OP_FLOAT, 1, onDoubles(SF_FN_LT), {doubleOf(program, 67.3), scaled});
    uint32_t below =
        fourOf(program, SF_OP_FLOAT, 1, onDoubles(SF_FN_LT), {scaled, doubleOf(program, 67.35)});
    uint32_t length = fourOf(program, SF_OP_TEXT, 64,
                             SF_FLOAT_AUX(result + SF_TEXT_LENGTH, 0, SF_DOUBLE, 0), {text});
    uint32_t goal = program.row(SF_OP_AND, 1, 0, above, below);
    CHECK(isMet(program, goal));
    CHECK(isMet(program, goal, {{program.equal(length, 8), 1}}));
    CHECK(!isMet(program, goal, {{program.equal(length, 3), 1}}));
  }
}

TEST_CASE(textsMayBeShorterThanTheirExponents) {
  // 100.375 has room, 100375e-3 has not.
  Program program = textProgram("AAAAAAAA");
  uint32_t text = program.read(64, 0);
  uint32_t low =
      fourOf(program, SF_OP_TEXT, 64, SF_FLOAT_AUX(SF_TEXT_NUMBER, 0, SF_X87, 0), {text});
  uint32_t high =
      fourOf(program, SF_OP_TEXT, 16, SF_FLOAT_AUX(SF_TEXT_NUMBER, 0, SF_X87, 1), {text});
  uint32_t goal = fourOf(
      program, SF_OP_FLOAT, 1, SF_FLOAT_AUX(SF_FN_EQ, SF_X87, SF_X87, 0),
      {low, high, constantOf(program, 64, 0xc8c0000000000000), constantOf(program, 16, 0x4005)});
  CHECK(isMet(program, goal));
}

TEST_CASE(scanTakesOtherTextsThanStrtod) {
  auto lengthOf = [](std::string_view characters, unsigned result) {
    Program program = textProgram(characters);
    uint32_t length = fourOf(program, SF_OP_TEXT, 64, SF_FLOAT_AUX(result, 0, SF_DOUBLE, 0),
                             {program.read(64, 0)});
    return Trace(program.table, program.input).seed[length];
  };
  CHECK_EQUAL(lengthOf("1.5,AAAA", SF_TEXT_LENGTH), 3u);
  CHECK_EQUAL(lengthOf("1.5,AAAA", SF_TEXT_SCANNED_LENGTH), 3u);
  CHECK_EQUAL(lengthOf("infixAAA", SF_TEXT_LENGTH), 3u);
  CHECK_EQUAL(lengthOf("infixAAA", SF_TEXT_SCANNED_LENGTH), 0u);
  CHECK_EQUAL(lengthOf("AAAAAAAA", SF_TEXT_SCANNED_LENGTH), 0u);
}

TEST_CASE(roundingsAreInvertedAtTheEndsOfTheirIntervals) {
  // Only -10.5 is rounded to -11 by the one and to -10 by the other.
  Program program(std::vector<uint8_t>(8, 0x41));
  uint32_t x = program.read(64, 0);
  uint32_t away = fourOf(program, SF_OP_FLOAT, 64, onDoubles(SF_FN_ROUND), {x});
  uint32_t even = fourOf(program, SF_OP_FLOAT, 64, onDoubles(SF_FN_RINT), {x});
  auto is = [&](uint32_t label, double value) {
    return fourOf(program, SF_OP_FLOAT, 1, onDoubles(SF_FN_EQ), {label, doubleOf(program, value)});
  };
  uint32_t roundedAway = is(away, -11), roundedEven = is(even, -10);
  CHECK(isMet(program, program.row(SF_OP_AND, 1, 0, roundedAway, roundedEven)));
}

TEST_CASE(equationsAreSolvedTogether) {
  // Meeting the one by changing one number breaks the other.
  Program program(std::vector<uint8_t>(16, 0x41));
  uint32_t x = program.read(64, 0), y = program.read(64, 8);
  auto is = [&](unsigned function, double value) {
    uint32_t both = fourOf(program, SF_OP_FLOAT, 64, onDoubles(function), {x, y});
    return fourOf(program, SF_OP_FLOAT, 1, onDoubles(SF_FN_EQ), {both, doubleOf(program, value)});
  };
  uint32_t sum = is(SF_FN_ADD, 15), difference = is(SF_FN_SUB, 5), product = is(SF_FN_MUL, 50);
  CHECK(isMet(program, program.row(SF_OP_AND, 1, 0, sum, difference)));
  CHECK(isMet(program, program.row(SF_OP_AND, 1, 0, difference, product)));
}

TEST_CASE(conditionsOnSmallNumbersAreMetApart) {
  Program program(std::vector<uint8_t>(4, 0x41));
  auto wide = [&](uint32_t x) { return program.row(SF_OP_ZEXT, 32, 0, x); };
  uint32_t width = wide(program.read(8, 0)), height = wide(program.read(8, 1));
  uint32_t area = program.equal(program.row(SF_OP_MUL, 32, 0, width, height), 140);
  uint32_t broad =
      program.row(SF_OP_ULT, 1, 32, program.row(SF_OP_SHL, 32, 0, height, 0, 1), width);
  uint32_t depth = fourOf(program, SF_OP_FLOAT, 64, SF_FLOAT_AUX(SF_FN_FROM_UINT, 0, SF_DOUBLE, 0),
                          {program.row(SF_OP_ZEXT, 64, 0, program.read(16, 2))});
  uint32_t half =
      fourOf(program, SF_OP_FLOAT, 64, onDoubles(SF_FN_MUL), {depth, doubleOf(program, 0.5)});
  uint32_t deep =
      fourOf(program, SF_OP_FLOAT, 1, onDoubles(SF_FN_EQ), {half, doubleOf(program, 228)});
  uint32_t both = program.row(SF_OP_AND, 1, 0, area, broad);
  CHECK(isMet(program, program.row(SF_OP_AND, 1, 0, both, deep)));
}
