// Exercises: snprintf %s
// Input: stdin; seed: 41*6
// Solution: 666f726d6174
#include "capability.h"

int main(void) {
  char d[7], text[32];
  take_text(d, sizeof d);
  int length = snprintf(text, sizeof text, "[%s]", d);
  if (length == 8 && strcmp(text, "[format]") == 0)
    hit();
  return tell((unsigned)length);
}
