// Exercises: sscanf %s
// Input: stdin; seed: 41*12
// Solution: 7573657220726f6f74204141
#include "capability.h"

int main(void) {
  char d[13], name[13] = "";
  take_text(d, sizeof d);
  if (sscanf(d, "user %12s", name) == 1 && strcmp(name, "root") == 0)
    hit();
  return tell(strlen(name));
}
