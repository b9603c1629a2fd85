// Exercises: a function that is handed to another with its data
// Input: stdin; seed: 41*4
// Solution: e7110000
#include "capability.h"

struct request {
  uint32_t (*answer)(uint32_t, void *);
  void *with;
};

static uint32_t plus(uint32_t x, void *with) { return x + *(uint32_t *)with; }

static NOINLINE uint32_t serve(const struct request *r, uint32_t x) {
  return r->answer(x, r->with);
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t addend = 77;
  struct request r = {plus, &addend};
  uint32_t x = serve(&r, load32(d));
  if (x == 0x1234)
    hit();
  return tell(x);
}
