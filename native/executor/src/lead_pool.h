// Candidates that nobody has looked behind, kept over executions.
#pragma once

#include "sha256.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sf {

/// A candidate as a place to search from.
struct Lead {
  std::vector<uint8_t> input;
  Digest digest{};
  uint64_t context = 0; // of the goal that it met
  /// Its first goal that its parent's path did not have (generational search:
  /// Godefroid, Levin, Molnar, NDSS 2008). Goals before that were the parent's.
  uint64_t bound = 0;
  /// Bytes that had to change together to meet that goal; a guess counts as one.
  uint32_t changed = 1;
};

/// Theory of operation. New edges alone end a search too early: what brings
/// none now may stand one step before what does, and which of several ways to
/// an edge came first depends on the order of results. So when the campaign
/// has nothing better to do, candidates are followed whatever they showed. Each
/// walk over a branch has a context (search.h); a candidate's rank is how many
/// of its context came before it, so that what is new comes first and nothing
/// is excluded: a finite tree of paths is walked to its end. Of one rank, those
/// come first for which most bytes had to fit: a whole word or number is what
/// chance does not meet, so that the way behind it is the least walked, whereas
/// one byte more or less is soon met by others.
class LeadPool {
public:
  /// Answers whether this input is looked behind for the first time here.
  bool enter(const Digest &digest);
  /// Keep a lead unless its bytes were here before.
  void push(Lead lead);
  /// The best one; none when all are followed.
  std::optional<Lead> pop();
  /// Keep the rest of a lead whose search was cut off.
  void pushAgain(Lead lead);
  /// Whether everything was followed. A pool that is empty after something was
  /// let go for want of space begins anew.
  bool isExhausted();

private:
  static constexpr size_t EntriesMax = 1u << 20;
  static constexpr size_t BytesMax = 64u << 20;

  static constexpr uint32_t ChangedMax = 8; // more of them are no better

  using Place = std::tuple<uint32_t, uint32_t, uint64_t>; // rank, bytes missing, age
  std::map<Place, Lead> waiting;
  std::unordered_map<uint64_t, uint32_t> ranks; // by context
  std::unordered_set<uint64_t> entered;         // heads of digests
  uint64_t age = 0;
  size_t bytes = 0;
  bool lossy = false;
};

} // namespace sf
