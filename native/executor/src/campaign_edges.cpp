#include "campaign_edges.h"

#include <array>
#include <cstring>

namespace sf {
namespace {

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> table{};
  for (unsigned count = 1; count < 256; ++count)
    table[count] = count < 4     ? uint8_t(count - 1)
                   : count < 8   ? 3
                   : count < 16  ? 4
                   : count < 32  ? 5
                   : count < 128 ? 6
                                 : 7;
  return table;
}
constexpr std::array<uint8_t, 256> ClassOf = makeClasses();

} // namespace

Edges edgesOf(std::span<const uint8_t> counters) {
  Edges edges;
  for (size_t i = 0; i < counters.size();) {
    uint64_t word = 0;
    if (i % 8 == 0 && i + 8 <= counters.size()) {
      std::memcpy(&word, counters.data() + i, 8);
      if (word == 0) {
        i += 8; // most of the map is empty
        continue;
      }
    }
    if (counters[i])
      edges.push_back(uint32_t(i * 8 + ClassOf[counters[i]]));
    ++i;
  }
  return edges;
}

Edges stableEdges(const Edges &first, const Edges &second, uint32_t &differing) {
  Edges both;
  size_t i = 0, j = 0;
  while (i < first.size() && j < second.size()) {
    if (first[i] == second[j]) {
      both.push_back(first[i]);
      ++i, ++j;
    } else if (first[i] < second[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  differing = uint32_t(first.size() + second.size() - 2 * both.size());
  return both;
}

bool CampaignEdges::hasNew(const Edges &edges) const {
  for (uint32_t edge : edges)
    if (edge / 8 >= classes.size() || !(classes[edge / 8] & 1u << edge % 8))
      return true;
  return false;
}

bool CampaignEdges::add(std::span<const uint32_t> edges) {
  bool any = false;
  for (uint32_t edge : edges) {
    if (edge / 8 >= classes.size())
      classes.resize(edge / 8 + 1);
    uint8_t bit = uint8_t(1u << edge % 8);
    any |= !(classes[edge / 8] & bit);
    classes[edge / 8] |= bit;
  }
  return any;
}

} // namespace sf
