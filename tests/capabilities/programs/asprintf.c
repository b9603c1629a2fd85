// Exercises: asprintf of a word and a number
// Input: stdin; seed: 41*5
// Solution: 6b6579 00 c8
#include "capability.h"

int main(void) {
  char d[6] = "", *text = NULL;
  take_text(d, sizeof d);
  if (asprintf(&text, "%s:%hhu", d, (unsigned char)d[4]) < 0)
    return 1;
  if (strcmp(text, "key:200") == 0)
    hit();
  size_t length = strlen(text);
  free(text);
  return tell(length);
}
