// Exercises: four threads that add under a mutex
// Input: stdin; seed: 41*4
// Solution: 0a141e28
#include "capability.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned sum;

static void *body(void *p) {
  pthread_mutex_lock(&lock);
  sum += *(uint8_t *)p * 3u;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  pthread_t threads[4];
  for (unsigned i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, body, d + i) != 0)
      return 1;
  for (unsigned i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  if (sum == 300)
    hit();
  return tell(sum);
}
