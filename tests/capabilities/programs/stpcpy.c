// Exercises: stpcpy and stpncpy
// Input: stdin; seed: 41*6
// Solution: 7374 00 414141
#include "capability.h"

int main(void) {
  char d[7], to[16] = "";
  take_text(d, sizeof d);
  char *end = stpcpy(to, d);
  end = stpncpy(end, "-pc", 4);
  if (end - to == 5 && strcmp(to, "st-pc") == 0)
    hit();
  return tell((unsigned)(end - to));
}
