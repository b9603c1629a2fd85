// Exercises: a comparison function that bsearch calls
// Input: stdin; seed: 4141
// Solution: 581b
#include "capability.h"

static const uint16_t known[] = {3, 77, 500, 4000, 7000, 9100, 20000, 40000};

static int compare(const void *key, const void *member) {
  uint16_t a = *(const uint16_t *)key, b = *(const uint16_t *)member;
  return a < b ? -1 : a > b;
}

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  uint16_t key = load16(d);
  const uint16_t *found = bsearch(&key, known, sizeof known / 2, 2, compare);
  if (found == known + 4)
    hit();
  return tell(found ? (unsigned)(found - known) : 99);
}
