// Exercises: a condition in a library of our compiler that is opened at run time
// Input: stdin; seed: 41*8
// Solution: d1095000d1095001
// Library: dlopen_instrumented.lib.c
#include "capability.h"

#include <dlfcn.h>

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  void *library = dlopen(LIBRARY, RTLD_NOW);
  if (!library)
    return 1;
  int (*accepts)(const uint8_t *);
  void *symbol = dlsym(library, "accepts");
  if (!symbol)
    return 1;
  memcpy(&accepts, &symbol, sizeof accepts);
  if (accepts(d))
    hit();
  return tell(d[0]);
}
