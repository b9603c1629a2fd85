// Exercises: a function of a system library that is opened at run time
// Input: stdin; seed: 41*4
// Solution: e40fd100
#include "capability.h"

#include <dlfcn.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  void *library = dlopen("libm.so.6", RTLD_NOW);
  if (!library)
    return 1;
  double (*power)(double, double);
  void *symbol = dlsym(library, "pow");
  if (!symbol)
    return 1;
  memcpy(&power, &symbol, sizeof power);
  double x = power(load32(d), 1.0);
  if (x > 0 && load32(d) == 0x00d10fe4)
    hit();
  return tell(x > 1.0);
}
