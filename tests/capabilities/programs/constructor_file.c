// Exercises: a file that a constructor opens
// Input: file; seed: 41*6
// Solution: 637466696c65
#include "capability.h"

static uint8_t d[6];

__attribute__((constructor)) static void read_early(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || fread(d, 1, sizeof d, f) == 0)
    d[0] = 0;
}

int main(void) {
  if (memcmp(d, "ctfile", 6) == 0)
    hit();
  return tell(d[0]);
}
