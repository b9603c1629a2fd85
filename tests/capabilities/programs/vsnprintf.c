// Exercises: vsnprintf behind a variadic function
// Input: stdin; seed: 41*4
// Solution: e8030000
#include "capability.h"

#include <stdarg.h>

NOINLINE static void print(char *text, size_t room, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, room, format, list);
  va_end(list);
}

int main(void) {
  uint8_t d[4] = {0};
  char text[32];
  take(d, sizeof d);
  print(text, sizeof text, "n=%d;", (int)load32(d));
  if (strcmp(text, "n=1000;") == 0)
    hit();
  return tell(strlen(text));
}
