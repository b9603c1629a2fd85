// Exercises: std::priority_queue and std::deque
// Input: stdin; seed: 41*5
// Solution: 03c832075a
#include "capability.h"

#include <deque>
#include <queue>

int main() {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  std::priority_queue<uint8_t, std::deque<uint8_t>> q;
  for (uint8_t x : d)
    q.push(x);
  unsigned all = 0;
  for (; !q.empty(); q.pop())
    all = all * 5 + q.top();
  if (all == (((200u * 5 + 90) * 5 + 50) * 5 + 7) * 5 + 3)
    hit();
  return tell(all);
}
