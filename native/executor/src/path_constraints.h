// The path so far, cut into parts that do not share input bytes.
#pragma once

#include "evaluator.h"
#include "lanes.h"
#include "trace.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sf {

/// Which values of one byte agree with all constraints on that byte alone.
using ByteDomain = Lanes::Mask;

/// Union-find over input bytes. Each constraint joins the bytes that it reads;
/// the slice of a goal is what was said about the bytes that are joined with
/// the goal's. Constraints that read a single byte are kept as a set of values
/// too, which decides most questions of parsers without any solver.
class PathConstraints {
public:
  PathConstraints(const Trace &trace, Lanes &lanes);

  /// Add what the path says; a label that was said already is skipped.
  void add(const Condition &condition);
  /// Tell whether the path fixes the value of this very label.
  bool isSaid(uint32_t label) const { return said[label]; }

  /// Conditions that share bytes with `label`, in the order of the path.
  std::vector<Condition> slice(uint32_t label);
  /// The sum of structural hashes of that slice.
  uint64_t sliceHash(std::span<const Condition> slice) const;

  /// Values of a byte that constraints on this byte alone allow.
  ByteDomain domain(uint32_t byte) const;
  /// Values of the only byte that `label` reads for which it has `value`.
  const ByteDomain *truth(const Condition &condition);
  /// Tell whether constraints on `byte` alone are all there is about it.
  bool isAlone(uint32_t byte);

private:
  /// Expressions over one byte with more rows than this are left to Z3.
  static constexpr size_t TruthRowsMax = 4096;

  uint32_t find(uint32_t byte);
  uint32_t join(uint32_t left, uint32_t right);
  uint32_t joinAll(uint32_t set);

  const Trace &trace;
  Lanes &lanes;
  struct Link {
    Condition condition;
    uint32_t next; // index + 1 in links; 0 ends the list
  };
  std::vector<Link> links;
  std::vector<uint32_t> parent;
  std::vector<uint32_t> size;
  std::vector<uint32_t> head, tail; // of a root's list; index + 1 in links
  std::vector<bool> said;           // labels
  std::vector<bool> joined;         // byte sets
  std::unordered_map<uint32_t, ByteDomain> domains;
  struct Truth {
    bool known;
    ByteDomain mask;
  };
  std::unordered_map<uint64_t, Truth> truths;
};

} // namespace sf
