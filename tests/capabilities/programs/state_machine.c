// Exercises: a state machine over characters
// Input: stdin; seed: 41*5
// Solution: 2f2a782a2f
#include "capability.h"

int main(void) {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  unsigned state = 0;
  for (unsigned i = 0; i < sizeof d; i++) {
    switch (state) {
    case 0:
      state = d[i] == '/' ? 1 : 0;
      break;
    case 1:
      state = d[i] == '*' ? 2 : 0;
      break;
    case 2:
      state = d[i] == '*' ? 3 : 2;
      break;
    case 3:
      state = d[i] == '/' ? 4 : d[i] == '*' ? 3 : 2;
      break;
    default:
      break;
    }
  }
  if (state == 4)
    hit();
  return tell(state);
}
