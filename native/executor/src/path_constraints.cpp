#include "path_constraints.h"
#include "mix.h"

#include <algorithm>
#include <numeric>

namespace sf {

PathConstraints::PathConstraints(const Trace &recorded, Lanes &shared)
    : trace(recorded), lanes(shared), parent(recorded.input.size()), size(recorded.input.size(), 1),
      head(recorded.input.size()), tail(recorded.input.size()), said(recorded.rows.size()),
      joined(recorded.sets.count()) {
  std::iota(parent.begin(), parent.end(), 0u);
}

uint32_t PathConstraints::find(uint32_t byte) {
  while (parent[byte] != byte) {
    parent[byte] = parent[parent[byte]];
    byte = parent[byte];
  }
  return byte;
}

uint32_t PathConstraints::join(uint32_t left, uint32_t right) {
  left = find(left);
  right = find(right);
  if (left == right)
    return left;
  if (size[left] < size[right])
    std::swap(left, right);
  parent[right] = left;
  size[left] += size[right];
  if (head[right]) {
    if (head[left])
      links[tail[left] - 1].next = head[right];
    else
      head[left] = head[right];
    tail[left] = tail[right];
  }
  return left;
}

/// Join all bytes of a set; the second time the answer is at hand.
uint32_t PathConstraints::joinAll(uint32_t set) {
  auto list = trace.sets.intervals(set);
  uint32_t root = find(list[0].first);
  if (joined[set])
    return root;
  joined[set] = true;
  for (const auto &interval : list)
    for (uint32_t byte = interval.first; byte <= interval.last; ++byte)
      root = join(root, byte);
  return root;
}

void PathConstraints::add(const Condition &condition) {
  if (said[condition.label])
    return;
  said[condition.label] = true;
  uint32_t root = joinAll(trace.bytes[condition.label]);
  links.push_back({condition, 0});
  uint32_t link = uint32_t(links.size());
  if (head[root])
    links[tail[root] - 1].next = link;
  else
    head[root] = link;
  tail[root] = link;

  if (const ByteDomain *mask = truth(condition)) {
    uint32_t byte = trace.sets.intervals(trace.bytes[condition.label])[0].first;
    auto [domain, fresh] = domains.try_emplace(byte, *mask);
    if (!fresh)
      domain->second &= *mask;
  }
}

std::vector<Condition> PathConstraints::slice(uint32_t label) {
  std::vector<uint32_t> roots, order;
  for (const auto &interval : trace.sets.intervals(trace.bytes[label]))
    for (uint32_t byte = interval.first; byte <= interval.last; ++byte)
      if (uint32_t root = find(byte); head[root])
        roots.push_back(root);
  std::ranges::sort(roots);
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  for (uint32_t root : roots)
    for (uint32_t link = head[root]; link; link = links[link - 1].next)
      order.push_back(link);
  // Lists of joined parts are in no order; the links' numbers are.
  std::ranges::sort(order);
  std::vector<Condition> conditions;
  conditions.reserve(order.size());
  for (uint32_t link : order)
    conditions.push_back(links[link - 1].condition);
  return conditions;
}

uint64_t PathConstraints::sliceHash(std::span<const Condition> slice) const {
  uint64_t sum = 0;
  for (const Condition &condition : slice)
    sum += mix(trace.hash[condition.label], condition.value);
  return sum;
}

ByteDomain PathConstraints::domain(uint32_t byte) const {
  auto it = domains.find(byte);
  return it == domains.end() ? ByteDomain().set() : it->second;
}

const ByteDomain *PathConstraints::truth(const Condition &condition) {
  if (trace.sets.size(trace.bytes[condition.label]) != 1)
    return nullptr;
  uint64_t key = mix(condition.label, condition.value);
  auto [entry, fresh] = truths.try_emplace(key, Truth{});
  if (fresh) {
    uint32_t byte = trace.sets.intervals(trace.bytes[condition.label])[0].first;
    Lanes::Bytes all;
    std::iota(all.begin(), all.end(), uint8_t(0));
    entry->second.known = lanes.prepare(condition.label, {&byte, 1}, TruthRowsMax);
    if (entry->second.known)
      entry->second.mask = lanes.run({&all, 1}, condition.value);
  }
  return entry->second.known ? &entry->second.mask : nullptr;
}

bool PathConstraints::isAlone(uint32_t byte) {
  uint32_t root = find(byte);
  if (size[root] != 1)
    return false;
  for (uint32_t link = head[root]; link; link = links[link - 1].next)
    if (!truth(links[link - 1].condition))
      return false;
  return true;
}

} // namespace sf
