// The reader against tables that no honest target writes.
#include "check.h"
#include "evaluator.h"
#include "ladder.h"
#include "random_table.h"
#include "trace.h"

#include <cstring>

using namespace sf;
using namespace sf::test;

namespace {

sf_row makeRow(uint8_t op, unsigned bits, unsigned aux, uint32_t a, uint32_t b = 0, uint32_t c = 0,
               uint64_t k = 0) {
  return {op, uint8_t(bits), uint16_t(aux), a, b, c, k};
}

/// Whether one row on top of an 8-bit and a 32-bit input read is accepted.
bool accepts(const sf_row &row) {
  RawTable table;
  table.rows = {sf_row{}, makeRow(SF_OP_INPUT, 8, 0, 0), makeRow(SF_OP_INPUT, 32, 0, 0), row};
  table.blobs.resize(256);
  Trace trace(table, {1, 2, 3, 4});
  return trace.rows[3].op != SF_OP_INVALID;
}

void solveEverything(const Trace &trace) {
  Limits limits;
  limits.solverRlimit = 2000;
  Workbench bench(trace, limits);
  Ladder ladder;
  unsigned asked = 0;
  for (const sf_event &event : trace.events) {
    if (event.kind == SF_EV_EOF)
      continue;
    if (event.kind != SF_EV_FACT && asked++ < 12)
      ladder.solve({{event.label, uint64_t(!event.taken)}, bench.path.slice(event.label)}, bench,
                   true);
    bench.path.add({event.label, event.kind == SF_EV_FACT ? event.value : event.taken});
  }
}

} // namespace

TEST_CASE(rowsThatBreakTheContractAreRefused) {
  CHECK(accepts(makeRow(SF_OP_ADD, 8, 0, 1, 1)));
  CHECK(!accepts(makeRow(SF_OP_ADD, 8, 0, 1, 2))); // widths differ
  CHECK(!accepts(makeRow(SF_OP_ADD, 8, 0, 3, 1))); // its own operand
  CHECK(!accepts(makeRow(SF_OP_ADD, 8, 0, 4, 1))); // a later row
  CHECK(!accepts(makeRow(SF_OP_ADD, 8, 0, 0, 0))); // two constants
  CHECK(!accepts(makeRow(SF_OP_ADD, 0, 0, 1, 1)));
  CHECK(!accepts(makeRow(SF_OP_ADD, 65, 0, 1, 1)));
  CHECK(!accepts(makeRow(7, 8, 0, 1, 1))); // no such operation
  CHECK(accepts(makeRow(SF_OP_EQ, 1, 8, 1, 0)));
  CHECK(!accepts(makeRow(SF_OP_EQ, 8, 8, 1, 0))); // a truth value of 8 bits
  CHECK(!accepts(makeRow(SF_OP_EQ, 1, 32, 1, 0)));
  CHECK(accepts(makeRow(SF_OP_EXTRACT, 8, 24, 2)));
  CHECK(!accepts(makeRow(SF_OP_EXTRACT, 8, 25, 2))); // beyond the operand
  CHECK(!accepts(makeRow(SF_OP_EXTRACT, 8, 65535, 2)));
  CHECK(accepts(makeRow(SF_OP_CONCAT, 40, 0, 1, 2)));
  CHECK(!accepts(makeRow(SF_OP_CONCAT, 64, 0, 1, 2)));
  CHECK(!accepts(makeRow(SF_OP_ITE, 8, 0, 1, 1, 1))); // condition of 8 bits
  CHECK(!accepts(makeRow(SF_OP_ZEXT, 16, 0, 2)));     // narrower than its operand
  CHECK(!accepts(makeRow(SF_OP_BSWAP, 8, 0, 1)));
  CHECK(accepts(makeRow(SF_OP_INPUT, 32, 0, 0)));
  CHECK(!accepts(makeRow(SF_OP_INPUT, 32, 0, 0, 0, 0, 1))); // past the end
  CHECK(!accepts(makeRow(SF_OP_INPUT, 32, 0, 0, 0, 0, ~uint64_t(0))));
  CHECK(accepts(makeRow(SF_OP_TABLE, 8, 0, 1, 0, 0)));
  CHECK(!accepts(makeRow(SF_OP_TABLE, 8, 0, 1, 0, 1))); // outside the blobs
  CHECK(!accepts(makeRow(SF_OP_TABLE, 16, 0, 1, 0, 0)));
  CHECK(!accepts(makeRow(SF_OP_TABLE, 8, 0, 2, 0, 0))); // index of 32 bits
}

