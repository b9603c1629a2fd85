// Linear equations over GF(2): bits of expressions as sums of input bits.
#pragma once

#include "conjuncts.h"
#include "scope.h"
#include "semantics.h"

#include <bitset>

namespace sf {

/// Equations whose sides are, bit by bit, exclusive ors of input bits and a
/// constant, at least for the bits that pass a test on samples. The unknowns
/// are the input bits that change.
class XorSystem {
public:
  static constexpr size_t BytesMax = 64;

  XorSystem(Workbench &shared, const Scope &wanted) : bench(shared), scope(wanted) {}

  /// Evaluate the equations and keep their linear bits. Answers false when
  /// they are too large.
  bool sample(std::span<const Equation> wanted, const Condition &goal, size_t rowsMax);
  /// Add the bits of equation `index`. Answers false when one contradicts what
  /// was added before; the others are added all the same.
  bool add(size_t index);
  /// How many bits were added that say something.
  size_t rank() const { return pivots.size(); }
  /// Solution number `number`: 0 changes least, the others walk through the
  /// space of solutions. None when there are no more that are worth a try.
  std::optional<Assignment> solution(unsigned number, QueryRandom &random) const;

private:
  using Row = std::bitset<8 * BytesMax>;
  struct Pivot {
    size_t unknown;
    Row row; // no other row has its unknown
    bool wanted;
  };
  struct Sampled {
    Equation equation;
    uint64_t seed = 0;            // left xor right on the input
    uint64_t linear = 0;          // bits that pass the test
    std::vector<uint64_t> change; // by unknown
  };

  uint64_t difference(const Equation &equation, unsigned lane) const {
    return (valueIn(bench, equation.left, lane) ^ valueIn(bench, equation.right, lane)) >>
               equation.from &
           lowBits(equation.bits);
  }
  /// Low bits of all bytes come first: changing them keeps more of a text.
  size_t byteOf(size_t unknown) const { return unknown % scope.size(); }
  uint8_t bitOf(size_t unknown) const { return uint8_t(1u << (unknown / scope.size())); }
  void sampleUnknowns();
  void testSamples(const Condition &goal);
  bool addRow(Row row, bool wanted);

  Workbench &bench;
  const Scope &scope;
  std::vector<Sampled> sampled;
  std::vector<Pivot> pivots;
};

} // namespace sf
