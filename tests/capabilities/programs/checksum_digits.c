// Exercises: a number whose last digit checks the others, doubled by turns
// Input: stdin; seed: 30*8
// Solution: 3337383238323433
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  unsigned sum = 0, number = 0;
  for (unsigned i = 0; i < sizeof d; i++) {
    unsigned digit = d[i] - '0';
    if (digit > 9)
      return 1;
    number = number * 10 + digit;
    sum += i % 2 ? digit : 2 * digit % 10 + digit / 5;
  }
  if (sum % 10 == 2 && number / 10 == 3782824)
    hit();
  return tell(number);
}
