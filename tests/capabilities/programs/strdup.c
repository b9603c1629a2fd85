// Exercises: strdup
// Input: stdin; seed: 41*8
// Solution: 616761696e004141
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  char *copy = strdup(d);
  if (!copy)
    return 1;
  if (strcmp(copy, "again") == 0)
    hit();
  int status = tell((unsigned char)copy[0]);
  free(copy);
  return status;
}
