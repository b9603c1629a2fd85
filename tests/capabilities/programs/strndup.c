// Exercises: strndup
// Input: stdin; seed: 41*8
// Solution: 70617274 41*4
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  char *copy = strndup(d, 4);
  if (!copy)
    return 1;
  if (load32(copy) == 0x74726170 && copy[4] == 0)
    hit();
  int status = tell((unsigned char)copy[0]);
  free(copy);
  return status;
}
