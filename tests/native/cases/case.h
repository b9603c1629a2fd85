/* Programs with one condition each. `cases NAME FILE` runs the case of that
 * name on the file's content and prints HIT if its condition holds. */
#ifndef CASE_H
#define CASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
  const char *name;
  void (*run)(const uint8_t *d, size_t n);
};

static inline void hit(void) {
  puts("HIT");
  fflush(stdout);
}

#define NOINLINE __attribute__((noinline))

static inline uint32_t u32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}
static inline uint16_t u16(const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, 2);
  return v;
}
static inline uint64_t u64(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

static inline int run_case(const struct test_case *cases, size_t count, int argc, char **argv) {
  static uint8_t data[256];
  if (argc != 3)
    return 64;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(cases[i].name, argv[1]) != 0)
      continue;
    FILE *f = fopen(argv[2], "rb");
    if (!f)
      return 65;
    size_t n = fread(data, 1, sizeof data - 1, f);
    fclose(f);
    data[n] = 0;
    if (n >= 16)
      cases[i].run(data, n);
    return 0;
  }
  return 66;
}

#define MAIN(cases)                                                                                \
  int main(int argc, char **argv) {                                                                \
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {                                             \
      for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)                                    \
        puts(cases[i].name);                                                                       \
      return 0;                                                                                    \
    }                                                                                              \
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);                              \
  }

#endif
