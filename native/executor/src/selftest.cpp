#include "selftest.h"
#include "inversion.h"
#include "scan.h"
#include "sha256.h"
#include "smt.h"

namespace sf {
namespace {

sf_row makeRow(uint8_t op, uint8_t bits, uint16_t aux, uint32_t a, uint32_t b, uint64_t k) {
  return {op, bits, aux, a, b, 0, k};
}

/// (input[0..1] + 0x0101) == 0x4242, on the input "AB".
Trace question() {
  RawTable table;
  table.rows = {sf_row{}, makeRow(SF_OP_INPUT, 16, 0, 0, 0, 0),
                makeRow(SF_OP_ADD, 16, 0, 1, 0, 0x0101), makeRow(SF_OP_EQ, 1, 16, 2, 0, 0x4242)};
  return Trace(std::move(table), {'A', 'B'});
}

} // namespace

std::string selftest() {
  if (toHex(sha256({})).substr(0, 16) != "e3b0c44298fc1c14")
    return "SHA-256 of nothing is wrong";
  Trace trace = question();
  Limits limits;
  Workbench bench(trace, limits);
  Query query{{3, 1}, {}};
  const Assignment expected = {{0, 'A'}, {1, 'A'}};
  Inversion inversion;
  Scan scan;
  Smt smt;
  for (Step *step :
       {static_cast<Step *>(&inversion), static_cast<Step *>(&scan), static_cast<Step *>(&smt)}) {
    Answer answer = step->solve(query, bench);
    if (answer.verdict != Verdict::Sat || answer.assignment != expected)
      return std::string("the step ") + step->name() + " does not solve x + 0x101 = 0x4242";
  }
  return "";
}

} // namespace sf
