// Exercises: a table of strings: the pointer read, then the byte behind it
// Input: stdin; seed: 4141
// Solution: 0267
#include "capability.h"

static const char *const words[] = {"alpha", "beta", "gamma", "delta"};

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  if (d[0] > 3)
    return 1;
  const char *word = words[d[0]];
  if (word[0] == d[1] && word[1] == 'a' && word[4] == 'a' && word[2] == 'm')
    hit();
  return tell((unsigned char)word[0]);
}
