// Exercises: standard input without a buffer, then with one of the program
// Input: stdin; seed: 41*8
// Solution: 41*4 756e6266
#include "capability.h"

int main(void) {
  static char room[64];
  uint8_t d[8] = {0};
  setvbuf(stdin, room, _IOFBF, sizeof room);
  size_t size = fread(d, 1, 3, stdin);
  size += fread(d + 3, 1, 5, stdin);
  if (load32(d + 4) == 0x66626e75)
    hit();
  return tell(size);
}
