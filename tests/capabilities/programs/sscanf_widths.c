// Exercises: sscanf with widths, a skipped field and small variables
// Input: stdin; seed: 41*10
// Solution: 323032343032 32 2d3235
#include "capability.h"

int main(void) {
  char d[11];
  take_text(d, sizeof d);
  int year = 0;
  short month = 0;
  signed char day = 0;
  if (sscanf(d, "%4d%2hd%*1d%hhd", &year, &month, &day) == 3 && year == 2024 && month == 2 &&
      day == -25)
    hit();
  return tell((unsigned)year);
}
