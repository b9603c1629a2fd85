#include "lead_pool.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace sf {

bool LeadPool::enter(const Digest &digest) {
  if (entered.size() >= EntriesMax) {
    entered.clear(); // the walk repeats itself
  }
  uint64_t head;
  std::memcpy(&head, digest.data(), sizeof head);
  return entered.insert(head).second;
}

void LeadPool::push(Lead lead) {
  if (enter(lead.digest))
    pushAgain(std::move(lead));
}

void LeadPool::pushAgain(Lead lead) {
  if (ranks.size() >= EntriesMax)
    ranks.clear();
  bytes += lead.input.size() + sizeof lead;
  Place place(ranks[lead.context]++, ChangedMax - std::min(lead.changed, ChangedMax), age++);
  waiting.emplace(place, std::move(lead));
  while (bytes > BytesMax) {
    auto last = std::prev(waiting.end());
    bytes -= last->second.input.size() + sizeof(Lead);
    waiting.erase(last);
    lossy = true;
  }
}

std::optional<Lead> LeadPool::pop() {
  if (waiting.empty())
    return std::nullopt;
  auto first = waiting.begin();
  Lead lead = std::move(first->second);
  waiting.erase(first);
  bytes -= lead.input.size() + sizeof lead;
  return lead;
}

bool LeadPool::isExhausted() {
  if (!waiting.empty())
    return false;
  bool all = !lossy;
  if (lossy)
    entered.clear();
  lossy = false;
  return all;
}

} // namespace sf
