// Exercises: a field of a table of structs
// Input: stdin; seed: 41
// Solution: 06
#include "capability.h"

struct entry {
  uint32_t key;
  uint8_t flags;
  uint64_t value;
};
static const struct entry entries[8] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9},           {1, 1, 1},
                                        {2, 2, 2}, {3, 3, 3}, {99, 1, 0xfeedface}, {0, 0, 0}};

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  if (d[0] > 7)
    return 1;
  if (entries[d[0]].value == 0xfeedface)
    hit();
  return tell(entries[d[0]].value);
}
