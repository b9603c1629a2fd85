// Exercises: a harness whose condition is on the length
// Input: harness; seed: 41*4
// Solution: 41*17
#include "capability.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 17 && data[16] == data[0])
    hit();
  return 0;
}
