/* One random situation that a function of the C library is called in, twice:
 * the real function in one copy of it, what the instrumented program calls in
 * the other. Whatever can be seen afterwards goes into a list of observations:
 * results, pointers as offsets, errno, the whole memory, stream positions. */
#ifndef WORLD_H
#define WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TEXT = 48, RECORD = 64, SEEN_MAX = 64 };

struct world {
  const uint8_t *record; /* RECORD random bytes: TEXT of text, the rest choices */
  char *page;            /* readable; what follows it is not */
  char *text;            /* the last TEXT + 1 bytes of the page, ends in NUL */
  const char *path;      /* the input's */
  uint64_t seen[SEEN_MAX];
  unsigned count;
};

static inline void see(struct world *w, uint64_t value) {
  if (w->count < SEEN_MAX)
    w->seen[w->count++] = value;
}

/* A pointer into the page, as an offset; others only as null or not. */
static inline void see_pointer(struct world *w, const void *p) {
  ptrdiff_t offset = (const char *)p - w->page;
  see(w, offset >= 0 && offset <= PAGE ? (uint64_t)offset + 2 : p != NULL);
}

static inline void see_errno(struct world *w) { see(w, (uint64_t)errno); }

static inline void see_bytes(struct world *w, const void *at, size_t size) {
  uint64_t hash = size;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)at)[i]) * 0x100000001b3ull;
  see(w, hash);
}

/* The k-th choice, below a bound. */
static inline unsigned choose(const struct world *w, unsigned k, unsigned bound) {
  return w->record[TEXT + k % (RECORD - TEXT)] % bound;
}

/* A string that ends where the readable memory ends. */
static inline char *string_at(const struct world *w, unsigned k) {
  return w->text + choose(w, k, TEXT + 1);
}

/* A size that stays within the text behind p; 0 and all of it are frequent. */
static inline size_t size_at(const struct world *w, unsigned k, const char *p) {
  size_t room = (size_t)(w->text + TEXT + 1 - p);
  unsigned c = choose(w, k, 256);
  return c < 32 ? 0 : c < 64 ? room : c % (room + 1);
}

/* Room to write in, away from the text, with something in it. */
static inline char *buffer(const struct world *w) { return w->page + 1024; }

static inline int letter(const struct world *w, unsigned k) {
  unsigned c = choose(w, k, 256);
  return c < 128 ? w->text[c % (TEXT + 1)] : (int)c - (c < 192 ? 0 : 256);
}

static inline void enter_world(struct world *w, const uint8_t *record, const char *path) {
  w->record = record;
  w->path = path;
  w->count = 0;
  w->text = w->page + PAGE - TEXT - 1;
  memset(w->page, '.', PAGE);
  memcpy(w->text, record, TEXT);
  w->text[TEXT] = 0;
  strcpy(buffer(w), "before");
  errno = 0;
}

static inline char *guarded_page(void) {
  char *p = (char *)mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_NONE) != 0)
    abort();
  return p;
}

#endif
