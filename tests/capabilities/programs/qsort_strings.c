// Exercises: pointers to words that qsort puts in order with strcmp
// Input: stdin; seed: 41*4
// Solution: 6c6f6c69
#include "capability.h"

static int compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int main(void) {
  char d[4] = {0}, one[3] = {0}, two[3] = {0};
  take(d, sizeof d);
  memcpy(one, d, 2);
  memcpy(two, d + 2, 2);
  const char *words[] = {one, "lm", two};
  qsort(words, 3, sizeof *words, compare);
  if (words[0] == two && words[2] == one && one[0] == 'l' && two[0] == 'l')
    hit();
  return tell(words[1][0]);
}
