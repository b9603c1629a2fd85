// Exercises: a struct of floats that is passed and returned in vector registers
// Input: stdin; seed: 41*8
// Solution: 00002040000000c1
#include "capability.h"

struct point {
  float x, y;
};

static NOINLINE struct point turn(struct point p) { return (struct point){-p.y, p.x}; }

int main(void) {
  struct point p = {0, 0};
  take(&p, sizeof p);
  struct point q = turn(p);
  if (q.x == 8.0f && q.y == 2.5f)
    hit();
  return tell(q.x < q.y);
}
