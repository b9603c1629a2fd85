// Exercises: fields at odd addresses
// Input: stdin; seed: 41*7
// Solution: 415effd00dcefa
#include "capability.h"

struct __attribute__((packed)) header {
  uint8_t kind;
  uint32_t offset;
  uint16_t size;
};

int main(void) {
  struct header h = {0};
  take(&h, sizeof h);
  if (h.offset == 0x0dd0ff5e && h.size == 0xface)
    hit();
  return tell(h.offset);
}
