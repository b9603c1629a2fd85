// Exercises: a length in the input that says where the next field is
// Input: stdin; seed: 41*16
// Solution: 09 42*9 21 41*5
#include "capability.h"

int main(void) {
  uint8_t d[64] = {0};
  size_t size = take(d, sizeof d);
  size_t length = d[0];
  if (length + 1 >= size || length < 9)
    return 1;
  if (d[1 + length] == '!')
    hit();
  return tell(length);
}
