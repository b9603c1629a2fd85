// Exercises: div, ldiv and imaxdiv
// Input: stdin; seed: 61*12
// Solution: 337efeff53f65c0700000000
#include "capability.h"

#include <inttypes.h>

int main(void) {
  unsigned char d[12] = {0};
  take(d, sizeof d);
  div_t first = div((int)load32(d), 1000);
  ldiv_t second = ldiv((long)load64(d + 4), 1009);
  imaxdiv_t third = imaxdiv(second.quot, 7);
  if (first.quot == -98 && first.rem == -765 && second.rem == 4 && third.quot == 17490 &&
      third.rem == 1)
    hit();
  return tell((unsigned long long)first.rem);
}
