/* Memory, calls, strings, conversion, input. */
#define _GNU_SOURCE
#include "case.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *path; /* of the input: for cases that read it themselves */

struct big {
  uint64_t a, b, c, d;
};
static NOINLINE uint64_t by_value(struct big x) { return x.a ^ x.c; }
static void struct_by_value(const uint8_t *d, size_t n) {
  (void)n;
  struct big x = {u32(d), 1, u32(d + 4), 2};
  if (by_value(x) == 0x5050 && d[4] == 7)
    hit();
}
struct pair {
  uint32_t a;
  uint64_t b;
};
static NOINLINE struct pair returned(const uint8_t *d) { return (struct pair){u16(d), u32(d + 2)}; }
static void struct_returned(const uint8_t *d, size_t n) {
  (void)n;
  struct pair p = returned(d);
  if (p.a + p.b == 0x12345)
    hit();
}
static NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  return a + b * 2 + c * 3 + d + e + f + g + h * 5 + i - j;
}
static void many_arguments(const uint8_t *d, size_t n) {
  (void)n;
  if (many(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9]) == 3000)
    hit();
}
static NOINLINE int apply(int (*f)(int), int x) { return f(x) + 1; }
static int squared(int x) { return x * x; }
static void callback(const uint8_t *d, size_t n) {
  (void)n;
  if (apply(squared, d[0] - 3) == 145)
    hit();
}
static NOINLINE int one(int x) { return x + 1; }
static NOINLINE int two(int x) { return x * 3; }
static void function_pointer(const uint8_t *d, size_t n) {
  (void)n;
  int (*f)(int) = d[1] == 9 ? two : one;
  if (f(d[0]) == 99 * 3)
    hit();
}
static NOINLINE unsigned collatz(unsigned x) {
  return x == 1 ? 0 : 1 + collatz(x & 1 ? 3 * x + 1 : x / 2);
}
static void recursion(const uint8_t *d, size_t n) {
  (void)n;
  if (d[0] > 1 && d[0] < 32 && collatz(d[0]) == 17)
    hit();
}
static uint32_t global;
static void globals(const uint8_t *d, size_t n) {
  (void)n;
  global = u32(d);
  global += 3;
  if (global == 0x600df00d)
    hit();
}
static void heap_realloc(const uint8_t *d, size_t n) {
  uint8_t *p = malloc(8);
  memcpy(p, d, 8);
  p = realloc(p, 100000);
  if (p[7] == 'h' && u16(p) == 0xbeef && n)
    hit();
  free(p);
}
static void memory_move(const uint8_t *d, size_t n) {
  (void)n;
  uint8_t b[32] = {0};
  memcpy(b, d, 16);
  memmove(b + 3, b, 16);
  memset(b, d[15], 2);
  if (u32(b + 3) == 0x01020304 && b[1] == 'm')
    hit();
}
static void memory_compare(const uint8_t *d, size_t n) {
  (void)n;
  if (memcmp(d, "\x89PNG\r\n\x1a\n", 8) == 0)
    hit();
}
static void memory_ordering(const uint8_t *d, size_t n) {
  (void)n;
  if (memcmp(d, d + 8, 8) > 0 && d[0] == d[8])
    hit();
}
static void memory_search(const uint8_t *d, size_t n) {
  (void)n;
  const uint8_t *p = memchr(d, '#', 12);
  if (p && p - d == 7)
    hit();
}
static void memory_needle(const uint8_t *d, size_t n) {
  if (memmem(d, n, "needle", 6))
    hit();
}
static void string_length(const uint8_t *d, size_t n) {
  (void)n;
  if (strlen((const char *)d) == 5)
    hit();
}
static void string_compare(const uint8_t *d, size_t n) {
  (void)n;
  char word[12];
  memcpy(word, d, 11);
  word[11] = 0;
  if (strcmp(word, "abracadabra") == 0)
    hit();
}
static void string_prefix(const uint8_t *d, size_t n) {
  (void)n;
  if (strncmp((const char *)d, "Content-Type", 12) == 0)
    hit();
}
static void string_case(const uint8_t *d, size_t n) {
  (void)n;
  if (strncasecmp((const char *)d, "hello", 5) == 0 && d[0] == 'H')
    hit();
}
static void string_find(const uint8_t *d, size_t n) {
  (void)n;
  const char *at = strchr((const char *)d, '=');
  if (at && at > (const char *)d + 3 && at[1] == '1')
    hit();
}
static void string_needle(const uint8_t *d, size_t n) {
  (void)n;
  if (strstr((const char *)d, "key:"))
    hit();
}
static void string_copy(const uint8_t *d, size_t n) {
  (void)n;
  char b[64], *c;
  strcpy(b, (const char *)d);
  strcat(b, "!");
  c = strdup(b);
  if (c && c[0] == 'c' && c[1] == 'p')
    hit();
  free(c);
}
static void string_span(const uint8_t *d, size_t n) {
  (void)n;
  if (strspn((const char *)d, "0123456789") == 3)
    hit();
}
static void parse_int(const uint8_t *d, size_t n) {
  (void)n;
  if (atoi((const char *)d) == 31337)
    hit();
}
static void parse_hex(const uint8_t *d, size_t n) {
  (void)n;
  char *end;
  if (strtoul((const char *)d, &end, 16) == 0xbeef)
    hit();
}
static void character_class(const uint8_t *d, size_t n) {
  (void)n;
  if (isdigit(d[0]) && isupper(d[1]) && isspace(d[2]) && ispunct(d[3]))
    hit();
}
static void character_case(const uint8_t *d, size_t n) {
  (void)n;
  if (toupper(d[0]) == 'Q' && d[0] != 'Q' && tolower(d[1]) == 'z')
    hit();
}
static void network_order(const uint8_t *d, size_t n) {
  (void)n;
  if (ntohl(u32(d)) == 0x01020304 && ntohs(u16(d + 4)) == 80)
    hit();
}
static void *thread_body(void *p) {
  uint32_t *x = p;
  *x = *x * 7 + 1;
  return NULL;
}
static void threads(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t x = u32(d);
  pthread_t t;
  if (pthread_create(&t, NULL, thread_body, &x) == 0)
    pthread_join(t, NULL);
  if (x == 0x77777778)
    hit();
}
static void atomics(const uint8_t *d, size_t n) {
  (void)n;
  static atomic_uint a;
  atomic_store(&a, u32(d));
  unsigned old = atomic_fetch_add(&a, 5);
  unsigned want = old + 5;
  if (atomic_compare_exchange_strong(&a, &want, 1) && old == 0xa70311c)
    hit();
}
static void symbolic_index_write(const uint8_t *d, size_t n) {
  (void)n;
  uint8_t b[256] = {0};
  b[d[0]] = 1;
  if (b[77])
    hit();
}
static void with_read(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  uint8_t b[8];
  int f = open(path, O_RDONLY), g = dup(f);
  if (f >= 0 && lseek(g, 4, SEEK_SET) == 4 && read(f, b, 4) == 4 && u32(b) == 0x64616572)
    hit();
  close(f);
  close(g);
}
static void with_pread(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  uint8_t b[4], c[2], e[2];
  int f = open(path, O_RDONLY);
  struct iovec v[2] = {{c, 2}, {e, 2}};
  if (pread(f, b, 4, 8) == 4 && u32(b) == 0x70707070 && readv(f, v, 2) == 4 && u16(e) == 0x1234)
    hit();
  close(f);
}
static void with_mmap(const uint8_t *d, size_t n) {
  (void)d;
  int f = open(path, O_RDONLY);
  const uint8_t *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, f, 0);
  if (p != MAP_FAILED) {
    if (u32(p + 3) == 0x6d6d6170)
      hit();
    munmap((void *)p, n);
  }
  close(f);
}
static void with_stdio(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  FILE *f = fopen(path, "r");
  char line[64];
  int c = fgetc(f);
  ungetc(c, f);
  fseek(f, 2, SEEK_SET);
  if (c == 's' && getc(f) == 't' && ftell(f) == 3 && fgets(line, sizeof line, f) &&
      line[2] == 'd' && line[3] == '\n')
    hit();
  fclose(f);
}
static void with_getline(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  FILE *f = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  ssize_t got = getline(&line, &room, f);
  if (got == 4 && line[0] == 'L')
    hit();
  free(line);
  fclose(f);
}
static void two_opens(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  FILE *f = fopen(path, "r"), *g = fopen(path, "r");
  int a = getc(f), b = getc(f), c = getc(g);
  if (a + b == 300 && c == 101)
    hit();
  fclose(f);
  fclose(g);
}
/* How often the loop turns is up to the length. */
static void read_to_the_end(const uint8_t *d, size_t n) {
  (void)d, (void)n;
  char part[16];
  size_t size = 0;
  ssize_t got;
  int f = open(path, O_RDONLY);
  while ((got = read(f, part, sizeof part)) > 0)
    size += (size_t)got;
  close(f);
  if (size == 57)
    hit();
}
/* One condition of a length and of bytes that the first input has not. */
static void bytes_behind_the_end(const uint8_t *d, size_t n) {
  uint32_t word = u32(d + 20);
  if (n >= 24 && word == 0x676e6f6c)
    hit();
}
static NOINLINE int sum_of(int count, ...) {
  va_list v;
  va_start(v, count);
  int sum = 0;
  while (count--)
    sum += va_arg(v, int);
  va_end(v);
  return sum;
}
static void variadic(const uint8_t *d, size_t n) {
  (void)n;
  if (sum_of(8, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]) == 2000)
    hit();
}

