// Exercises: structs that qsort puts in order by an answer without branches
// Input: stdin; seed: 41*6
// Solution: 1e020a03
#include "capability.h"

struct item {
  uint8_t weight, name;
};

static int by_weight(const void *a, const void *b) {
  return ((const struct item *)a)->weight - ((const struct item *)b)->weight;
}

int main(void) {
  struct item items[3] = {{0, 0}, {0, 0}, {20, 9}};
  take(items, 4);
  qsort(items, 3, sizeof *items, by_weight);
  if (items[0].name == 3 && items[1].name == 9 && items[2].name == 2)
    hit();
  return tell(items[1].name);
}
