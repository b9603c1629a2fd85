// The bytes that a step may change, with what the path allows for each.
#pragma once

#include "conjuncts.h"
#include "mix.h"
#include "query.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sf {

/// Numbers that depend on the query alone, so that answers do.
class QueryRandom {
public:
  QueryRandom(const Trace &trace, const Condition &goal)
      : state(mix(trace.hash[goal.label], goal.value)) {}
  uint64_t next() { return state = mix(state); }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

/// Input bytes of some labels, their present values and their domains.
class Scope {
public:
  /// All bytes that the labels read; `fits` is false if they are more than `max`.
  Scope(const Workbench &bench, std::span<const uint32_t> labels, size_t max) {
    const Trace &trace = bench.trace;
    for (uint32_t label : labels) {
      if (trace.sets.size(trace.bytes[label]) > max) {
        fits = false;
        return;
      }
      for (uint32_t offset : trace.sets.offsets(trace.bytes[label], max))
        bytes.push_back(offset);
    }
    std::ranges::sort(bytes);
    bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
    fits = !bytes.empty() && bytes.size() <= max;
    for (size_t i = 0; fits && i < bytes.size(); ++i) {
      seed.push_back(trace.input[bytes[i]]);
      values.push_back(membersOf(bench.path.domain(bytes[i]), seed.back()));
    }
  }

  size_t size() const { return bytes.size(); }
  bool fits = true;
  std::vector<uint32_t> bytes; // ascending
  std::vector<uint8_t> seed;
  /// Allowed values of each byte, those near its present value first.
  std::vector<std::vector<uint8_t>> values;

  /// All lanes as on the input.
  std::vector<Lanes::Bytes> columns() const {
    std::vector<Lanes::Bytes> same(size());
    for (size_t i = 0; i < size(); ++i)
      same[i].fill(seed[i]);
    return same;
  }
  Assignment assignment(std::span<const uint8_t> chosen) const {
    Assignment all;
    for (size_t i = 0; i < size(); ++i)
      all.push_back({bytes[i], chosen[i]});
    return all;
  }

private:
  static std::vector<uint8_t> membersOf(const ByteDomain &domain, uint8_t centre) {
    std::vector<uint8_t> all;
    for (unsigned value = 0; value < 256; ++value)
      if (domain[value])
        all.push_back(uint8_t(value));
    std::ranges::sort(all, {}, [&](uint8_t value) {
      return std::pair(std::abs(value - centre), value); // no two are alike
    });
    return all;
  }
};

/// The value of a term in one lane after `Lanes::compute`.
inline uint64_t valueIn(const Workbench &bench, const Term &term, unsigned lane) {
  if (!term.label)
    return term.constant;
  const Lanes::Column *column = bench.lanes.column(term.label);
  return column ? (*column)[lane] : bench.trace.seed[term.label];
}

inline void addLabels(const Equation &equation, std::vector<uint32_t> &labels) {
  for (uint32_t label : {equation.left.label, equation.right.label})
    if (label)
      labels.push_back(label);
}

} // namespace sf