static const struct test_case cases[] = {
    {"struct_by_value", struct_by_value},
    {"struct_returned", struct_returned},
    {"many_arguments", many_arguments},
    {"callback", callback},
    {"function_pointer", function_pointer},
    {"recursion", recursion},
    {"globals", globals},
    {"heap_realloc", heap_realloc},
    {"memory_move", memory_move},
    {"memory_compare", memory_compare},
    {"memory_ordering", memory_ordering},
    {"memory_search", memory_search},
    {"memory_needle", memory_needle},
    {"string_length", string_length},
    {"string_compare", string_compare},
    {"string_prefix", string_prefix},
    {"string_case", string_case},
    {"string_find", string_find},
    {"string_needle", string_needle},
    {"string_copy", string_copy},
    {"string_span", string_span},
    {"parse_int", parse_int},
    {"parse_hex", parse_hex},
    {"character_class", character_class},
    {"character_case", character_case},
    {"network_order", network_order},
    {"threads", threads},
    {"atomics", atomics},
    {"symbolic_index_write", symbolic_index_write},
    {"with_read", with_read},
    {"with_pread", with_pread},
    {"with_mmap", with_mmap},
    {"with_stdio", with_stdio},
    {"with_getline", with_getline},
    {"two_opens", two_opens},
    {"variadic", variadic},
    {"read_to_the_end", read_to_the_end},
    {"bytes_behind_the_end", bytes_behind_the_end},
};

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      puts(cases[i].name);
    return 0;
  }
  path = argc == 3 ? argv[2] : NULL;
  return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}
