/* What the capability programs share: the marker behind the condition, and plain ways to take the
 * input. A program prints what it computes, so that two builds of it can be compared. */
#ifndef CAPABILITY_H
#define CAPABILITY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* The condition held. */
__attribute__((noreturn)) static inline void hit(void) {
  fputs("HIT\n", stdout);
  exit(42);
}

/* Print a value; the exit status, never that of hit(), depends on it too. */
static inline int tell(unsigned long long value) {
  printf("%llx\n", value);
  return (int)((value * 0x9e3779b97f4a7c15u) >> 59);
}

/* Read standard input; what is missing stays zero. */
static inline size_t take(void *buffer, size_t room) { return fread(buffer, 1, room, stdin); }

/* Read standard input as a string. */
static inline size_t take_text(char *buffer, size_t room) {
  size_t length = fread(buffer, 1, room - 1, stdin);
  buffer[length] = 0;
  return length;
}

/* The path that a program with file input is given. */
static inline const char *path_of(int argc, char **argv) {
  if (argc != 2)
    exit(64);
  return argv[1];
}

static inline uint16_t load16(const void *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline uint32_t load32(const void *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline uint64_t load64(const void *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

#endif
