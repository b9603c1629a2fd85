// Exercises: strcpy, which ends at the first zero
// Input: stdin; seed: 41*8
// Solution: 636f707900414141
#include "capability.h"

int main(void) {
  char d[9], to[16] = "xxxxxxxxxxxxxxx";
  take_text(d, sizeof d);
  strcpy(to, d);
  if (load32(to) == 0x79706f63 && to[4] == 0 && to[5] == 'x')
    hit();
  return tell((unsigned char)to[5]);
}
