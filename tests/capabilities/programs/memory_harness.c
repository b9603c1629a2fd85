// Exercises: a harness with LLVMFuzzerTestOneInput
// Input: harness; seed: 41*8
// Solution: 46555a5a68726e73
#include "capability.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 8 && memcmp(data, "FUZZhrns", 8) == 0)
    hit();
  return 0;
}
