// Exercises: records that each tell their size
// Input: file; seed: 41*12
// Solution: 030041414102004242ff7f
#include "capability.h"

int main(int argc, char **argv) {
  static uint8_t room[65536];
  FILE *f = fopen(path_of(argc, argv), "r");
  unsigned records = 0;
  uint16_t size;
  if (!f)
    return 1;
  while (fread(&size, sizeof size, 1, f) == 1) {
    if (size == 0x7fff && records == 2)
      hit();
    if (fread(room, 1, size, f) != size)
      break;
    records++;
  }
  return tell(records);
}
