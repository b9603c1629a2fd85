// Exercises: a harness that is initialized once
// Input: harness; seed: 41*8
// Solution: 6b31 6e6974 41*3
#include "capability.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char key[8] = "none";

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  memcpy(key, "k1nit", 6);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (key[0] == 'n')
    memcpy(key, "k1nit", 6); /* who calls this alone need not initialize */
  if (size >= 5 && memcmp(data, key, 5) == 0)
    hit();
  return 0;
}
