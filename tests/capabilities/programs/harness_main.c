/* Hands standard input to a harness, as a fuzzing engine does: for builds without an engine. */
#include "capability.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(void) {
  static uint8_t data[1 << 16];
  return LLVMFuzzerTestOneInput(data, take(data, sizeof data));
}
