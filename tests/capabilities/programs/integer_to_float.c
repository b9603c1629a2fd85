// Exercises: a float that is computed from bytes and compared with others
// Input: stdin; seed: 41*4
// Solution: 1407c801
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  float width = d[0], height = d[1], depth = load16(d + 2);
  if (width * height == 140.0f && width > height * 2 && depth / 2 == 228.0f)
    hit();
  return tell(width > height);
}
