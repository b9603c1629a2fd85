// Exercises: a thread that computes with its argument
// Input: stdin; seed: 41*4
// Solution: 11*4
#include "capability.h"

#include <pthread.h>

static void *body(void *p) {
  uint32_t *x = p;
  *x = *x * 7 + 1;
  return NULL;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  pthread_t t;
  if (pthread_create(&t, NULL, body, &x) != 0)
    return 1;
  pthread_join(t, NULL);
  if (x == 0x77777778)
    hit();
  return tell(x);
}
