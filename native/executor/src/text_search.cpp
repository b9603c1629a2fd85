#include "text_search.h"
#include "conjuncts.h"
#include "float_distance.h"
#include "inversion.h"
#include "number_text.h"
#include "semantics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <unordered_set>
#include <utility>

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

/// Another text in the place of `size` bytes of the input.
struct Replacement {
  uint32_t offset;
  size_t size;
  std::string text;
};

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
  std::optional<Replacement> replaced();

private:
  double measure(__int128 position);
  bool descend(__int128 &position);
  __int128 border(__int128 position, int direction);
  std::optional<Assignment> written(const std::string &text);
  FourValues words() const;
  Number now() const {
    return {trace.seed[number.low], uint16_t(number.high ? trace.seed[number.high] : 0)};
  }

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

FourValues TextSearch::words() const {
  FourValues values{};
  for (unsigned i = 0; i < 4; ++i)
    values[i] = operandOf(row, i) ? trace.seed[operandOf(row, i)] : 0;
  return values;
}

bool TextSearch::solve(Assignment &answer) {
  if (conditions.empty())
    return false;
  const std::string text = textOf(row, words());
  const std::vector<bool> free = freeCharacters(trace, row);
  bool found = false;
  for (__int128 position : {positionOf(now(), format), __int128(0)}) {
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

/// The fewest digits that give a number between two.
std::string shortestDecimal(Number least, Number most, unsigned format) {
  constexpr int DigitsMax = 21; // tell all numbers of 80 bits apart
  for (int digits = 1; digits <= DigitsMax; ++digits)
    for (const Number &from : {least, most}) {
      char text[64];
      std::snprintf(text, sizeof text, "%.*Lg", digits, valueOf(from, format));
      const __int128 at = positionOf(numberOf(std::strtold(text, nullptr), format), format);
      if (positionOf(least, format) <= at && at <= positionOf(most, format))
        return text;
    }
  return "";
}

/// Where the number's text is in the input, and how long it is there.
std::optional<std::pair<uint32_t, size_t>> placeOf(const Trace &trace, const sf_row &row,
                                                   uint32_t label, const FourValues &words) {
  sf_row length = row;
  length.bits = 64;
  length.aux =
      SF_FLOAT_AUX(SF_FLOAT_FUNCTION(row.aux) | SF_TEXT_LENGTH, 0, SF_FLOAT_TO(row.aux), 0);
  const size_t size = applyFloat(length, words);
  const std::string text = textOf(row, words);
  const std::vector<uint32_t> offsets = trace.sets.offsets(trace.bytes[label], 4 * SF_TEXT_MAX);
  if (offsets.empty() || size > text.size() || offsets[0] + size > trace.length ||
      !std::equal(text.begin(), text.begin() + ptrdiff_t(size), trace.input.begin() + offsets[0],
                  [](char a, uint8_t b) { return uint8_t(a) == b; }))
    return std::nullopt;
  return std::pair(offsets[0], size);
}

/// None where the number has no text of its own, or may stay.
std::optional<Replacement> TextSearch::replaced() {
  const auto place = placeOf(trace, row, number.low, words());
  const __int128 here = positionOf(now(), format);
  if (!place || conditions.empty() || measure(here) == 0)
    return std::nullopt;
  for (__int128 position : {here, __int128(0)}) {
    if (!descend(position))
      continue;
    const std::string text = shortestDecimal(numberAt(border(position, -1), format),
                                             numberAt(border(position, 1), format), format);
    if (!text.empty())
      return Replacement{place->first, place->second, text};
  }
  return std::nullopt;
}

/// The numbers that an expression reads, within a bounded walk.
std::vector<TextNumber> numbersOf(const Trace &trace, uint32_t label) {
  constexpr size_t RowsMax = 4096, NumbersMax = 4;
  std::vector<TextNumber> numbers;
  std::vector<uint32_t> stack = {label};
  std::unordered_set<uint32_t> seen;
  while (!stack.empty() && seen.size() < RowsMax && numbers.size() < NumbersMax) {
    const uint32_t at = stack.back();
    stack.pop_back();
    const sf_row &row = trace.rows[at];
    if (!seen.insert(at).second)
      continue;
    if (row.op != SF_OP_TEXT) {
      Trace::forEachOperand(row, [&](uint32_t operand) { stack.push_back(operand); });
      continue;
    }
    if (SF_TEXT_IS_LENGTH(SF_FLOAT_FUNCTION(row.aux)))
      continue;
    const bool high = SF_FLOAT_HIGH(row.aux);
    auto same = std::ranges::find_if(numbers, [&](const TextNumber &each) {
      const sf_row &other = trace.rows[each.low ? each.low : each.high];
      return other.a == row.a && other.b == row.b && other.c == row.c && other.k == row.k;
    });
    if (same == numbers.end())
      same = numbers.insert(numbers.end(), TextNumber{0, 0});
    (high ? same->high : same->low) = at;
  }
  std::erase_if(numbers, [](const TextNumber &each) { return each.low == 0; });
  return numbers;
}

} // namespace

std::optional<std::vector<uint8_t>> withTextsReplaced(const Query &query, Workbench &bench) {
  uint64_t budget = 1 << 14;
  const Trace &trace = bench.trace;
  const std::vector<TextNumber> numbers = numbersOf(trace, query.goal.label);
  if (numbers.empty())
    return std::nullopt;
  std::vector<Condition> conditions = conjunctsOf(trace, query.goal);
  conditions.insert(conditions.end(), query.slice.begin(), query.slice.end());
  std::vector<Replacement> replacements;
  for (TextNumber number : numbers)
    if (auto one = TextSearch(query, bench, conditions, number, budget).replaced())
      replacements.push_back(std::move(*one));
  if (replacements.empty())
    return std::nullopt;
  std::ranges::sort(replacements, std::greater(), &Replacement::offset); // the last one first
  std::vector<uint8_t> bytes(trace.input.begin(), trace.input.begin() + trace.length);
  for (const Replacement &one : replacements) {
    const auto at = bytes.begin() + one.offset;
    if (one.offset + one.size > bytes.size())
      return std::nullopt; // two of them overlap
    bytes.insert(bytes.erase(at, at + ptrdiff_t(one.size)), one.text.begin(), one.text.end());
  }
  return bytes;
}

bool searchText(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                TextNumber number, uint64_t &budget, Assignment &answer) {
  return TextSearch(query, bench, conditions, number, budget).solve(answer);
}

} // namespace sf
