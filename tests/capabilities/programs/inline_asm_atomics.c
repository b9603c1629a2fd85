// Exercises: inline assembly: xadd, cmpxchg, xchg and a locked counter, on memory
// Input: stdin; seed: 41*16
// Solution: 0500000007000000 0900000001000000
#include "capability.h"

static uint32_t fetch_and_add(uint32_t *at, uint32_t by) {
  __asm__ volatile("lock; xaddl %0, %1" : "+r"(by), "+m"(*at) : : "memory", "cc");
  return by;
}

static uint32_t compare_and_swap(uint32_t *at, uint32_t wanted, uint32_t now) {
  uint32_t held;
  __asm__ volatile("lock; cmpxchgl %2, %1"
                   : "=a"(held), "+m"(*at)
                   : "r"(now), "0"(wanted)
                   : "memory", "cc");
  return held;
}

static uint32_t swap(uint32_t *at, uint32_t now) {
  __asm__ volatile("xchgl %0, %1" : "+r"(now), "+m"(*at) : : "memory");
  return now;
}

static int drop(uint32_t *counter) {
  unsigned char last;
  __asm__ volatile("lock; decl %0\n\tsete %1" : "+m"(*counter), "=qm"(last) : : "memory", "cc");
  return last;
}

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  uint32_t sum = 100, lock = 7, place = load32(d + 8), users = load32(d + 12);
  uint32_t before = fetch_and_add(&sum, load32(d));
  uint32_t held = compare_and_swap(&lock, load32(d + 4), 1);
  uint32_t old = swap(&place, 3);
  if (before == 100 && sum == 105 && held == 7 && lock == 1 && old == 9 && place == 3 &&
      drop(&users))
    hit();
  return tell(sum ^ lock ^ old);
}
