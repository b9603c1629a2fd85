// Exercises: timegm of the fields of a date
// Input: stdin; seed: 700101000000
// Solution: 630611030405
#include "capability.h"

#include <time.h>

int main(void) {
  unsigned char d[6] = {0};
  take(d, sizeof d);
  struct tm date = {.tm_year = d[0],
                    .tm_mon = d[1] - 1,
                    .tm_mday = d[2],
                    .tm_hour = d[3],
                    .tm_min = d[4],
                    .tm_sec = d[5]};
  time_t t = timegm(&date);
  if (t == 929588645)
    hit();
  return tell((unsigned long long)t);
}
