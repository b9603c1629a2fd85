// Exercises: strtok_r
// Input: stdin; seed: 41*12
// Solution: 6b3d7600 41*8
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  char *rest = NULL;
  const char *key = strtok_r(d, "=", &rest), *value = strtok_r(NULL, "=", &rest);
  if (key && value && strcmp(key, "k") == 0 && strcmp(value, "v") == 0)
    hit();
  return tell((key != NULL) + (value != NULL) * 2u);
}
