// Exercises: gmtime of seconds
// Input: stdin; seed: 41*4
// Solution: f079e065
#include "capability.h"

#include <time.h>

int main(void) {
  uint32_t seconds = 0;
  take(&seconds, sizeof seconds);
  time_t t = seconds;
  struct tm *date = gmtime(&t);
  if (date->tm_mon == 1 && date->tm_mday == 29 && date->tm_hour == 12)
    hit();
  return tell((unsigned)date->tm_year);
}
