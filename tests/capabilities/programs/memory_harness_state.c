// Exercises: a harness that keeps state, which must not reach the next input
// Input: harness; seed: 41*4
// Solution: 73746174
#include "capability.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned calls;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (calls++ > 0)
    abort();
  if (size >= 4 && load32(data) == 0x74617473)
    hit();
  return 0;
}
