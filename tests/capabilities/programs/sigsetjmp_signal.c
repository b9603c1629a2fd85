// Exercises: a signal handler that leaves by siglongjmp
// Input: stdin; seed: 41*4
// Solution: 4a675100
#include "capability.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;

static void handler(int number) { siglongjmp(back, number); }

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  signal(SIGUSR1, handler);
  volatile uint32_t x = load32(d);
  if (sigsetjmp(back, 1) == 0) {
    raise(SIGUSR1);
    return 1;
  }
  if (x == 0x51674a)
    hit();
  return tell(x);
}
