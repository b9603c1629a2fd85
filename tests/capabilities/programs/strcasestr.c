// Exercises: strcasestr
// Input: stdin; seed: 41*16
// Solution: 41416368756e6b4544 41*7
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  const char *at = strcasestr(d, "ChUnKed");
  if (at && at[5] == 'E')
    hit();
  return tell(at != NULL);
}
