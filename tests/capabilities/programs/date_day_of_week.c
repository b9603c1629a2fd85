// Exercises: gmtime_r of seconds, day of the week and of the year
// Input: stdin; seed: 41*4
// Solution: 613f6c38
#include "capability.h"

#include <time.h>

int main(void) {
  uint32_t seconds = 0;
  take(&seconds, sizeof seconds);
  time_t t = seconds;
  struct tm date;
  gmtime_r(&t, &date);
  if (date.tm_wday == 5 && date.tm_yday == 364 && date.tm_year == 99 && date.tm_min == 30)
    hit();
  return tell((unsigned)date.tm_wday);
}
