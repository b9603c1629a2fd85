// Exercises: a struct of a double and an integer that is passed and returned, and one in memory
// Input: stdin; seed: 41*16
// Solution: 00*6 1440 0700000000000000
#include "capability.h"

struct pair {
  double x;
  int64_t n;
};
struct large {
  double x[4];
};

static NOINLINE struct pair swap(struct pair p) { return (struct pair){(double)p.n, (int64_t)p.x}; }
static NOINLINE struct large spread(struct pair p) {
  return (struct large){{p.x, p.x + 1, p.x * 2, -p.x}};
}

int main(void) {
  struct pair p = {0, 0};
  take(&p, sizeof p);
  if (!(p.x > -1e9 && p.x < 1e9 && p.n > -1000000 && p.n < 1000000))
    return 1;
  struct pair q = swap(p);
  struct large l = spread(q);
  if (q.n == 5 && l.x[1] == 8.0 && l.x[3] == -7.0)
    hit();
  return tell((uint64_t)q.n);
}
