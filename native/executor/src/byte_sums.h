// Linear equations modulo 2^k: sums of functions of single bytes.
#pragma once

#include "conjuncts.h"
#include "scope.h"
#include "semantics.h"

namespace sf {

/// Equations `sum over bytes of g(byte) = wanted (mod 2^k)`, where each g is
/// known by its values. A walk in depth chooses byte after byte, those with the
/// largest range first (the leading digits), and turns back as soon as the rest
/// cannot make up what is missing. It is bounded by a number of steps.
class ByteSums {
public:
  ByteSums(Workbench &shared, const Scope &wanted) : bench(shared), scope(wanted) {}

  struct Target {
    Equation equation;
    uint64_t difference = 0; // wanted: left - right
  };
  /// Evaluate the sides. Answers false when they are too large or no such sums.
  bool sample(std::span<const Target> targets, const Condition &goal, size_t rowsMax);
  /// Call `visit(assignment)` for solutions until it answers true.
  template <typename F> bool search(F &&visit);

private:
  static constexpr uint64_t StepsMax = 1u << 21;
  static constexpr unsigned SolutionsMax = 256;
  using Wide = __int128;

  struct Sum {
    Target target;
    uint64_t missing = 0; // wanted change of left - right
    std::vector<std::array<int64_t, 256>> change;
    std::vector<Wide> lowest, highest; // of the bytes from a place in `order` on
  };

  uint64_t difference(const Equation &equation, unsigned lane) const {
    return (valueIn(bench, equation.left, lane) - valueIn(bench, equation.right, lane)) &
           lowBits(equation.bits);
  }
  bool isSum(const Condition &goal);
  void arrange();
  /// Whether the bytes from `place` on can still add up to what is missing.
  static bool isOpen(const Sum &sum, size_t place, Wide spent) {
    const Wide modulus = Wide(1) << sum.target.equation.bits;
    Wide above = (Wide(sum.missing) - spent - sum.lowest[place]) % modulus;
    if (above < 0)
      above += modulus;
    return above <= sum.highest[place] - sum.lowest[place];
  }

  Workbench &bench;
  const Scope &scope;
  std::vector<Sum> sums;
  std::vector<size_t> order; // bytes of the scope, the widest range first
};

template <typename F> bool ByteSums::search(F &&visit) {
  const size_t depth = scope.size();
  std::vector<uint8_t> chosen = scope.seed;
  std::vector<size_t> next(depth + 1, 0);
  std::vector<std::vector<Wide>> spent(depth + 1, std::vector<Wide>(sums.size(), 0));
  uint64_t steps = 0;
  unsigned solutions = 0;
  for (size_t place = 0;;) {
    if (place == depth) {
      if (visit(scope.assignment(chosen)))
        return true;
      if (++solutions == SolutionsMax)
        return false;
      --place;
    }
    const size_t byte = order[place];
    const std::vector<uint8_t> &values = scope.values[byte];
    bool descended = false;
    while (next[place] < values.size()) {
      const uint8_t value = values[next[place]++];
      if (++steps > StepsMax)
        return false;
      bool open = true;
      for (size_t i = 0; i < sums.size() && open; ++i) {
        spent[place + 1][i] = spent[place][i] + sums[i].change[byte][value];
        open = isOpen(sums[i], place + 1, spent[place + 1][i]);
      }
      if (open) {
        chosen[byte] = value;
        descended = true;
        break;
      }
    }
    if (descended) {
      if (++place < depth)
        next[place] = 0;
    } else if (place-- == 0) {
      return false;
    }
  }
}

} // namespace sf
