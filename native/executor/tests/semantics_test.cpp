// One meaning of every operation: annotation, evaluator, lanes, Z3 and the
// schoolbook agree on random graphs.
#include "check.h"
#include "evaluator.h"
#include "lanes.h"
#include "random_table.h"
#include "smt.h"

using namespace sf;
using namespace sf::test;

TEST_CASE(annotationAgreesWithReference) {
  Random random(1);
  for (int graph = 0; graph < 200; ++graph) {
    RawTable table = randomTable(random, 80);
    std::vector<uint8_t> input = randomInput(random);
    std::vector<uint64_t> expected = referenceValues(table, input);
    Trace trace(table, input);
    CHECK_EQUAL(trace.skippedRows, 0u);
    for (uint32_t i = 1; i < trace.rows.size(); ++i)
      CHECK_EQUAL_ABOUT(trace.seed[i], expected[i], describe(table.rows[i]));
  }
}

TEST_CASE(evaluatorAgreesWithReferenceAfterEachChange) {
  Random random(2);
  for (int graph = 0; graph < 100; ++graph) {
    RawTable table = randomTable(random, 80);
    std::vector<uint8_t> input = randomInput(random);
    Trace trace(table, input);
    Evaluator evaluator(trace);
    for (int change = 0; change < 10; ++change) {
      std::vector<uint8_t> other = input;
      Assignment changes;
      for (uint32_t i = 0; i < InputBytes; ++i)
        if (random.below(3) == 0)
          changes.push_back({i, other[i] = uint8_t(random.next())});
      std::vector<uint64_t> expected = referenceValues(table, other);
      evaluator.assume(changes);
      for (uint32_t i = uint32_t(trace.rows.size()) - 1; i > 0; --i)
        CHECK_EQUAL_ABOUT(evaluator.value(i), expected[i], describe(table.rows[i]));
    }
  }
}

TEST_CASE(lanesAgreeWithEvaluator) {
  Random random(3);
  for (int graph = 0; graph < 40; ++graph) {
    RawTable table = randomTable(random, 60);
    std::vector<uint8_t> input = randomInput(random);
    Trace trace(table, input);
    Evaluator evaluator(trace);
    Lanes lanes(trace);
    for (int round = 0; round < 4; ++round) {
      uint32_t label = uint32_t(1 + random.below(trace.rows.size() - 1));
      uint32_t bytes[] = {uint32_t(random.below(4)), uint32_t(4 + random.below(4))};
      Lanes::Bytes columns[2];
      for (auto &column : columns)
        for (uint8_t &value : column)
          value = uint8_t(random.next());
      CHECK(lanes.prepare(label, bytes, 1000));
      uint64_t wanted = trace.seed[label];
      Lanes::Mask mask = lanes.run(columns, wanted);
      for (unsigned lane = 0; lane < Lanes::Width; lane += 17) {
        evaluator.assume({{bytes[0], columns[0][lane]}, {bytes[1], columns[1][lane]}});
        CHECK_EQUAL_ABOUT(mask[lane], evaluator.value(label) == wanted,
                          describe(trace.rows[label]));
      }
    }
  }
}

TEST_CASE(z3AgreesWithReference) {
  Random random(4);
  Limits limits;
  Smt smt;
  for (int graph = 0; graph < 60; ++graph) {
    RawTable table = randomTable(random, 40);
    std::vector<uint8_t> input = randomInput(random), other = randomInput(random);
    Trace trace(table, input);
    Workbench bench(trace, limits);
    std::vector<uint64_t> expected = referenceValues(table, other);
    // The slice pins every byte, so there is exactly one value for each label.
    Query query;
    RawTable pinned = table;
    std::vector<Condition> pins;
    for (uint32_t i = 0; i < InputBytes; ++i) {
      pinned.rows.push_back({SF_OP_INPUT, 8, 0, 0, 0, 0, i});
      pins.push_back({uint32_t(pinned.rows.size() - 1), other[i]});
    }
    Trace withPins(pinned, input);
    Workbench pinnedBench(withPins, limits);
    uint32_t label = uint32_t(table.rows.size() - 1);
    while (withPins.bytes[label] == 0)
      --label;
    Answer right = smt.solve({{label, expected[label]}, pins}, pinnedBench);
    CHECK_EQUAL_ABOUT(int(right.verdict), int(Verdict::Sat), describe(table.rows[label]));
    Evaluator evaluator(withPins);
    evaluator.assume(changeTo(other));
    CHECK_EQUAL(evaluator.value(label), expected[label]);
    Answer wrong = smt.solve({{label, expected[label] ^ 1}, pins}, pinnedBench);
    CHECK_EQUAL_ABOUT(int(wrong.verdict), int(Verdict::Unsat), describe(table.rows[label]));
  }
}

TEST_CASE(everyOperationIsDrawn) {
  Random random(5);
  bool drawn[256] = {};
  for (int graph = 0; graph < 50; ++graph)
    for (const sf_row &row : randomTable(random, 80).rows)
      drawn[row.op] = true;
  for (uint8_t op = SF_OP_CONST; op <= SF_OP_ARRAY; ++op) {
    bool exists = op <= 2 || (op >= 8 && op <= 20) || (op >= 24 && op <= 29) ||
                  (op >= 32 && op <= 36) || (op >= 40 && op <= 43) || (op >= 48 && op <= 53) ||
                  op == 56 || (op >= 96 && op <= 100);
    CHECK_EQUAL_ABOUT(drawn[op], exists, std::to_string(op));
  }
}

TEST_CASE(deepChainsAreEvaluatedWithoutRecursion) {
  RawTable table;
  table.rows = {sf_row{}, {SF_OP_INPUT, 8, 0, 0, 0, 0, 0}};
  constexpr uint32_t Depth = 300000;
  for (uint32_t i = 1; i <= Depth; ++i)
    table.rows.push_back({SF_OP_ADD, 8, 0, i, 0, 0, 1});
  Trace trace(table, {5});
  Evaluator evaluator(trace);
  evaluator.assume({{0, 7}});
  CHECK_EQUAL(evaluator.value(Depth + 1), (7 + Depth) % 256);
}
