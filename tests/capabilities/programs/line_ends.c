// Exercises: a word that is compared after a loop has looked for its end
// Input: stdin; seed: 41*12
// Solution: 6f70656e3a776974683d3b41
#include "capability.h"

static NOINLINE unsigned until(const char *at, char end) {
  unsigned length = 0;
  while (at[length] && at[length] != end)
    length++;
  return length;
}

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  unsigned word = until(d, ':');
  if (memcmp(d, "open:", 5) != 0 || d[word] == 0)
    return tell(word);
  unsigned value = until(d + word + 1, '=');
  if (value == 4 && memcmp(d + word + 1, "with=;", 6) == 0)
    hit();
  return tell(word * 16 + value);
}
