// Exercises: what threads are given and return by value
// Input: stdin; seed: 41*3
// Solution: 0a1706
#include "capability.h"

#include <pthread.h>
#include <threads.h>

static void *triple(void *value) { return (void *)((uintptr_t)value * 3); }
static int more(void *bytes) { return *(unsigned char *)bytes + 7; }
static void *leave(void *bytes) {
  pthread_exit((void *)(uintptr_t)(*(unsigned char *)bytes * 5U));
  return NULL;
}

int main(void) {
  unsigned char in[3] = {0};
  take(in, sizeof in);
  pthread_t first, third;
  thrd_t second;
  void *tripled = NULL, *left = NULL;
  int greater = 0;
  pthread_create(&first, NULL, triple, (void *)(uintptr_t)in[0]);
  thrd_create(&second, more, &in[1]);
  pthread_create(&third, NULL, leave, &in[2]);
  pthread_join(first, &tripled);
  thrd_join(second, &greater);
  pthread_join(third, &left);
  if ((uintptr_t)tripled == 30 && greater == 30 && (uintptr_t)left == 30)
    hit();
  return tell((unsigned)(uintptr_t)tripled);
}
