// Exercises: strncpy, which fills with zeros
// Input: stdin; seed: 41*8
// Solution: 6e70616400414141
#include "capability.h"

int main(void) {
  char d[9], to[10] = "zzzzzzzzz";
  take_text(d, sizeof d);
  strncpy(to, d, 7);
  if (to[0] == 'n' && to[3] == 'd' && to[4] == 0 && to[6] == 0 && to[7] == 'z')
    hit();
  return tell((unsigned char)to[6]);
}
