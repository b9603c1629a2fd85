/* Every function that has a model against the real one: libc_models INPUT
 *
 * The input is a list of records of RECORD bytes. For each record each function
 * is called twice, in equal worlds: once by its address from the dynamic linker,
 * once as the compiler calls it. Prints the calls that were told apart and ends
 * with their number's truth; --list prints the functions. */
#define _GNU_SOURCE
#include <features.h>
/* Each name means itself here: newer headers turn strtol into __isoc23_strtol. */
#undef __GLIBC_USE_C2X_STRTOL
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#define __GLIBC_USE_C23_STRTOL 0
#include "world.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dlfcn.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

#undef getc
#undef getchar
extern int _IO_getc(FILE *);
extern int __uflow(FILE *);
extern ssize_t __getdelim(char **, size_t *, int, FILE *);
extern void *__memcpy_chk(void *, const void *, size_t, size_t);
extern void *__memmove_chk(void *, const void *, size_t, size_t);
extern void *__memset_chk(void *, int, size_t, size_t);
extern char *__strtok_r(char *, const char *, char **);
extern __attribute__((weak)) size_t strlcpy(char *, const char *, size_t);
extern __attribute__((weak)) size_t strlcat(char *, const char *, size_t);
#define SCANS(prefix, linkage)                                                                     \
  extern linkage int prefix##sscanf(const char *, const char *, ...);                              \
  extern linkage int prefix##fscanf(FILE *, const char *, ...);                                    \
  extern linkage int prefix##scanf(const char *, ...);                                             \
  extern linkage int prefix##vsscanf(const char *, const char *, va_list);                         \
  extern linkage int prefix##vfscanf(FILE *, const char *, va_list);                               \
  extern linkage int prefix##vscanf(const char *, va_list);
SCANS(__isoc99_, )
SCANS(__isoc23_, __attribute__((weak)))
extern int __sprintf_chk(char *, int, size_t, const char *, ...);
extern int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
extern int __asprintf_chk(char **, int, const char *, ...);
extern int __vsprintf_chk(char *, int, size_t, const char *, va_list);
extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
extern int __vasprintf_chk(char **, int, const char *, va_list);
extern __attribute__((weak)) long __isoc23_strtol(const char *, char **, int);
extern __attribute__((weak)) long long __isoc23_strtoll(const char *, char **, int);
extern __attribute__((weak)) unsigned long __isoc23_strtoul(const char *, char **, int);
extern __attribute__((weak)) unsigned long long __isoc23_strtoull(const char *, char **, int);
extern __attribute__((weak)) intmax_t __isoc23_strtoimax(const char *, char **, int);
extern __attribute__((weak)) uintmax_t __isoc23_strtoumax(const char *, char **, int);

#define CASE(name) static void case_##name(__typeof__(&name) f, struct world *w)
#define TEXTS                                                                                      \
  char *a = string_at(w, 0), *b = string_at(w, 1);                                                 \
  size_t n = size_at(w, 2, a > b ? a : b);                                                         \
  (void)n

/* ---- Comparisons and searches */
CASE(memcmp) { TEXTS; see(w, (uint64_t)f(a, b, n)); }
CASE(bcmp) { TEXTS; see(w, f(a, b, n) != 0); }
CASE(strcmp) { TEXTS; see(w, (uint64_t)f(a, b)); }
CASE(strcasecmp) { TEXTS; see(w, (uint64_t)f(a, b)); }
CASE(strcoll) { TEXTS; see(w, (uint64_t)f(a, b)); }
CASE(strncmp) { TEXTS; see(w, (uint64_t)f(a, b, choose(w, 3, 4) ? n : SIZE_MAX)); }
CASE(strncasecmp) { TEXTS; see(w, (uint64_t)f(a, b, choose(w, 3, 4) ? n : SIZE_MAX)); }
CASE(memchr) { TEXTS; see_pointer(w, f(a, letter(w, 3), n)); }
CASE(memrchr) { TEXTS; see_pointer(w, f(a, letter(w, 3), n)); }
CASE(memmem) { TEXTS; see_pointer(w, f(a, n, b, n ? choose(w, 3, 4) % n : 0)); }
CASE(strlen) { TEXTS; see(w, f(a)); }
CASE(strnlen) { TEXTS; see(w, f(a, choose(w, 3, 4) ? n : SIZE_MAX)); }
CASE(strchr) { TEXTS; see_pointer(w, f(a, letter(w, 3))); }
CASE(index) { TEXTS; see_pointer(w, f(a, letter(w, 3))); }
CASE(strchrnul) { TEXTS; see_pointer(w, f(a, letter(w, 3))); }
CASE(strrchr) { TEXTS; see_pointer(w, f(a, letter(w, 3))); }
CASE(rindex) { TEXTS; see_pointer(w, f(a, letter(w, 3))); }
static char *needle(struct world *w) {
  char *s = buffer(w), *from = string_at(w, 1);
  size_t size = choose(w, 4, 4);
  if (size > strlen(from))
    size = strlen(from);
  memcpy(s, from, size);
  s[size] = 0;
  return s;
}
CASE(strstr) { TEXTS; see_pointer(w, f(a, needle(w))); }
CASE(strspn) { TEXTS; see(w, f(a, choose(w, 3, 2) ? needle(w) : b)); }
CASE(strcspn) { TEXTS; see(w, f(a, choose(w, 3, 2) ? needle(w) : b)); }
CASE(strpbrk) { TEXTS; see_pointer(w, f(a, choose(w, 3, 2) ? needle(w) : b)); }

CASE(strcasestr) { TEXTS; see_pointer(w, f(a, needle(w))); }
CASE(rawmemchr) { TEXTS; see_pointer(w, f(a, choose(w, 3, 2) ? 0 : a[strlen(a) / 2])); }

/* ---- Tokens */
static char *delimiters(struct world *w) {
  char *set = w->page + 512;
  size_t size = choose(w, 4, 4);
  memcpy(set, w->text, size);
  set[size] = 0;
  return set;
}
CASE(strtok) {
  TEXTS;
  see_pointer(w, f(choose(w, 5, 3) ? strcpy(buffer(w), a) : a, delimiters(w)));
  see_pointer(w, f(NULL, delimiters(w)));
  see_pointer(w, f(NULL, b));
  see_pointer(w, f(NULL, choose(w, 5, 2) ? b : delimiters(w)));
}
static void tokens(char *(*f)(char *, const char *, char **), struct world *w) {
  TEXTS;
  char *rest = b;
  see_pointer(w, f(choose(w, 5, 3) ? strcpy(buffer(w), a) : NULL, delimiters(w), &rest));
  for (int i = 0; i < 3; i++) {
    see_pointer(w, f(NULL, delimiters(w), &rest));
    see_pointer(w, rest);
  }
}
CASE(strtok_r) { tokens(f, w); }
CASE(__strtok_r) { tokens(f, w); }
CASE(strsep) {
  TEXTS;
  char *rest = choose(w, 5, 4) ? a : NULL;
  for (int i = 0; i < 3; i++) {
    see_pointer(w, f(&rest, delimiters(w)));
    see_pointer(w, rest);
  }
}

/* ---- Order */
static uint64_t compared; /* what the library asked, in its order */
static size_t compared_bytes;
static int in_order(const void *a, const void *b) {
  const uint8_t *x = a, *y = b;
  for (size_t i = 0; i < compared_bytes; i++)
    compared = (compared ^ (uint64_t)(x[i] << 8 | y[i])) * 0x100000001b3ull;
  return memcmp(a, b, (compared_bytes + 1) / 2);
}
static int in_order_of(const void *a, const void *b, void *asked) {
  ++*(unsigned *)asked;
  return in_order(b, a);
}
/* Elements of some size, and how many of them the text has. */
static size_t elements(struct world *w, size_t *size) {
  static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 20, 40};
  memcpy(buffer(w), w->text, TEXT);
  compared = 0;
  compared_bytes = *size = sizes[choose(w, 5, 9)];
  return TEXT / *size - choose(w, 6, 2);
}
CASE(qsort) {
  size_t size, count = elements(w, &size);
  f(buffer(w), count, size, in_order);
  see(w, compared);
}
CASE(qsort_r) {
  size_t size, count = elements(w, &size);
  unsigned asked = 0;
  f(buffer(w), count, size, in_order_of, &asked);
  see(w, compared + asked);
}
CASE(bsearch) {
  size_t size, count = elements(w, &size);
  const char *key = buffer(w) + size * choose(w, 7, (unsigned)count + 1);
  see_pointer(w, f(key, buffer(w), count, size, in_order));
  see(w, compared);
}