TEST_CASE(eventsThatCannotBeUsedAreSkipped) {
  RawTable table;
  table.rows = {sf_row{}, makeRow(SF_OP_INPUT, 8, 0, 0), makeRow(SF_OP_EQ, 1, 8, 1, 0, 0, 'x'),
                makeRow(SF_OP_CONST, 1, 0, 0, 0, 0, 1)};
  auto event = [&](uint8_t kind, uint8_t taken, uint32_t label, uint64_t value = 0) {
    table.events.push_back({kind, taken, 0, label, 1, value});
  };
  event(SF_EV_BRANCH, 1, 2);    // good
  event(SF_EV_BRANCH, 0, 2);    // contradicted by the input
  event(SF_EV_BRANCH, 2, 2);    // no truth value
  event(SF_EV_BRANCH, 1, 1);    // 8 bits wide
  event(SF_EV_BRANCH, 1, 0);    // concrete
  event(SF_EV_BRANCH, 1, 99);   // no such row
  event(SF_EV_BRANCH, 1, 3);    // does not depend on the input
  event(SF_EV_FACT, 0, 1, 'x'); // good
  event(SF_EV_FACT, 0, 1, 'y'); // contradicted
  event(9, 0, 2);               // no such kind
  event(SF_EV_INVALID, 0, 0);   // reserved, never written
  event(SF_EV_EOF, 0, 0, 77);   // good
  Trace trace(table, {'x'});
  CHECK_EQUAL(trace.events.size(), 3u);
  CHECK_EQUAL(trace.inconsistentEvents, 2u);
  CHECK_EQUAL(trace.skippedEvents, 6u);
}

TEST_CASE(randomBytesAreReadAndSolvedWithoutHarm) {
  Random random(11);
  for (int round = 0; round < 120; ++round) {
    RawTable table;
    table.rows.resize(1 + random.below(300));
    table.events.resize(random.below(60));
    table.blobs.resize(random.below(2000));
    uint8_t *bytes = reinterpret_cast<uint8_t *>(table.rows.data());
    for (size_t i = 0; i < table.rows.size() * sizeof(sf_row); ++i)
      bytes[i] = uint8_t(random.next());
    bytes = reinterpret_cast<uint8_t *>(table.events.data());
    for (size_t i = 0; i < table.events.size() * sizeof(sf_event); ++i)
      bytes[i] = uint8_t(random.next());
    // Most random rows are refused at once; nudge half of them into range.
    for (sf_row &row : table.rows) {
      if (random.below(2))
        continue;
      row.op = uint8_t(random.below(60)), row.bits = uint8_t(random.below(66));
      row.a %= table.rows.size(), row.b %= table.rows.size(), row.c %= table.rows.size();
      row.aux %= 66, row.k %= 20;
    }
    for (sf_event &event : table.events) {
      event.kind = uint8_t(random.below(6)), event.taken = uint8_t(random.below(3));
      event.label %= table.rows.size() + 2;
    }
    Trace trace(table, randomInput(random));
    solveEverything(trace);
  }
}

TEST_CASE(mutatedValidTablesAreReadAndSolvedWithoutHarm) {
  Random random(12);
  for (int round = 0; round < 60; ++round) {
    RawTable table = randomTable(random, 120);
    std::vector<uint8_t> input = randomInput(random);
    for (uint32_t i = 1; i < table.rows.size(); ++i)
      if (table.rows[i].bits == 1)
        table.events.push_back(
            {uint8_t(1 + random.below(3)), uint8_t(random.below(2)), 0, i, i, random.below(2)});
    uint8_t *bytes = reinterpret_cast<uint8_t *>(table.rows.data());
    for (int flip = 0; flip < 20; ++flip)
      bytes[random.below(table.rows.size() * sizeof(sf_row))] ^= uint8_t(1u << random.below(8));
    Trace trace(table, input);
    solveEverything(trace);
  }
}

TEST_CASE(emptyTableAndEmptyInputAreFine) {
  Trace trace({}, {});
  CHECK_EQUAL(trace.rows.size(), 1u);
  solveEverything(trace);
}
