// Exercises: input that is read before main
// Input: stdin; seed: 41*4
// Solution: 277a050c
#include "capability.h"

static uint8_t d[4];

__attribute__((constructor)) static void read_early(void) {
  if (read(0, d, sizeof d) < 0)
    exit(1);
}

int main(void) {
  if (load32(d) == 0xc057a27)
    hit();
  return tell(d[0]);
}
