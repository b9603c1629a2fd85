// Exercises: strspn
// Input: stdin; seed: 41*10
// Solution: 30313233343536414141
#include "capability.h"

int main(void) {
  char d[11];
  take_text(d, sizeof d);
  size_t x = strspn(d, "0123456789");
  if (x == 7)
    hit();
  return tell(x);
}