/* ---- Copies */
CASE(memcpy) { TEXTS; see_pointer(w, f(buffer(w), a, n)); }
CASE(mempcpy) { TEXTS; see_pointer(w, f(buffer(w), a, n)); }
CASE(__memcpy_chk) { TEXTS; see_pointer(w, f(buffer(w), a, n, n + choose(w, 3, 9))); }
CASE(memmove) { TEXTS; see_pointer(w, f(a, b, n)); }
CASE(__memmove_chk) { TEXTS; see_pointer(w, f(a, b, n, n + choose(w, 3, 9))); }
CASE(bcopy) { TEXTS; f(a, b, n); }
CASE(memset) { TEXTS; see_pointer(w, f(a, letter(w, 3), n)); }
CASE(__memset_chk) { TEXTS; see_pointer(w, f(a, letter(w, 3), n, n)); }
CASE(swab) { TEXTS; f(a, choose(w, 3, 2) ? a : buffer(w), (ssize_t)n - choose(w, 4, 2)); }
CASE(bzero) { TEXTS; f(a, n); }
CASE(strcpy) { TEXTS; see_pointer(w, f(buffer(w), a)); }
CASE(stpcpy) { TEXTS; see_pointer(w, f(buffer(w), a)); }
CASE(strncpy) { TEXTS; see_pointer(w, f(buffer(w), a, n)); }
CASE(strcat) { TEXTS; see_pointer(w, f(buffer(w), a)); }
CASE(strncat) { TEXTS; see_pointer(w, f(buffer(w), a, n)); }
CASE(stpncpy) { TEXTS; see_pointer(w, f(buffer(w), a, n)); }
CASE(memccpy) { TEXTS; see_pointer(w, f(buffer(w), a, letter(w, 3), n)); }
CASE(strlcpy) { TEXTS; see(w, f(buffer(w), a, n)); }
CASE(strlcat) { TEXTS; see(w, f(buffer(w), a, n)); }
CASE(strdup) { TEXTS; char *s = f(a); see_bytes(w, s, strlen(a) + 1); free(s); }
CASE(strndup) { TEXTS; char *s = f(a, n); see_bytes(w, s, strlen(s) + 1); free(s); }

/* ---- The heap */
static size_t heap_size(struct world *w) {
  return choose(w, 4, 16) ? choose(w, 5, 200) : (size_t)PTRDIFF_MAX + choose(w, 5, 3);
}
static void see_heap(struct world *w, char *p, size_t size) {
  see(w, p != NULL);
  see(w, p ? (uintptr_t)p % 16 : 0);
  see(w, !p || malloc_usable_size(p) >= size);
  see_errno(w);
}
CASE(malloc) {
  size_t size = heap_size(w);
  char *p = f(size);
  see_heap(w, p, size);
  if (p)
    memcpy(p, w->text, size < TEXT ? size : TEXT);
  free(p);
}
CASE(calloc) {
  size_t size = heap_size(w), count = choose(w, 6, 5);
  char *p = f(count, size);
  see_heap(w, p, 0);
  if (p)
    see_bytes(w, p, count * size);
  free(p);
}
CASE(realloc) {
  char *p = choose(w, 6, 4) ? malloc(TEXT) : NULL;
  if (p)
    memcpy(p, w->text, TEXT);
  size_t size = heap_size(w), kept = p ? (size < TEXT ? size : TEXT) : 0;
  char *q = f(p, size);
  see_heap(w, q, size);
  if (q)
    see_bytes(w, q, kept);
  free(q ? q : size ? p : NULL);
}
CASE(free) {
  char *p = choose(w, 6, 4) ? malloc(choose(w, 5, 200)) : NULL;
  errno = 77;
  f(p);
  see_errno(w);
}

/* ---- Conversion */
static char *number(struct world *w) {
  static const char *const starts[] = {"",       "-",  "+", " \t\n", "0x", "0X-", "0",
                                       "0b1",    "- ", "9223372036854775807", "18446744073709551616",
                                       "-0x7fffffffffffffff"};
  char *s = buffer(w);
  strcpy(s, starts[choose(w, 4, sizeof starts / sizeof *starts)]);
  for (unsigned i = 0, end = choose(w, 5, 9); i < end; i++) {
    char digit = "0123456789abcdefxyzZ -"[(uint8_t)w->text[i] % (choose(w, 6, 2) ? 10 : 22)];
    strncat(s, &digit, 1);
  }
  if (choose(w, 7, 3) == 0)
    strcat(s, w->text);
  return s;
}
#define PARSE(name) CASE(name) { see(w, (uint64_t)f(number(w))); }
PARSE(atoi)
PARSE(atol)
PARSE(atoll)
static const int bases[] = {10, 0, 16, 8, 2, 36, 1, -1, 37, 10, 10, 16, 0};
#define PARSE_TO(name)                                                                             \
  CASE(name) {                                                                                     \
    char *end = NULL, *s = number(w);                                                              \
    int base = bases[choose(w, 8, sizeof bases / sizeof *bases)];                                  \
    see(w, (uint64_t)f(s, choose(w, 9, 4) ? &end : NULL, base));                                   \
    see_pointer(w, end);                                                                           \
  }
PARSE_TO(strtol)
PARSE_TO(strtoll)
PARSE_TO(strtoul)
PARSE_TO(strtoull)
PARSE_TO(__isoc23_strtol)
PARSE_TO(__isoc23_strtoll)
PARSE_TO(__isoc23_strtoul)
PARSE_TO(__isoc23_strtoull)
PARSE_TO(strtoimax)
PARSE_TO(strtoumax)
PARSE_TO(__isoc23_strtoimax)
PARSE_TO(__isoc23_strtoumax)
/* A text that may be a floating-point number. */
static char *decimal(struct world *w) {
  static const char *const starts[] = {"",    "-",    "+.",    " \t\n", "0x1.",  "1e",   "-inf", "nan(1",
                                       "0.0", "1e30", "2.5e-", ".",     "1e999", "1e-9", "INFI", "9007199254740993"};
  char *s = buffer(w);
  strcpy(s, starts[choose(w, 4, sizeof starts / sizeof *starts)]);
  for (unsigned i = 0, end = choose(w, 5, 12); i < end; i++) {
    char digit = "0123456789.eE+-xpnif ,"[(uint8_t)w->text[i] % (choose(w, 6, 2) ? 11 : 22)];
    strncat(s, &digit, 1);
  }
  if (choose(w, 7, 3) == 0)
    strcat(s, w->text);
  return s;
}
#define PARSE_DECIMAL(type, name)                                                                  \
  CASE(name) {                                                                                     \
    char *end = NULL, *s = decimal(w);                                                             \
    union {                                                                                        \
      type value;                                                                                  \
      uint64_t bits[2];                                                                            \
    } result = {.bits = {0, 0}};                                                                   \
    errno = 77;                                                                                    \
    result.value = f(s, choose(w, 9, 4) ? &end : NULL);                                            \
    see_errno(w);                                                                                  \
    see(w, result.bits[0]);                                                                        \
    see(w, result.bits[1] & 0xffff);                                                               \
    see_pointer(w, end);                                                                           \
  }
PARSE_DECIMAL(float, strtof)
PARSE_DECIMAL(double, strtod)
PARSE_DECIMAL(long double, strtold)
CASE(atof) {
  double value = f(decimal(w));
  see_bytes(w, &value, sizeof value);
}
/* ---- Formats */
static const char *const scan_formats[] = {
    "%d", "%u %x", " %i,%o", "%3d%2x", "%*d %hhd", "%hd%ld%lld", "%s %s", "%4s%c", "%[ab01]%n", "%[^ab]%2c",
    "a%db", "%d%%%d", "%5[0-9]-%zu", "%x:%x", "%jd %td", "%f %d", "%*s %d%n", "%i", "%c%c%c", "%[]x]%s",
    "%lf%n", "%g,%la", "%5lf%2e%d", "%Lf %lE", "%*f%c%n", "a%lf;%F"};
