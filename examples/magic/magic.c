/* Six nested 32-bit comparisons, each over other arithmetic. A random input passes the first one
 * with probability 2^-32; a solver passes them one by one. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate_left(uint32_t value, unsigned bits) {
  return value << bits | value >> (32 - bits);
}

/* Says how many of the six comparisons hold before the first that does not. */
static int depth_of(const uint32_t word[6]) {
  if (word[0] != 0x53594d46u)
    return 0;
  if (word[1] + 0x01020304u != 0xcafef00du)
    return 1;
  if ((word[2] ^ word[0]) != 0x0badc0deu)
    return 2;
  if (word[3] * 3u != 0x24924923u)
    return 3;
  if (rotate_left(word[4], 7) - word[1] != 0x13579bdfu)
    return 4;
  if ((word[5] | 0x0f0f0f0fu) != 0x7f6f5f4fu)
    return 5;
  return 6;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  unsigned char bytes[24];
  uint32_t word[6];

  if (!file || fread(bytes, 1, sizeof bytes, file) != sizeof bytes) {
    puts("magic: expected 24 bytes");
    return 1;
  }
  memcpy(word, bytes, sizeof word); /* little-endian machines */

  int depth = depth_of(word);
  printf("magic: %d of 6\n", depth);
  if (depth == 6)
    *(volatile int *)0 = 0; /* the planted bug */
  return 0;
}
