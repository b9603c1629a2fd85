// Exercises: the difference of two pointers that a scan has found
// Input: stdin; seed: 41*16
// Solution: 4141413c 41*6 3e 41*5
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  const char *open = d, *close;
  while (*open && *open != '<')
    open++;
  close = open;
  while (*close && *close != '>')
    close++;
  if (*close == '>' && close - open == 7)
    hit();
  return tell((unsigned long long)(close - open));
}
