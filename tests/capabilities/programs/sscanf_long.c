// Exercises: sscanf %ld and %lx after literal text
// Input: stdin; seed: 41*30
// Solution: 69643d2d39303030303030303030302c20666c6167733d666666663030303031 0a
#include "capability.h"

int main(void) {
  char d[40];
  take_text(d, sizeof d);
  long id = 0;
  unsigned long flags = 0;
  if (sscanf(d, "id=%ld, flags=%lx", &id, &flags) == 2 && id == -90000000000 &&
      flags == 0xffff00001)
    hit();
  return tell((unsigned long)id);
}
