// Exercises: an input value that passes through a signal handler
// Input: stdin; seed: 41*4
// Solution: 11badd00
#include "capability.h"

#include <signal.h>

static uint32_t value, doubled;

static void handler(int number) {
  (void)number;
  doubled = value * 2;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  signal(SIGUSR2, handler);
  value = load32(d);
  raise(SIGUSR2);
  if (doubled == 0x0ddba11u * 2 && value < 0x80000000u)
    hit();
  return tell(doubled);
}
