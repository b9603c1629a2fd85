// Exercises: strrchr
// Input: stdin; seed: 41*12
// Solution: 412f412f 41*4 2f414141
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  const char *first = strchr(d, '/'), *last = strrchr(d, '/');
  if (last && last - d == 8 && first - d == 1)
    hit();
  return tell(last != NULL);
}
