// Exercises: CRC-32 over four bytes with a table that the program computes
// Input: stdin; seed: 41*4
// Solution: 1234abcd
#include "capability.h"

static uint32_t table[256];

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t x = i;
    for (unsigned k = 0; k < 8; k++)
      x = x >> 1 ^ (0xedb88320u & -(x & 1));
    table[i] = x;
  }
  uint32_t crc = 0xffffffffu;
  for (unsigned i = 0; i < sizeof d; i++)
    crc = table[(crc ^ d[i]) & 0xff] ^ crc >> 8;
  crc = ~crc;
  if (crc == 0x5010d66bu)
    hit();
  return tell(crc);
}
