// Exercises: a condition inside a thread
// Input: stdin; seed: 41*4
// Solution: d5ea8774
#include "capability.h"

#include <pthread.h>

static void *body(void *p) {
  if ((load32(p) ^ 0x1234567) == (0x7487ead5 ^ 0x1234567))
    hit();
  return NULL;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  pthread_t t;
  if (pthread_create(&t, NULL, body, d) != 0)
    return 1;
  pthread_join(t, NULL);
  return tell(d[0]);
}
