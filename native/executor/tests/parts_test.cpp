// Byte sets, slices, coverage classes, digests.
#include "byte_sets.h"
#include "campaign_edges.h"
#include "check.h"
#include "lead_pool.h"
#include "path_constraints.h"
#include "selftest.h"
#include "sha256.h"

#include <set>
#include <string>
#include <string_view>

using namespace sf;
using namespace sf::test;

namespace {

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

std::set<uint32_t> membersOf(const ByteSets &sets, uint32_t set) {
  std::vector<uint32_t> list = sets.offsets(set, 1000);
  return {list.begin(), list.end()};
}

} // namespace

TEST_CASE(digestsAreThoseOfTheStandard) {
  CHECK_EQUAL(toHex(sha256(bytesOf("abc"))),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_EQUAL(toHex(sha256(bytesOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE(byteSetsAreUnions) {
  Random random(31);
  ByteSets sets;
  std::vector<std::pair<uint32_t, std::set<uint32_t>>> made = {{0, {}}};
  for (int i = 0; i < 300; ++i) {
    uint32_t first = uint32_t(random.below(60)), last = first + uint32_t(random.below(3));
    uint32_t set = sets.interval(first, last);
    std::set<uint32_t> members;
    for (uint32_t byte = first; byte <= last; ++byte)
      members.insert(byte);
    auto other = made[random.below(made.size())];
    members.insert(other.second.begin(), other.second.end());
    set = sets.unite(set, other.first);
    CHECK(membersOf(sets, set) == members);
    CHECK_EQUAL(sets.size(set), members.size());
    for (uint32_t byte = 0; byte < 64; ++byte)
      CHECK_EQUAL(sets.contains(set, byte), members.contains(byte));
    made.emplace_back(set, members);
  }
  // Equal sets have equal numbers.
  for (const auto &[set, members] : made)
    for (const auto &[otherSet, otherMembers] : made)
      CHECK_EQUAL(set == otherSet, members == otherMembers);
}

TEST_CASE(scatteredSetsStaySmallAndNameAllTheirBytes) {
  ByteSets sets;
  uint32_t set = 0;
  for (uint32_t i = 0; i < 1000; ++i)
    set = sets.unite(set, sets.interval(3 * i, 3 * i));
  CHECK(sets.intervals(set).size() <= ByteSets::IntervalsMax);
  for (uint32_t i = 0; i < 1000; ++i)
    CHECK(sets.contains(set, 3 * i));
}

TEST_CASE(slicesHoldWhatSharesBytes) {
  RawTable table;
  table.rows.push_back({});
  auto add = [&](uint8_t op, unsigned bits, unsigned aux, uint32_t a, uint32_t b, uint64_t k) {
    table.rows.push_back({op, uint8_t(bits), uint16_t(aux), a, b, 0, k});
    return uint32_t(table.rows.size() - 1);
  };
  std::vector<uint32_t> byte;
  for (uint32_t i = 0; i < 4; ++i)
    byte.push_back(add(SF_OP_INPUT, 8, 0, 0, 0, i));
  uint32_t below0 = add(SF_OP_ULT, 1, 8, byte[0], 0, 9);
  uint32_t below1 = add(SF_OP_ULT, 1, 8, byte[1], 0, 9);
  uint32_t joins12 = add(SF_OP_EQ, 1, 8, byte[1], byte[2], 0);
  uint32_t goal2 = add(SF_OP_EQ, 1, 8, byte[2], 0, 3);
  uint32_t goal3 = add(SF_OP_EQ, 1, 8, byte[3], 0, 3);
  Trace trace(table, {0, 0, 0, 0});
  Lanes lanes(trace);
  PathConstraints path(trace, lanes);
  for (uint32_t label : {below0, below1, joins12, below1})
    path.add({label, 1});
  auto labels = [&](uint32_t goal) {
    std::vector<uint32_t> list;
    for (const Condition &condition : path.slice(goal))
      list.push_back(condition.label);
    return list;
  };
  CHECK(labels(goal2) == (std::vector<uint32_t>{below1, joins12}));
  CHECK(labels(goal3).empty());
  CHECK_EQUAL(path.domain(0).count(), 9u);
  CHECK_EQUAL(path.domain(2).count(), 256u);
}

TEST_CASE(edgesHaveTheClassesOfAfl) {
  std::vector<uint8_t> counters(20);
  const uint8_t counts[] = {1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 255};
  const uint32_t classes[] = {0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
  for (size_t i = 0; i < std::size(counts); ++i)
    counters[i + 3] = counts[i];
  Edges edges = edgesOf(counters);
  CHECK_EQUAL(edges.size(), std::size(counts));
  for (size_t i = 0; i < edges.size(); ++i)
    CHECK_EQUAL(edges[i], (i + 3) * 8 + classes[i]);
}

TEST_CASE(onlyEdgesOfBothRunsAreStable) {
  uint32_t differing = 0;
  CHECK(stableEdges({1, 5, 9}, {1, 6, 9, 12}, differing) == (Edges{1, 9}));
  CHECK_EQUAL(differing, 3u);
  CampaignEdges campaign;
  CHECK(campaign.add(Edges{1, 9}));
  CHECK(!campaign.hasNew({1, 9}));
  CHECK(campaign.hasNew({1, 10}));
  CHECK(!campaign.add(Edges{9}));
}

TEST_CASE(selftestIsContent) { CHECK_EQUAL(selftest(), ""); }

TEST_CASE(leadsThatHadToFitInMostBytesComeFirst) {
  LeadPool pool;
  auto push = [&](const char *input, uint64_t context, uint32_t changed) {
    const auto bytes = bytesOf(input);
    pool.push({{bytes.begin(), bytes.end()}, sha256(bytes), context, 0, changed});
  };
  push("a byte", 1, 1);
  push("a word", 2, 4);
  push("a context that was there", 2, 8);
  push("a text", 3, 100);
  push("a title", 4, 8); // no better than the text
  std::string order;
  while (auto lead = pool.pop())
    order += std::string(lead->input.begin(), lead->input.end()) + ";";
  CHECK_EQUAL(order, "a text;a title;a word;a byte;a context that was there;");
}
