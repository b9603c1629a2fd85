// Exercises: thread-specific data that holds a number
// Input: stdin; seed: 41*2
// Solution: 1b24
#include "capability.h"

#include <pthread.h>

static pthread_key_t key;

static void remember(unsigned number) { pthread_setspecific(key, (void *)(uintptr_t)number); }

int main(void) {
  unsigned char in[2] = {0};
  take(in, sizeof in);
  pthread_key_create(&key, NULL);
  remember(in[0] * 256U + in[1]);
  if ((uintptr_t)pthread_getspecific(key) == 0x1b24)
    hit();
  return tell(in[0]);
}
