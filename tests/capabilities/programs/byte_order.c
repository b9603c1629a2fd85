// Exercises: ntohl, ntohs, be64toh
// Input: stdin; seed: 41*14
// Solution: 0102030400500a0b0c0d0e0f1011
#include "capability.h"

#include <arpa/inet.h>
#include <endian.h>

int main(void) {
  uint8_t d[14] = {0};
  take(d, sizeof d);
  if (ntohl(load32(d)) == 0x01020304 && htons(load16(d + 4)) == 80 &&
      be64toh(load64(d + 6)) == 0x0a0b0c0d0e0f1011u)
    hit();
  return tell(ntohl(load32(d)));
}
