/* CRC-32 by table over a buffer. */
#include <stdint.h>
#include <stdio.h>

static uint32_t table[256];
static uint8_t data[1 << 16];

int main(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  for (uint32_t i = 0; i < sizeof data; i++)
    data[i] = (uint8_t)(i * 131u >> 3);
  uint32_t crc = 0xffffffffu;
  for (int round = 0; round < 1200; round++)
    for (uint32_t i = 0; i < sizeof data; i++)
      crc = table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
  printf("%08x\n", ~crc);
  return 0;
}
