// Exercises: an index that the program lets run one past the heap object
// Input: stdin; seed: 4141
// Solution: 5802
#include "capability.h"

struct record {
  uint8_t name[600];
  uint8_t privileged;
};

static NOINLINE void set(uint8_t *name, unsigned index) { name[index] = 1; }

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  struct record *r = calloc(1, sizeof *r);
  unsigned index = load16(d);
  if (!r || index > 600)
    return 1;
  set((uint8_t *)r, index);
  if (r->privileged)
    hit();
  free(r);
  return tell(index);
}
