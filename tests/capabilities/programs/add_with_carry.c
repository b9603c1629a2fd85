// Exercises: the add-with-carry intrinsic that big numbers use
// Input: stdin; seed: 41*16
// Solution: ff*8 0500000000000000
#include "capability.h"

#include <immintrin.h>

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  unsigned long long low, high;
  unsigned char carry = _addcarry_u64(0, load64(d), 3, &low);
  carry = _addcarry_u64(carry, load64(d + 8), 7, &high);
  if (low == 2 && high == 13 && !carry)
    hit();
  return tell(low ^ high);
}
