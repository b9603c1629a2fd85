// Exercises: a half precision number, taken apart by hand
// Input: stdin; seed: 41*2
// Solution: 00c5
#include "capability.h"

#include <math.h>

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  uint16_t bits = load16(d);
  int exponent = bits >> 10 & 31;
  float x = ldexpf((float)(bits & 1023) / 1024.0f + (exponent ? 1.0f : 0.0f), exponent - 15);
  if (bits >> 15)
    x = -x;
  if (x == -5.0f)
    hit();
  return tell(x > 1.0f);
}
