#include "text_search.h"
#include "float_distance.h"
#include "inversion.h"
#include "number_text.h"
#include "semantics.h"

#include <algorithm>
#include <limits>

namespace sf {
namespace {

/// Tell whether an expression reads one of two rows, within a bounded walk.
bool reads(const Trace &trace, uint32_t label, TextNumber number) {
  constexpr size_t RowsMax = 8192;
  const uint32_t lowest = number.high ? std::min(number.low, number.high) : number.low;
  std::vector<uint32_t> stack = {label}, seen;
  std::vector<bool> visited(label + 1);
  for (size_t steps = 0; !stack.empty() && steps < RowsMax; ++steps) {
    uint32_t at = stack.back();
    stack.pop_back();
    if (at == number.low || at == number.high)
      return true;
    Trace::forEachOperand(trace.rows[at], [&](uint32_t operand) {
      if (operand >= lowest && !visited[operand]) {
        visited[operand] = true;
        stack.push_back(operand);
      }
    });
  }
  return false;
}

class TextSearch {
public:
  TextSearch(const Query &wanted, Workbench &shared, std::span<const Condition> all,
             TextNumber which, uint64_t &evaluations)
      : query(wanted), bench(shared), trace(shared.trace), number(which),
        row(trace.rows[which.low]), format(SF_FLOAT_TO(row.aux)), budget(evaluations),
        end(positionOf(numberOf(std::numeric_limits<long double>::infinity(), format), format)) {
    for (const Condition &condition : all)
      if (reads(trace, condition.label, number))
        conditions.push_back(condition);
    // As if they had changed, so that what reads them is computed.
    for (uint32_t offset : trace.sets.offsets(trace.bytes[number.low], 4 * SF_TEXT_MAX))
      present.push_back({offset, trace.input[offset]});
  }

  bool solve(Assignment &answer);

private:
  double measure(__int128 position);
  bool descend(__int128 &position);
  __int128 border(__int128 position, int direction);
  std::optional<Assignment> written(const std::string &text);

  const Query &query;
  Workbench &bench;
  const Trace &trace;
  const TextNumber number;
  const sf_row &row;
  const unsigned format;
  uint64_t &budget;
  const __int128 end; // behind the largest number
  std::vector<Condition> conditions;
  Assignment present;
};

/// Sum of the conditions' distances from holding; nowhere beyond the line's ends.
double TextSearch::measure(__int128 position) {
  if (budget == 0 || position >= end || position <= -1 - end)
    return std::numeric_limits<double>::infinity();
  --budget;
  const Number value = numberAt(position, format);
  bench.evaluator.assume(present);
  bench.evaluator.pin(number.low, value.low);
  if (number.high)
    bench.evaluator.pin(number.high, value.high);
  double sum = 0;
  for (const Condition &condition : conditions)
    sum += distanceOf(trace, bench.evaluator, condition);
  return sum;
}

/// By powers of two of the line's steps, as long as it comes nearer.
bool TextSearch::descend(__int128 &position) {
  double least = measure(position);
  for (bool nearer = true; nearer && least > 0;) {
    nearer = false;
    for (int bit = int(widthOfFormat(format)) - 2; bit >= 0 && least > 0; --bit)
      for (int direction : {1, -1})
        for (;;) {
          const __int128 next = position + direction * (__int128(1) << bit);
          const double distance = measure(next);
          if (distance >= least)
            break;
          least = distance;
          position = next;
          nearer = true;
        }
  }
  return least == 0;
}

/// How far the conditions go on to hold.
__int128 TextSearch::border(__int128 position, int direction) {
  __int128 step = 1;
  while (measure(position + direction * step) == 0) {
    position += direction * step;
    step *= 2;
  }
  for (; step > 0; step /= 2)
    if (measure(position + direction * step) == 0)
      position += direction * step;
  return position;
}

/// The bytes that make it the row's text.
std::optional<Assignment> TextSearch::written(const std::string &text) {
  Assignment bytes;
  for (unsigned word = 0; word * 8 < text.size(); ++word) {
    uint64_t wanted = 0;
    for (unsigned byte = 0; byte < 8; ++byte)
      wanted |= uint64_t(uint8_t(text[8 * word + byte])) << (8 * byte);
    const uint32_t label = operandOf(row, word);
    if (wanted == trace.seed[label])
      continue;
    bool last = false;
    bench.evaluator.assume({});
    auto more = Inversion::attempt(trace, bench.evaluator, {label, wanted}, bytes, 0, last);
    if (!more)
      return std::nullopt;
    bytes = std::move(*more);
  }
  return bytes;
}

bool TextSearch::solve(Assignment &answer) {
  if (conditions.empty())
    return false;
  const Number now{trace.seed[number.low], uint16_t(number.high ? trace.seed[number.high] : 0)};
  FourValues words{};
  for (unsigned i = 0; i < 4; ++i)
    words[i] = operandOf(row, i) ? trace.seed[operandOf(row, i)] : 0;
  const std::string text = textOf(row, words);
  const std::vector<bool> free = freeCharacters(trace, row);
  bool found = false;
  for (__int128 position : {positionOf(now, format), __int128(0)}) {
    if (!descend(position))
      continue;
    const Number least = numberAt(border(position, -1), format);
    const Number most = numberAt(border(position, 1), format);
    visitTextsWithin(row, text, free, least, most, [&](const std::string &candidate) {
      std::optional<Assignment> bytes = written(candidate);
      found = bytes && bench.accepts(query, *bytes);
      if (found)
        answer = std::move(*bytes);
      return found;
    });
    if (found)
      return true;
  }
  return false;
}

} // namespace

bool searchText(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                TextNumber number, uint64_t &budget, Assignment &answer) {
  return TextSearch(query, bench, conditions, number, budget).solve(answer);
}

} // namespace sf