/* Room for everything that a format assigns, four times: eight bytes and more for words. */
static void see_scanned(struct world *w, int got, const char (*to)[64]) {
  see(w, (uint64_t)got);
  see_errno(w);
  see_bytes(w, to, 4 * sizeof *to);
}
#define SCAN_FORMAT scan_formats[choose(w, 8, sizeof scan_formats / sizeof *scan_formats)]
#define SCANNED(call)                                                                              \
  char to[4][64];                                                                                  \
  memset(to, '#', sizeof to);                                                                      \
  see_scanned(w, call, (const char(*)[64])to)
typedef int scan_list(void *, const char *, va_list);
static int with_list(scan_list *f, void *from, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int got = f(from, format, list);
  va_end(list);
  return got;
}
typedef int scan_standard(const char *, va_list);
static int with_standard_list(scan_standard *f, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int got = f(format, list);
  va_end(list);
  return got;
}
static const char *scanned_text(struct world *w) {
  return !choose(w, 5, 2) ? string_at(w, 0) : choose(w, 9, 2) ? number(w) : decimal(w);
}
static FILE *input_stream(struct world *w);
static void see_stream(struct world *w, FILE *s);
static void reopen_standard(struct world *w) {
  if (!freopen(w->path, "r", stdin))
    abort();
  fseek(stdin, choose(w, 12, 150), SEEK_SET);
}
#define SCAN_CASES(prefix)                                                                         \
  CASE(prefix##sscanf) { SCANNED(f(scanned_text(w), SCAN_FORMAT, to[0], to[1], to[2], to[3])); }   \
  CASE(prefix##vsscanf) {                                                                          \
    SCANNED(with_list((scan_list *)(void (*)(void))f, (void *)scanned_text(w), SCAN_FORMAT, to[0], \
                      to[1], to[2], to[3]));                                                       \
  }                                                                                                \
  CASE(prefix##fscanf) {                                                                           \
    FILE *s = input_stream(w);                                                                     \
    SCANNED(f(s, SCAN_FORMAT, to[0], to[1], to[2], to[3]));                                        \
    see_stream(w, s);                                                                              \
  }                                                                                                \
  CASE(prefix##vfscanf) {                                                                          \
    FILE *s = input_stream(w);                                                                     \
    SCANNED(with_list((scan_list *)(void (*)(void))f, s, SCAN_FORMAT, to[0], to[1], to[2],         \
                      to[3]));                                                                     \
    see_stream(w, s);                                                                              \
  }                                                                                                \
  CASE(prefix##scanf) {                                                                            \
    reopen_standard(w);                                                                            \
    SCANNED(f(SCAN_FORMAT, to[0], to[1], to[2], to[3]));                                           \
    see(w, (uint64_t)ftell(stdin));                                                                \
  }                                                                                                \
  CASE(prefix##vscanf) {                                                                           \
    reopen_standard(w);                                                                            \
    SCANNED(with_standard_list(f, SCAN_FORMAT, to[0], to[1], to[2], to[3]));                       \
    see(w, (uint64_t)ftell(stdin));                                                                \
  }
SCAN_CASES()
SCAN_CASES(__isoc99_)
SCAN_CASES(__isoc23_)

static const char *const print_formats[] = {
    "%d", "<%d>", "%08x|%lu", "%-9d|%+ld!", "% d,%.4i", "%#x %#lo", "%5u%%", "%hhd %hu", "%X-%zd",
    "%.0d;", "%*d", "%-*d|", "%12.5d%lld", "%o", "%c%c", "%#X", "%jx.", "long suffix %d behind it"};
#define PRINT_FORMAT print_formats[choose(w, 8, sizeof print_formats / sizeof *print_formats)]
static const char *const text_formats[] = {"%s", "[%s]", "%5s|%s", "%-40s.", "%.3s%s", "%10.2s%%", "%s%n"};
#define TEXT_FORMAT text_formats[choose(w, 8, sizeof text_formats / sizeof *text_formats)]
static long printed_number(struct world *w, unsigned k) {
  long x;
  memcpy(&x, w->text + choose(w, k, 32), sizeof x);
  return choose(w, k + 1, 3) ? x % (1 << choose(w, k + 1, 30)) : x;
}
#define NUMBERS printed_number(w, 5), printed_number(w, 6)
static size_t print_room(struct world *w) { return choose(w, 9, 3) ? 512 : choose(w, 9, 30); }
#define PRINTED(call)                                                                              \
  int counted = 0;                                                                                 \
  (void)counted;                                                                                   \
  see(w, (uint64_t)(call));                                                                        \
  see(w, (uint64_t)counted)
#define PRINT_CASE(name, before)                                                                   \
  CASE(name) {                                                                                     \
    char *out = NULL, *to = buffer(w);                                                             \
    const size_t room = print_room(w);                                                             \
    (void)out, (void)to, (void)room;                                                               \
    if (choose(w, 10, 3)) {                                                                        \
      int stars = choose(w, 11, 20) - 10;                                                          \
      const char *format = PRINT_FORMAT;                                                           \
      PRINTED(strchr(format, '*') ? f(UNPACK before, format, stars, NUMBERS)                       \
                                  : f(UNPACK before, format, NUMBERS));                            \
    } else {                                                                                       \
      PRINTED(f(UNPACK before, TEXT_FORMAT, string_at(w, 0), choose(w, 8, 7) == 6 ? (char *)&counted : string_at(w, 1))); \
    }                                                                                              \
    if (out)                                                                                       \
      see_bytes(w, out, strlen(out) + 1);                                                          \
    free(out);                                                                                     \
  }
#define UNPACK(...) __VA_ARGS__
PRINT_CASE(sprintf, (to))
PRINT_CASE(snprintf, (to, room))
PRINT_CASE(asprintf, (&out))
PRINT_CASE(__sprintf_chk, (to, 0, 1024))
PRINT_CASE(__snprintf_chk, (to, room, 0, 1024))
PRINT_CASE(__asprintf_chk, (&out, 0))
#define PRINT_LIST(name, parameters, arguments, before)                                            \
  static int (*list_##name)(UNPACK parameters, const char *, va_list);                             \
  static int call_##name(UNPACK parameters, const char *format, ...) {                             \
    va_list list;                                                                                  \
    va_start(list, format);                                                                        \
    int got = list_##name(UNPACK arguments, format, list);                                         \
    va_end(list);                                                                                  \
    return got;                                                                                    \
  }                                                                                                \
  PRINT_CASE(call_##name, before)                                                                  \
  CASE(name) {                                                                                     \
    list_##name = f;                                                                               \
    case_call_##name(call_##name, w);                                                              \
  }
PRINT_LIST(vsprintf, (char *a), (a), (to))
PRINT_LIST(vsnprintf, (char *a, size_t b), (a, b), (to, room))
PRINT_LIST(vasprintf, (char **a), (a), (&out))
PRINT_LIST(__vsprintf_chk, (char *a, int b, size_t c), (a, b, c), (to, 0, 1024))
PRINT_LIST(__vsnprintf_chk, (char *a, size_t b, int c, size_t d), (a, b, c, d), (to, room, 0, 1024))
PRINT_LIST(__vasprintf_chk, (char **a, int b), (a, b), (&out, 0))

#define CHARACTER(name)                                                                            \
  CASE(name) {                                                                                     \
    see(w, (uint64_t)f((uint8_t)w->text[0]));                                                      \
    see(w, (uint64_t)f(w->text[1]));                                                               \
    see(w, (uint64_t)f(EOF));                                                                      \
  }
CHARACTER(toupper)
CHARACTER(tolower)
CHARACTER(isalnum)
CHARACTER(isalpha)
CHARACTER(isblank)
CHARACTER(iscntrl)
CHARACTER(isdigit)
CHARACTER(isgraph)
CHARACTER(islower)
CHARACTER(isprint)
CHARACTER(ispunct)
CHARACTER(isspace)
CHARACTER(isupper)
CHARACTER(isxdigit)
#define ORDER(name, type)                                                                          \
  CASE(name) {                                                                                     \
    type x;                                                                                        \
    memcpy(&x, w->text, sizeof x);                                                                 \
    see(w, (uint64_t)f(x));                                                                                  \
  }
ORDER(htonl, uint32_t)
ORDER(ntohl, uint32_t)
ORDER(htons, uint16_t)
ORDER(ntohs, uint16_t)
ORDER(abs, int)
ORDER(labs, long)
ORDER(llabs, long long)
ORDER(imaxabs, intmax_t)
ORDER(ffs, int)
ORDER(ffsl, long)
ORDER(ffsll, long long)

/* ---- Wide characters */
static wchar_t *wide(struct world *w, unsigned k) {
  static _Alignas(16) wchar_t texts[4][TEXT + 1];
  const char *from = string_at(w, k);
  size_t i = 0;
  for (; from[i]; i++)
    texts[k % 4][i] = choose(w, 9, 4) ? (uint8_t)from[i] : from[i] * 257;
  texts[k % 4][i] = 0;
  return texts[k % 4];
}
static void see_wide(struct world *w, const wchar_t *start, const wchar_t *found) {
  see(w, found ? (uint64_t)(found - start) : UINT64_MAX);
}
#define WIDE                                                                                       \
  wchar_t *a = wide(w, 0), *b = wide(w, 1);                                                        \
  size_t n = wcslen(a) < wcslen(b) ? wcslen(a) : wcslen(b);                                        \
  n = choose(w, 2, 4) ? choose(w, 2, 64) % (n + 1) : n;                                            \
  const wchar_t c = choose(w, 3, 2) ? a[n] : letter(w, 3);                                         \
  wchar_t *out = (wchar_t *)buffer(w);                                                             \
  (void)n, (void)c, (void)b, (void)out
CASE(wcslen) { WIDE; see(w, f(a)); }
CASE(wcsnlen) { WIDE; see(w, f(a, n)); }
CASE(wcscmp) { WIDE; see(w, (uint64_t)f(a, b)); }
CASE(wcsncmp) { WIDE; see(w, (uint64_t)f(a, b, n)); }
CASE(wmemcmp) { WIDE; see(w, (uint64_t)f(a, b, n)); }
CASE(wcschr) { WIDE; see_wide(w, a, f(a, c)); }
CASE(wcsrchr) { WIDE; see_wide(w, a, f(a, c)); }
CASE(wmemchr) { WIDE; see_wide(w, a, f(a, c, n)); }
CASE(wcsstr) { WIDE; b[choose(w, 4, 3)] = 0; see_wide(w, a, f(a, b)); }
CASE(wcscpy) { WIDE; see_pointer(w, f(out, a)); }
CASE(wcscat) { WIDE; see_pointer(w, f(wcscpy(out, b), a)); }
CASE(wcsncpy) { WIDE; see_pointer(w, f(out, a, n + choose(w, 4, 9))); }
CASE(wmemcpy) { WIDE; see_pointer(w, f(out, a, n)); }
CASE(wmemmove) { WIDE; see_pointer(w, f(out, a, n)); }
#define WIDE_CHARACTER(name)                                                                       \
  CASE(name) {                                                                                     \
    wint_t c;                                                                                      \
    memcpy(&c, w->text, sizeof c);                                                                 \
    see(w, f(c));                                                                                  \
    see(w, f((uint8_t)w->text[0]));                                                                \
    see(w, f(WEOF));                                                                               \
  }
WIDE_CHARACTER(towlower)
WIDE_CHARACTER(towupper)
WIDE_CHARACTER(iswalnum)
WIDE_CHARACTER(iswalpha)
WIDE_CHARACTER(iswblank)
WIDE_CHARACTER(iswcntrl)
WIDE_CHARACTER(iswdigit)
WIDE_CHARACTER(iswgraph)
WIDE_CHARACTER(iswlower)
WIDE_CHARACTER(iswprint)
WIDE_CHARACTER(iswpunct)
WIDE_CHARACTER(iswspace)
WIDE_CHARACTER(iswupper)
WIDE_CHARACTER(iswxdigit)
CASE(mbtowc) {
  TEXTS;
  wchar_t to = 7;
  see(w, (uint64_t)f(choose(w, 4, 3) ? &to : NULL, choose(w, 5, 9) ? a : NULL, n));
  see(w, (uint64_t)to);
}
CASE(mbrtowc) {
  TEXTS;
  wchar_t to = 7;
  mbstate_t state = {0};
  see(w, f(choose(w, 4, 3) ? &to : NULL, a, n, &state));
  see_errno(w);
  see(w, (uint64_t)to);
}
CASE(mbstowcs) {
  TEXTS;
  see(w, f(choose(w, 4, 3) ? (wchar_t *)buffer(w) : NULL, a, choose(w, 5, 60)));
  see_errno(w);
}
static void take_wide(wint_t (*f)(FILE *), struct world *w) {
  FILE *s = fopen(w->path, "r");
  fseek(s, choose(w, 12, 150), SEEK_SET);
  see(w, f(s));
  see(w, f(s));
  see_errno(w);
  see(w, (uint64_t)ftell(s));
  fclose(s);
}
CASE(fgetwc) { take_wide(f, w); }
CASE(getwc) { take_wide(f, w); }
CASE(getwchar) {
  reopen_standard(w);
  see(w, f());
  see(w, (uint64_t)ftell(stdin));
  reopen_standard(w); /* for bytes again */
}
#define WIDE_PARSE(name)                                                                           \
  CASE(name) {                                                                                     \
    static wchar_t text[200];                                                                      \
    wchar_t *end = NULL;                                                                           \
    const char *from = number(w);                                                                  \
    size_t i = 0;                                                                                  \
    for (; from[i] && i < 199; i++)                                                                \
      text[i] = (uint8_t)from[i];                                                                  \
    text[i] = 0;                                                                                   \
    see(w, (uint64_t)f(text, choose(w, 9, 4) ? &end : NULL, bases[choose(w, 8, 6)]));              \
    see_errno(w);                                                                                  \
    see_wide(w, text, end);                                                                        \
  }
WIDE_PARSE(wcstol)
WIDE_PARSE(wcstoll)
WIDE_PARSE(wcstoul)
WIDE_PARSE(wcstoull)

/* ---- Descriptors */
static int input_fd(struct world *w) { /* sometimes not one at all */
  int fd = choose(w, 10, 8) ? open(w->path, O_RDONLY) : -1;
  if (fd >= 0)
    lseek(fd, choose(w, 11, 100), SEEK_SET);
  return fd;
}
static void see_fd(struct world *w, int fd, ssize_t got) {
  see(w, (uint64_t)got);
  see_errno(w);
  see(w, fd < 0 ? 0 : (uint64_t)lseek(fd, 0, SEEK_CUR));
  close(fd);
}
CASE(read) {
  int fd = input_fd(w);
  see_fd(w, fd, f(fd, choose(w, 12, 9) ? buffer(w) : (char *)8, choose(w, 13, 200)));
}
static off_t place(struct world *w) { return (off_t)choose(w, 14, 200) - 20; }
CASE(pread) { int fd = input_fd(w); see_fd(w, fd, f(fd, buffer(w), choose(w, 13, 200), place(w))); }
CASE(pread64) { int fd = input_fd(w); see_fd(w, fd, f(fd, buffer(w), choose(w, 13, 200), place(w))); }
CASE(readv) {
  int fd = input_fd(w);
  struct iovec parts[3] = {{buffer(w), choose(w, 12, 30)},
                           {buffer(w) + 100, choose(w, 13, 30)},
                           {buffer(w) + 200, choose(w, 14, 99)}};
  see_fd(w, fd, f(fd, parts, (int)choose(w, 15, 5) - 1));
}
CASE(recv) {
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return;
  if (write(pair[0], w->text, choose(w, 12, TEXT)) >= 0)
    see(w, (uint64_t)f(pair[1], buffer(w), choose(w, 13, 99), choose(w, 14, 2) ? MSG_PEEK | MSG_DONTWAIT : MSG_DONTWAIT));
  see_errno(w);
  close(pair[0]);
  close(pair[1]);
}
static const char *some_path(struct world *w) {
  static const char *const paths[] = {"/dev/null", "/nonexistent/x", ""};
  unsigned c = choose(w, 10, 8);
  return c < 3 ? paths[c] : w->path;
}
static const int ways[] = {O_RDONLY, O_RDONLY | O_CLOEXEC, O_RDONLY | O_DIRECTORY, O_PATH,
                           O_CREAT | O_EXCL | O_WRONLY};
static void see_open(struct world *w, int fd) {
  struct stat s;
  see(w, fd >= 0);
  see_errno(w);
  if (fd < 0)
    return;
  see(w, fstat(fd, &s) == 0 ? s.st_ino : 0);
  see(w, (uint64_t)fcntl(fd, F_GETFD));
  see(w, (uint64_t)fcntl(fd, F_GETFL));
  close(fd);
}
#define WAY ways[choose(w, 11, sizeof ways / sizeof *ways)]
CASE(open) { see_open(w, f(some_path(w), WAY, 0600)); }
CASE(open64) { see_open(w, f(some_path(w), WAY, 0600)); }
CASE(openat) { see_open(w, f(choose(w, 12, 2) ? AT_FDCWD : -5, some_path(w), WAY, 0600)); }
CASE(openat64) { see_open(w, f(choose(w, 12, 2) ? AT_FDCWD : -5, some_path(w), WAY, 0600)); }
static void map(__typeof__(&mmap) f, struct world *w) {
  int fd = input_fd(w);
  static const off_t offsets[] = {0, 0, 0, PAGE, 7};
  static const size_t sizes[] = {PAGE, 100, 0, 1, 2 * PAGE};
  struct stat s;
  off_t offset = offsets[choose(w, 12, 5)];
  size_t size = sizes[choose(w, 13, 5)];
  char *p = f(NULL, size, PROT_READ, choose(w, 14, 4) ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS, fd, offset);
  see(w, p == MAP_FAILED);
  see_errno(w);
  if (p != MAP_FAILED && fd >= 0 && fstat(fd, &s) == 0 && offset == 0)
    see_bytes(w, p, size < (size_t)s.st_size ? size : (size_t)s.st_size);
  if (p != MAP_FAILED)
    see(w, (uint64_t)munmap(p, size));
  close(fd);
}
CASE(mmap) { map(f, w); }
CASE(mmap64) { map((__typeof__(&mmap))f, w); }
CASE(munmap) {
  char *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  see(w, (uint64_t)f(p + (choose(w, 12, 2) ? 0 : 5), choose(w, 13, 3) ? PAGE : 0));
  see_errno(w);
  munmap(p, PAGE);
}

/* ---- Streams */
static FILE *input_stream(struct world *w) {
  FILE *s = fopen(w->path, choose(w, 10, 2) ? "r" : "rb");
  if (s && choose(w, 11, 3))
    fseek(s, choose(w, 12, 150), SEEK_SET);
  if (s && choose(w, 11, 3) == 2)
    ungetc('u', s);
  return s;
}
static void see_stream(struct world *w, FILE *s) {
  see_errno(w);
  see(w, s ? (uint64_t)ftell(s) : 0);
  see(w, s ? (uint64_t)(feof(s) * 2 + ferror(s)) : 0);
  see(w, s ? (uint64_t)fgetc(s) : 0);
  if (s)
    fclose(s);
}
static void see_stream_open(struct world *w, FILE *s) {
  see(w, s != NULL);
  see_stream(w, s);
}
static const char *const modes[] = {"r", "rb", "re", "", "zzz", "r+"};
#define MODE modes[choose(w, 11, sizeof modes / sizeof *modes - 1)]
CASE(fopen) { see_stream_open(w, f(some_path(w), MODE)); }
CASE(fopen64) { see_stream_open(w, f(some_path(w), MODE)); }
CASE(freopen) { see_stream_open(w, f(some_path(w), MODE, fopen(w->path, "r"))); }
CASE(fdopen) {
  int fd = input_fd(w);
  FILE *s = f(fd, MODE);
  see_stream_open(w, s);
  if (!s)
    close(fd);
}
CASE(fclose) {
  FILE *s = input_stream(w);
  if (choose(w, 13, 2))
    close(fileno(s));
  see(w, (uint64_t)f(s));
  see_errno(w);
}
static void take(size_t (*f)(void *, size_t, size_t, FILE *), struct world *w) {
  FILE *s = choose(w, 13, 9) ? input_stream(w) : fopen("/dev/null", "w"); /* not for reading */
  for (int i = 0; i < 2; i++)
    see(w, f(buffer(w) + 300 * i, choose(w, 13, 5), choose(w, 14, 60), s));
  see_stream(w, s);
}
CASE(fread) { take(f, w); }
CASE(fread_unlocked) { take(f, w); }
static void take_line(char *(*f)(char *, int, FILE *), struct world *w) {
  FILE *s = choose(w, 13, 9) ? input_stream(w) : fopen("/dev/null", "w");
  for (int i = 0; i < 3; i++)
    see_pointer(w, f(buffer(w) + 100 * i, (int)choose(w, 14, 80) + 1, s));
  see_stream(w, s);
}
CASE(fgets) { take_line(f, w); }
CASE(fgets_unlocked) { take_line(f, w); }
static void take_character(int (*f)(FILE *), struct world *w) {
  FILE *s = choose(w, 13, 9) ? input_stream(w) : fopen("/dev/null", "r");
  for (int i = 0; i < 3; i++)
    see(w, (uint64_t)f(s));
  see_stream(w, s);
}
CASE(fgetc) { take_character(f, w); }
CASE(fgetc_unlocked) { take_character(f, w); }
CASE(getc) { take_character(f, w); }
CASE(_IO_getc) { take_character(f, w); }
CASE(getc_unlocked) { take_character(f, w); }
CASE(__uflow) { take_character(f, w); }
static void take_standard(int (*f)(void), struct world *w) {
  if (!freopen(w->path, "r", stdin))
    abort();
  fseek(stdin, choose(w, 12, 150), SEEK_SET);
  see(w, (uint64_t)f());
  see(w, (uint64_t)f());
  see(w, (uint64_t)ftell(stdin));
}
CASE(getchar) { take_standard(f, w); }
CASE(getchar_unlocked) { take_standard(f, w); }
static void take_delimited(__typeof__(&getdelim) f, struct world *w, int delimiter) {
  FILE *s = choose(w, 13, 9) ? input_stream(w) : fopen("/dev/null", "w");
  char *line = NULL;
  size_t room = 0;
  if (choose(w, 14, 2))
    line = malloc(room = 5);
  for (int i = 0; i < 3; i++) {
    ssize_t got = f(&line, &room, delimiter, s);
    see(w, (uint64_t)got);
    if (got > 0)
      see_bytes(w, line, (size_t)got + 1);
  }
  see(w, room);
  free(line);
  see(w, (uint64_t)f(NULL, &room, delimiter, s));
  see_stream(w, s);
}
CASE(getdelim) { take_delimited(f, w, letter(w, 15)); }
CASE(__getdelim) { take_delimited(f, w, letter(w, 15)); }
static __typeof__(&getline) line_function;
static ssize_t as_delimited(char **line, size_t *room, int delimiter, FILE *s) {
  (void)delimiter;
  return line_function(line, room, s);
}
CASE(getline) {
  line_function = f;
  take_delimited(as_delimited, w, '\n');
}

/* ---- What differs from run to run: only what cannot is seen */
CASE(time) { time_t t = 0; see(w, f(choose(w, 4, 2) ? &t : NULL) > 0); see(w, t > 0); }
CASE(gettimeofday) { struct timeval t; see(w, (uint64_t)f(&t, NULL)); see(w, t.tv_usec < 1000000); }
CASE(clock_gettime) {
  struct timespec t = {0, 0};
  see(w, (uint64_t)f(choose(w, 4, 2) ? CLOCK_MONOTONIC : (clockid_t)99, &t));
  see_errno(w);
}
CASE(getrandom) {
  char b[32] = {0};
  see(w, (uint64_t)f(b, choose(w, 4, 33), choose(w, 5, 4) ? 0 : 0x8000));
  see_errno(w);
}

/* ---- Numbers of processes: of this one, or of nobody */
static pid_t somebody(struct world *w) { return choose(w, 4, 3) ? getpid() : INT32_MAX; }
static int signal_number(struct world *w) { return choose(w, 5, 2) ? 0 : 999; }
static void see_result(struct world *w, long result) {
  see(w, (uint64_t)result);
  see_errno(w);
}
CASE(getpid) { see(w, (uint64_t)f()); }
CASE(getppid) { see(w, (uint64_t)f()); }
CASE(gettid) { see(w, (uint64_t)f()); }
CASE(getpgrp) { see(w, (uint64_t)f()); }
CASE(getpgid) { see_result(w, f(somebody(w))); }
CASE(__getpgid) { see_result(w, f(somebody(w))); }
CASE(getsid) { see_result(w, f(somebody(w))); }
CASE(setpgid) { see_result(w, f(INT32_MAX, somebody(w))); }
CASE(setsid) {
  if (getpgrp() == getpid())
    see_result(w, f());
} /* refused to a leader */
CASE(tcgetpgrp) { see_result(w, f(-1)); }
CASE(tcgetsid) { see_result(w, f(-1)); }
CASE(tcsetpgrp) { see_result(w, f(-1, somebody(w))); }
CASE(kill) { see_result(w, f(somebody(w), signal_number(w))); }
CASE(killpg) { see_result(w, f(choose(w, 4, 3) ? getpgrp() : INT32_MAX, signal_number(w))); }
CASE(tgkill) { see_result(w, f(somebody(w), gettid(), signal_number(w))); }
CASE(raise) { see_result(w, f(signal_number(w))); }
CASE(sigqueue) { see_result(w, f(somebody(w), signal_number(w), (union sigval){.sival_int = 1})); }
CASE(pidfd_open) {
  int fd = f(somebody(w), choose(w, 5, 2) ? 0 : ~0u);
  see(w, fd >= 0);
  see_errno(w);
  if (fd >= 0)
    close(fd);
}
CASE(fcntl) {
  int command = choose(w, 4, 2) ? F_GETFD : F_GETOWN;
  see_result(w, f(choose(w, 5, 2) ? 0 : -1, command));
}
CASE(fcntl64) { see_result(w, f(choose(w, 5, 2) ? 0 : -1, F_SETFD, 0)); }
CASE(waitpid) {
  int s = 7;
  see_result(w, f(somebody(w), &s, WNOHANG));
  see(w, (uint64_t)s);
}
CASE(wait4) {
  int s = 7;
  see_result(w, f(-somebody(w), &s, WNOHANG, NULL));
  see(w, (uint64_t)s);
}
CASE(waitid) {
  siginfo_t info = {0};
  see_result(w, f(choose(w, 5, 2) ? P_PID : P_PGID, (id_t)somebody(w), &info, WEXITED | WNOHANG));
}
CASE(getpriority) { see_result(w, f(PRIO_PROCESS, (id_t)somebody(w))); }
CASE(setpriority) { see_result(w, f(PRIO_PROCESS, (id_t)somebody(w), 19)); }
CASE(prlimit) {
  struct rlimit old = {0, 0};
  see_result(w, f(somebody(w), RLIMIT_CORE, NULL, &old));
  see(w, old.rlim_max);
}
CASE(prlimit64) {
  struct rlimit64 old = {0, 0};
  see_result(w, f(somebody(w), RLIMIT_CORE, NULL, &old));
  see(w, old.rlim_max);
}
CASE(sched_getaffinity) {
  cpu_set_t set;
  CPU_ZERO(&set);
  see_result(w, f(somebody(w), sizeof set, &set));
  see(w, (uint64_t)CPU_COUNT(&set));
}
CASE(sched_setaffinity) {
  cpu_set_t none;
  CPU_ZERO(&none);
  see_result(w, f(somebody(w), sizeof none, &none));
}
CASE(sched_getscheduler) { see_result(w, f(somebody(w))); }
CASE(sched_setscheduler) {
  struct sched_param normal = {0};
  see_result(w, f(somebody(w), SCHED_OTHER, &normal));
}
CASE(sched_getparam) {
  struct sched_param p = {7};
  see_result(w, f(somebody(w), &p));
  see(w, (uint64_t)p.sched_priority);
}
CASE(sched_setparam) {
  struct sched_param p = {0};
  see_result(w, f(somebody(w), &p));
}
CASE(sched_rr_get_interval) {
  struct timespec t = {0, 0};
  see_result(w, f(somebody(w), &t));
}
CASE(clock_getcpuclockid) {
  clockid_t clock = 0;
  see(w, (uint64_t)f(somebody(w), &clock));
}
CASE(process_vm_readv) {
  char copy[8] = {0};
  struct iovec to = {copy, sizeof copy}, from = {w->page, sizeof copy};
  see_result(w, f(somebody(w), &to, 1, &from, 1, 0));
  see_bytes(w, copy, sizeof copy);
}
CASE(process_vm_writev) {
  char copy[8] = "written";
  struct iovec from = {copy, sizeof copy}, to = {w->page, sizeof copy};
  see_result(w, f(somebody(w), &from, 1, &to, 1, 0));
}
CASE(syscall) {
  switch (choose(w, 5, 4)) {
  case 0:
    see_result(w, f(SYS_kill, somebody(w), 999));
    break;
  case 1:
    see_result(w, f(SYS_tgkill, somebody(w), gettid(), 0));
    break;
  case 2:
    see_result(w, f(SYS_getpgid, somebody(w)));
    break;
  default:
    see_result(w, f(SYS_lseek, 0, 0L, SEEK_CUR));
  }
}

/* ---- Positions, ends and sizes */
CASE(write) {
  int pair[2] = {-1, -1};
  if (pipe(pair) != 0)
    return;
  see(w, (uint64_t)f(pair[choose(w, 12, 4) != 0], w->text, choose(w, 13, TEXT)));
  see_errno(w);
  close(pair[1]);
  see(w, (uint64_t)read(pair[0], buffer(w), 99));
  close(pair[0]);
}
CASE(recvfrom) {
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return;
  if (write(pair[0], w->text, choose(w, 12, TEXT)) >= 0)
    see(w, (uint64_t)f(pair[1], buffer(w), choose(w, 13, 99), MSG_DONTWAIT, NULL, NULL));
  see_errno(w);
  close(pair[0]);
  close(pair[1]);
}
CASE(recvmsg) {
  int pair[2] = {-1, -1};
  struct iovec parts[2] = {{buffer(w), choose(w, 13, 20)}, {buffer(w) + 50, choose(w, 14, 20)}};
  struct msghdr message = {0};
  message.msg_iov = parts;
  message.msg_iovlen = choose(w, 11, 3);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return;
  if (write(pair[0], w->text, choose(w, 12, TEXT)) >= 0)
    see(w, (uint64_t)f(pair[1], &message, MSG_DONTWAIT));
  see_errno(w);
  close(pair[0]);
  close(pair[1]);
}
static void see_descriptor(struct world *w, int fd) {
  see(w, fd >= 0);
  see_errno(w);
  if (fd > 2)
    close(fd);
}
CASE(accept) { see_descriptor(w, f(choose(w, 12, 2) ? -1 : 1, NULL, NULL)); }
CASE(accept4) { see_descriptor(w, f(choose(w, 12, 2) ? -1 : 1, NULL, NULL, SOCK_CLOEXEC)); }
static void see_copy(struct world *w, int fd, int copy) {
  see(w, copy >= 0);
  see_errno(w);
  see(w, (uint64_t)read(copy, buffer(w), 9));
  see(w, (uint64_t)lseek(fd, 0, SEEK_CUR));
  if (copy >= 0)
    close(copy);
  close(fd);
}
CASE(dup) {
  int fd = input_fd(w);
  see_copy(w, fd, f(fd));
}
CASE(dup2) {
  int fd = input_fd(w);
  see_copy(w, fd, f(fd, choose(w, 12, 4) ? 90 : -1));
}
CASE(dup3) {
  int fd = input_fd(w);
  see_copy(w, fd, f(fd, choose(w, 12, 4) ? 90 : fd, choose(w, 13, 2) ? O_CLOEXEC : 0));
}
static void seek(__typeof__(&lseek) f, struct world *w) {
  int fd = input_fd(w);
  for (unsigned i = 0; i < 3; i++)
    see(w, (uint64_t)f(fd, (off_t)choose(w, 12 + i, 90) - 20, (int)choose(w, 13 + i, 4)));
  see_errno(w);
  see(w, (uint64_t)read(fd, buffer(w), 30));
  close(fd);
}
CASE(lseek) { seek(f, w); }
CASE(lseek64) { seek((__typeof__(&lseek))f, w); }
static void see_facts(struct world *w, int result, const struct stat *facts) {
  see(w, (uint64_t)result);
  see_errno(w);
  if (result == 0) {
    see(w, (uint64_t)facts->st_size);
    see(w, facts->st_ino);
    see(w, facts->st_mode);
  }
}
typedef int stat_path(const char *, struct stat *);
static void see_stat(struct world *w, stat_path *f) {
  struct stat facts;
  see_facts(w, f(some_path(w), &facts), &facts);
}
CASE(stat) { see_stat(w, (stat_path *)f); }
CASE(lstat) { see_stat(w, (stat_path *)f); }
CASE(stat64) { see_stat(w, (stat_path *)f); }
CASE(lstat64) { see_stat(w, (stat_path *)f); }
typedef int stat_fd(int, struct stat *);
static void see_fstat(struct world *w, stat_fd *f) {
  struct stat facts;
  int fd = input_fd(w);
  see_facts(w, f(choose(w, 12, 5) ? fd : -1, &facts), &facts);
  close(fd);
}
CASE(fstat) { see_fstat(w, (stat_fd *)f); }
CASE(fstat64) { see_fstat(w, (stat_fd *)f); }
typedef int stat_at(int, const char *, struct stat *, int);
static void see_fstatat(struct world *w, stat_at *f) {
  struct stat facts;
  see_facts(w, f(choose(w, 13, 2) ? AT_FDCWD : -5, some_path(w), &facts, 0), &facts);
}
CASE(fstatat) { see_fstatat(w, (stat_at *)f); }
CASE(fstatat64) { see_fstatat(w, (stat_at *)f); }
CASE(fmemopen) {
  TEXTS;
  FILE *s = f(a, n, choose(w, 8, 3) ? "r" : "r+");
  see(w, s != NULL);
  if (!s)
    return;
  int number = -1;
  see(w, (uint64_t)getc(s));
  see(w, (uint64_t)fread(buffer(w), 2, 2, s));
  see_pointer(w, fgets(buffer(w) + 8, 1 + (int)choose(w, 9, 20), s));
  see(w, (uint64_t)fscanf(s, "%d", &number));
  see(w, (uint64_t)number);
  see(w, (uint64_t)ungetc('u', s));
  see(w, (uint64_t)fgetc(s));
  see(w, (uint64_t)fseek(s, (long)choose(w, 10, 9), SEEK_SET));
  see(w, (uint64_t)fgetc(s));
  see(w, (uint64_t)ftell(s));
  see(w, (uint64_t)fclose(s));
}
static void seek_stream(int (*f)(FILE *, long, int), struct world *w) {
  FILE *s = input_stream(w);
  for (unsigned i = 0; i < 3; i++) {
    see(w, (uint64_t)f(s, (long)choose(w, 12 + i, 90) - 20, (int)choose(w, 13 + i, 4)));
    see(w, (uint64_t)fread(buffer(w), 1, 9, s));
  }
  see_stream(w, s);
}
CASE(fseek) { seek_stream(f, w); }
CASE(fseeko) { seek_stream(f, w); }
CASE(fseeko64) { seek_stream(f, w); }
CASE(rewind) {
  FILE *s = input_stream(w);
  see(w, (uint64_t)getc(s));
  f(s);
  see(w, (uint64_t)getc(s));
  see_stream(w, s);
}
static void tell_stream(long (*f)(FILE *), struct world *w) {
  FILE *s = input_stream(w);
  see(w, (uint64_t)f(s));
  see(w, (uint64_t)getc(s));
  see(w, (uint64_t)f(s));
  see_stream(w, s);
}
CASE(ftell) { tell_stream(f, w); }
CASE(ftello) { tell_stream(f, w); }
CASE(ftello64) { tell_stream(f, w); }
static void end_of_stream(int (*f)(FILE *), struct world *w) {
  FILE *s = input_stream(w);
  see(w, f(s) != 0);
  see(w, (uint64_t)fread(buffer(w), 1, choose(w, 14, 2) ? 900 : 9, s));
  see(w, f(s) != 0);
  see_stream(w, s);
}
CASE(feof) { end_of_stream(f, w); }
CASE(feof_unlocked) { end_of_stream(f, w); }
CASE(clearerr) {
  FILE *s = input_stream(w);
  see(w, (uint64_t)fread(buffer(w), 1, 900, s));
  f(s);
  see(w, feof(s) != 0);
  see_stream(w, s);
}

/* ---- Quotients */
#define DIVIDE(name, type)                                                                         \
  CASE(name) {                                                                                     \
    type value, by;                                                                                \
    memcpy(&value, w->text, sizeof value);                                                         \
    memcpy(&by, w->text + 8, sizeof by);                                                           \
    by = choose(w, 3, 2) ? by % 1000 : by;                                                         \
    __typeof__(f(1, 1)) got = f(value, by == 0 || by == -1 ? 7 : by);                              \
    see(w, (uint64_t)got.quot);                                                                    \
    see(w, (uint64_t)got.rem);                                                                     \
  }
DIVIDE(div, int)
DIVIDE(ldiv, long)
DIVIDE(lldiv, long long)
DIVIDE(imaxdiv, intmax_t)

/* ---- Addresses */
static char *address(struct world *w) {
  static const char *const starts[] = {"",   "1.2.3.",     "10.0.0.", "255.255.", "0.0.0.",
                                       "0x7f.", "127.0.0.1 ", "1.",      "256.",     "01.2.3."};
  char *s = buffer(w);
  strcpy(s, starts[choose(w, 4, sizeof starts / sizeof *starts)]);
  for (unsigned i = 0, end = choose(w, 5, 9); i < end; i++) {
    char next = "0123456789..2.1 x"[(uint8_t)w->text[i] % (choose(w, 6, 3) ? 15 : 17)];
    strncat(s, &next, 1);
  }
  return s;
}
CASE(inet_pton) {
  see(w, (uint64_t)f(choose(w, 7, 8) ? AF_INET : AF_INET6, address(w), w->page));
  see_errno(w);
}
CASE(inet_aton) { see(w, (uint64_t)f(address(w), (struct in_addr *)w->page)); }
CASE(inet_addr) { see(w, f(address(w))); }

/* ---- Dates */
static time_t seconds(struct world *w) {
  time_t t;
  memcpy(&t, w->text, sizeof t);
  return choose(w, 3, 8) == 0 ? t : choose(w, 3, 8) == 1 ? t % 10000000000 : (uint32_t)t;
}
static void see_date(struct world *w, const struct tm *date) {
  see(w, date != NULL);
  for (int i = 0; date && i < 9; i++)
    see(w, (uint64_t)((const int *)date)[i]);
  see(w, date ? (uint64_t)date->tm_gmtoff : 0);
}
static void date_of(struct tm *(*f)(const time_t *), struct world *w) {
  time_t t = seconds(w);
  see_date(w, f(&t));
}
static void date_at(struct tm *(*f)(const time_t *, struct tm *), struct world *w) {
  time_t t = seconds(w);
  struct tm date;
  see_date(w, f(&t, &date));
}
CASE(gmtime) { date_of(f, w); }
CASE(localtime) { date_of(f, w); }
CASE(gmtime_r) { date_at(f, w); }
CASE(localtime_r) { date_at(f, w); }
static void seconds_of(time_t (*f)(struct tm *), struct world *w) {
  struct tm date = {.tm_isdst = (int)choose(w, 9, 3) - 1};
  for (int i = 0; i < 6; i++)
    ((int *)&date)[i] = (uint8_t)w->text[i] % (choose(w, 3, 4) ? 28 : 90) - (choose(w, 4, 4) == 0);
  date.tm_year = date.tm_year * 5 + (uint8_t)w->text[7] % 5;
  see(w, (uint64_t)f(&date));
  see_date(w, &date);
}
CASE(timegm) { seconds_of(f, w); }
CASE(mktime) { seconds_of(f, w); }

/* ---- Options of the command line */
static const struct option names[] = {{"ab", no_argument, NULL, 'a'},
                                      {"aab", required_argument, NULL, 'b'},
                                      {"aba", optional_argument, NULL, 'B'},
                                      {"01", required_argument, NULL, 1},
                                      {"b", no_argument, NULL, 'x'},
                                      {NULL, 0, NULL, 0}};
static const char *const letters[] = {"ab:A", "+aAb", ":ab:", "-a:b::", "a1:0::x;", "ba", "", "+:b"};
/* Words of the text that may be options, in an array that is permuted. */
static int arguments(struct world *w, char **to) {
  int count = 1 + (int)choose(w, 8, 5);
  char *at = buffer(w);
  to[0] = strcpy(w->page, "program");
  for (int i = 1; i <= count; i++) {
    static const char *const starts[] = {"-", "--", "", "-a", "--ab=", "--", "-b"};
    to[i] = at;
    strcpy(at, starts[choose(w, 9 + (unsigned)i, sizeof starts / sizeof *starts)]);
    strncat(at, string_at(w, (unsigned)i), choose(w, 4 + (unsigned)i, 6));
    at += strlen(at) + 1;
  }
  to[count + 1] = NULL;
  opterr = optind = 0;
  return count + 1;
}
static void see_option(struct world *w, int got, char **given, int count) {
  see(w, (uint64_t)got);
  see(w, (uint64_t)optind);
  see_pointer(w, optarg);
  see(w, (uint64_t)(got == '?' || got == ':' ? optopt : 0));
  see_errno(w);
  if (got == -1)
    for (int i = 1; i < count; i++)
      see_pointer(w, given[i]);
}
#define LETTERS letters[choose(w, 15, sizeof letters / sizeof *letters)]
CASE(getopt) {
  char *given[8];
  int count = arguments(w, given);
  for (int i = 0, got = 0; i < 9 && got != -1; i++) {
    got = f(count, given, LETTERS);
    see_option(w, got, given, count);
  }
}
static void long_options(int (*f)(int, char *const *, const char *, const struct option *, int *),
                         struct world *w) {
  char *given[8];
  int count = arguments(w, given), index = -1;
  for (int i = 0, got = 0; i < 8 && got != -1; i++) {
    got = f(count, given, LETTERS, names, choose(w, 14, 3) ? &index : NULL);
    see_option(w, got, given, count);
    see(w, (uint64_t)index);
  }
}
CASE(getopt_long) { long_options(f, w); }
CASE(getopt_long_only) { long_options(f, w); }

/* ---- Threads and jumps: what goes by value */
static void *number_of(struct world *w) {
  uintptr_t value;
  memcpy(&value, w->text, sizeof value);
  return (void *)(value >> choose(w, 3, 64));
}
static void *threefold(void *value) { return (void *)((uintptr_t)value * 3); }
static int halved(void *value) { return (int)((uintptr_t)value / 2); }
CASE(pthread_create) {
  pthread_t thread;
  void *result = NULL;
  see(w, (uint64_t)f(&thread, NULL, threefold, number_of(w)));
  pthread_join(thread, &result);
  see(w, (uintptr_t)result);
}
CASE(pthread_join) {
  pthread_t thread;
  void *result = NULL;
  pthread_create(&thread, NULL, threefold, number_of(w));
  see(w, (uint64_t)f(thread, choose(w, 4, 4) ? &result : NULL));
  see(w, (uintptr_t)result);
}
struct leaving {
  __typeof__(&pthread_exit) leave;
  void *value;
};
static void *leave(void *how) {
  const struct leaving *l = how;
  l->leave(l->value);
}
CASE(pthread_exit) {
  struct leaving how = {f, number_of(w)};
  pthread_t thread;
  void *result = NULL;
  pthread_create(&thread, NULL, leave, &how);
  pthread_join(thread, &result);
  see(w, (uintptr_t)result);
}
CASE(pthread_setspecific) {
  pthread_key_t key;
  pthread_key_create(&key, NULL);
  see(w, (uint64_t)f(key, number_of(w)));
  see(w, (uintptr_t)pthread_getspecific(key));
  pthread_key_delete(key);
  see(w, (uint64_t)f(key, number_of(w)));
}
CASE(pthread_getspecific) {
  pthread_key_t key;
  pthread_key_create(&key, NULL);
  see(w, (uintptr_t)f(key));
  pthread_setspecific(key, number_of(w));
  see(w, (uintptr_t)f(key));
  pthread_key_delete(key);
}
CASE(thrd_create) {
  thrd_t thread;
  int result = 0;
  see(w, (uint64_t)f(&thread, halved, number_of(w)));
  thrd_join(thread, &result);
  see(w, (uint64_t)result);
}
CASE(thrd_join) {
  thrd_t thread;
  int result = 0;
  thrd_create(&thread, halved, number_of(w));
  see(w, (uint64_t)f(thread, choose(w, 4, 4) ? &result : NULL));
  see(w, (uint64_t)result);
}
CASE(tss_set) {
  tss_t key;
  tss_create(&key, NULL);
  see(w, (uint64_t)f(key, number_of(w)));
  see(w, (uintptr_t)tss_get(key));
  tss_delete(key);
}
CASE(tss_get) {
  tss_t key;
  tss_create(&key, NULL);
  see(w, (uintptr_t)f(key));
  tss_set(key, number_of(w));
  see(w, (uintptr_t)f(key));
  tss_delete(key);
}
#define JUMP(name, begin)                                                                          \
  CASE(name) {                                                                                     \
    const int how = begin;                                                                         \
    if (how == 0)                                                                                  \
      f(before, choose(w, 4, 4) ? (int)(uintptr_t)number_of(w) : 0);                                \
    see(w, (uint64_t)how);                                                                         \
  }
static sigjmp_buf before;
JUMP(longjmp, setjmp(before))
JUMP(_longjmp, _setjmp(before))
JUMP(siglongjmp, sigsetjmp(before, 1))

typedef void call(void (*)(void), struct world *);
static const struct {
  const char *name;
  call *run;
  void (*called)(void);
} cases[] = {
#define SF_MODEL(name, signature) {#name, (call *)case_##name, (void (*)(void))name},
#include "symfleet/models.def"
};
enum { CASES = sizeof cases / sizeof *cases };

static int told_apart(const struct world *a, const struct world *b) {
  return a->count != b->count || memcmp(a->seen, b->seen, a->count * sizeof *a->seen) != 0 ||
         memcmp(a->page, b->page, PAGE) != 0;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  if (strcmp(argv[1], "--list") == 0) {
    for (int i = 0; i < CASES; i++)
      puts(dlsym(RTLD_DEFAULT, cases[i].name) ? cases[i].name : "");
    return 0;
  }
  struct world real = {.page = guarded_page()}, ours = {.page = guarded_page()};
  FILE *input = fopen(argv[1], "rb");
  static uint8_t record[RECORD];
  uint64_t calls = 0, wrong = 0, digest = 0;
  while (input && fread(record, 1, RECORD, input) == RECORD) {
    for (int i = 0; i < CASES; i++) {
      void (*known)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, cases[i].name);
      if (!known)
        continue; /* not in this C library */
      enter_world(&real, record, argv[1]);
      cases[i].run(known, &real);
      int real_errno = errno;
#ifdef TRACE
      fprintf(stderr, "%s\n", cases[i].name);
#endif
      enter_world(&ours, record, argv[1]);
      cases[i].run(cases[i].called, &ours);
      int ours_errno = errno;
      calls++;
      for (unsigned k = 0; k < ours.count; k++)
        digest = digest * 31 + ours.seen[k];
      if (real_errno == ours_errno && !told_apart(&real, &ours))
        continue;
      wrong++;
      printf("%s: errno %d %d\n", cases[i].name, real_errno, ours_errno);
      for (unsigned k = 0; k < real.count; k++)
        if (real.seen[k] != ours.seen[k])
          printf("  observation %u: %#jx %#jx\n", k, (uintmax_t)real.seen[k], (uintmax_t)ours.seen[k]);
    }
  }
  (void)digest;
  printf("%ju calls, %ju told apart\n", (uintmax_t)calls, (uintmax_t)wrong);
  return wrong != 0;
}
