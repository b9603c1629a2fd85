/* A hash table with chains: pointers, the allocator, strings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  struct entry *next;
  char key[16];
  unsigned count;
};

enum { BUCKETS = 4096 };
static struct entry *buckets[BUCKETS];

static uint32_t hash(const char *s) {
  uint32_t h = 2166136261u;
  while (*s)
    h = (h ^ (uint8_t)*s++) * 16777619u;
  return h;
}

static void count(const char *key) {
  struct entry **at = &buckets[hash(key) % BUCKETS];
  for (struct entry *e = *at; e; e = e->next)
    if (strcmp(e->key, key) == 0) {
      e->count++;
      return;
    }
  struct entry *e = calloc(1, sizeof *e);
  if (!e)
    abort();
  strcpy(e->key, key);
  e->count = 1;
  e->next = *at;
  *at = e;
}

int main(void) {
  char key[16];
  uint32_t state = 7;
  for (int i = 0; i < 4000000; i++) {
    state = state * 1103515245u + 12345u;
    uint32_t n = state >> 16 & 0x3fff;
    int length = 0;
    key[length++] = 'k';
    do
      key[length++] = (char)('a' + n % 26);
    while ((n /= 26) != 0);
    key[length] = '\0';
    count(key);
  }
  unsigned used = 0, most = 0;
  for (int i = 0; i < BUCKETS; i++)
    for (struct entry *e = buckets[i]; e; e = e->next) {
      used++;
      if (e->count > most)
        most = e->count;
    }
  printf("%u %u\n", used, most);
  return 0;
}
