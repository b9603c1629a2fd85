// Edge coverage: of one run, and everything that is known so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sf {

/// Edges of a run: edge index * 8 + AFL class of the hit count, ascending.
using Edges = std::vector<uint32_t>;

/// The edges behind raw counters.
Edges edgesOf(std::span<const uint8_t> counters);

/// Edges in both; `differing` counts those in only one of them.
Edges stableEdges(const Edges &first, const Edges &second, uint32_t &differing);

/// Edges that the campaign or this process has seen.
class CampaignEdges {
public:
  bool hasNew(const Edges &edges) const;
  /// Answers whether any was new.
  bool add(std::span<const uint32_t> edges);

private:
  std::vector<uint8_t> classes; // one bit for each class of an edge
};

} // namespace sf
