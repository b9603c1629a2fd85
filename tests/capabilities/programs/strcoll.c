// Exercises: strcoll of a word
// Input: stdin; seed: 61*6
// Solution: 6b6977690a
#include "capability.h"

int main(void) {
  char d[16];
  if (!fgets(d, sizeof d, stdin))
    return 1;
  d[strcspn(d, "\n")] = 0;
  if (strcoll(d, "kiwi") == 0)
    hit();
  return tell(strlen(d));
}
