/* A target that no compiler instrumented: it speaks the fork-server protocol
 * and writes rows and events by hand. Tests of the executor choose what it does
 * by its first argument; the last argument, or standard input without one, is
 * the input.
 *
 *   cc -I native/include fake_target.c -o fake_target
 *
 * The symbol below marks it as instrumented, as the real runtime's do.
 */
#define _GNU_SOURCE
#include "symfleet/abi.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char __sf_fake_runtime[] = "__sf_fake_runtime";

static int command_fd, status_fd, table_fd;
static struct sf_header *table;
static struct sf_row *rows;
static struct sf_event *events;
static uint8_t *edges;
static int recording;

static uint8_t input[4096];
static size_t input_size;

/* ---- Recording ----------------------------------------------------------- */

static uint32_t row(uint8_t op, uint8_t bits, uint16_t aux, uint32_t a, uint32_t b, uint64_t k) {
  if (!recording)
    return 0;
  uint64_t index = __atomic_fetch_add(&table->next_row, 1, __ATOMIC_RELAXED);
  if (index >= table->rows_cap) {
    table->degraded |= SF_DEGRADED_ROWS;
    return 0;
  }
  rows[index] = (struct sf_row){op, bits, aux, a, b, 0, k};
  return (uint32_t)index;
}

static void event(uint8_t kind, int taken, uint32_t label, uint64_t site, uint64_t value) {
  if (!recording)
    return;
  uint64_t index = __atomic_fetch_add(&table->next_event, 1, __ATOMIC_RELAXED);
  if (index >= table->events_cap) {
    table->degraded |= SF_DEGRADED_EVENTS;
    return;
  }
  events[index] = (struct sf_event){kind, (uint8_t)taken, 0, label, site, value};
}

static void edge(unsigned index) {
  if (edges[index] < 255)
    ++edges[index];
}

/* if (bytes at offset == constant), as the pass would record it. */
static int equals(uint64_t offset, unsigned bits, uint64_t constant, uint64_t site) {
  uint64_t value = 0;
  if (offset + bits / 8 > input_size)
    return 0;
  memcpy(&value, input + offset, bits / 8);
  int taken = value == constant;
  uint32_t read = row(SF_OP_INPUT, (uint8_t)bits, 0, 0, 0, offset);
  uint32_t label = row(SF_OP_EQ, 1, (uint16_t)bits, read, 0, constant);
  event(SF_EV_BRANCH, taken, label, site, 0);
  edge((unsigned)(2 * site) + (unsigned)taken);
  return taken;
}

static int below(uint64_t offset, uint64_t constant, uint64_t site) {
  if (offset >= input_size)
    return 0;
  int taken = input[offset] < constant;
  uint32_t read = row(SF_OP_INPUT, 8, 0, 0, 0, offset);
  uint32_t label = row(SF_OP_ULT, 1, 8, read, 0, constant);
  event(SF_EV_BRANCH, taken, label, site, 0);
  edge((unsigned)(2 * site) + (unsigned)taken);
  return taken;
}

/* ---- What it can do ------------------------------------------------------ */

static void magic(void) {
  static const uint32_t words[] = {0xdeadbeef, 0x0badcafe, 0x12345678,
                                   0xfeedface, 0x8badf00d, 0xc001d00d};
  for (unsigned i = 0; i < 6; ++i)
    if (!equals(4 * i, 32, words[i], 10 + i))
      return;
  abort();
}

/* (x * 77 + (x >> 3)) == y with x below 0x30000: no byte of it can be solved
 * alone, so it needs Z3. */
static void arithmetic(void) {
  uint32_t x;
  if (input_size < 4)
    return;
  memcpy(&x, input, 4);
  uint32_t in = row(SF_OP_INPUT, 32, 0, 0, 0, 0);
  uint32_t small = row(SF_OP_ULT, 1, 32, in, 0, 0x30000);
  event(SF_EV_BRANCH, x < 0x30000, small, 20, 0);
  edge(40 + (x < 0x30000));
  if (x >= 0x30000)
    return;
  uint32_t product = row(SF_OP_MUL, 32, 0, in, 0, 77);
  uint32_t shifted = row(SF_OP_LSHR, 32, 0, in, 0, 3);
  uint32_t mixed = row(SF_OP_XOR, 32, 0, product, shifted, 0);
  uint32_t wanted = 123456u * 77u ^ 123456u >> 3;
  uint32_t label = row(SF_OP_EQ, 1, 32, mixed, 0, wanted);
  int taken = (x * 77 ^ x >> 3) == wanted;
  event(SF_EV_BRANCH, taken, label, 21, 0);
  edge(42 + (unsigned)taken);
}

/* A few bytes in independent classes: many children, all by scanning. */
static void classes(void) {
  for (unsigned i = 0; i < 8 && i < input_size; ++i) {
    if (below(i, 'a', 30 + 2 * i))
      below(i, '0', 31 + 2 * i);
  }
}

/* Asks for more than there is. */
static void hungry(void) {
  if (input_size < 8) {
    event(SF_EV_EOF, 0, 0, 50, 8);
    edge(100);
  } else {
    edge(101);
    equals(0, 8, 'x', 51);
  }
}

/* x < 10 and then x > 20: the second flip is refuted. */
static void contradiction(void) {
  if (below(0, 10, 60))
    below(0, 20, 61);
}

static int matches(uint64_t offset, uint8_t wanted, uint64_t site) {
  int taken = offset < input_size && input[offset] == wanted;
  uint32_t label = row(SF_OP_EQ, 1, 8, row(SF_OP_INPUT, 8, 0, 0, 0, offset), 0, wanted);
  event(SF_EV_BRANCH, taken, label, site, 0);
  return taken;
}

/* Two keywords that are matched by the same code: the second shows no edge of
 * its own before its argument does. */
static void keywords(void) {
  int is_a = matches(0, 'a', 90), is_b = matches(0, 'b', 91);
  edge(is_a || is_b ? 120 : 121);
  if (is_b && matches(1, '(', 92))
    edge(122);
}

/* Six steps by one branch: once its edges are known, no step shows progress. */
static void door(void) {
  for (unsigned i = 0; i < 6; ++i)
    if (!equals(i, 8, (uint64_t)"sesame"[i], 93))
      return;
  edge(123);
}

/* Nonsense of every kind, different for each input. */
static void garbage(void) {
  unsigned state = 1;
  for (size_t i = 0; i < input_size; ++i)
    state = state * 31 + input[i];
  srand(state);
  uint8_t *bytes = (uint8_t *)rows;
  for (unsigned i = 0; i < 24 * 2000; ++i)
    bytes[i] = (uint8_t)(rand() % (i % 24 < 2 ? 70 : 256));
  bytes = (uint8_t *)events;
  for (unsigned i = 0; i < 24 * 500; ++i)
    bytes[i] = (uint8_t)(rand() % (i % 24 < 2 ? 5 : i % 24 < 6 ? 8 : 256));
  table->next_row = rand() % 3 ? 2000 : ~0ull;
  table->next_event = rand() % 3 ? 500 : ~0ull;
  table->next_blob = ~0ull;
  table->opens_len = ~0ull;
  memset(table->opens, 'x', sizeof table->opens);
  table->rows_off = table->events_off = 12345;
  table->symbolic_bytes = 1;
  if (rand() % 2)
    abort();
}

static void escape(void) {
  if (fork() == 0) {
    setsid();
    for (;;)
      pause();
  }
  edge(110);
}

static void unstable(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  equals(0, 8, 'u', 70);
  edge(200 + (unsigned)(now.tv_nsec / 1000) % 1000);
}

/* What to kill, which run of all, and a file that counts the runs by its size: one run dies by
 * SIGKILL half way, as by somebody's hand, alone or after its fork server. */
static void victim(const char *order) {
  char whom[8], counter[512];
  int which = 0;
  if (sscanf(order, "%7[a-z]:%d:%511s", whom, &which, counter) != 3)
    exit(9);
  equals(0, 8, 'v', 90);
  int fd = open(counter, O_CREAT | O_WRONLY | O_APPEND, 0600);
  if (fd < 0 || write(fd, ".", 1) != 1)
    exit(9);
  if (lseek(fd, 0, SEEK_END) == which) {
    if (strcmp(whom, "server") == 0)
      kill(getppid(), SIGKILL);
    raise(SIGKILL);
  }
  close(fd);
  equals(1, 8, 'w', 92);
}

/* Ends by a signal, each time somewhere else. */
static void erratic(void) {
  unstable();
  raise(SIGTERM);
}

static void prints(void) {
  for (unsigned i = 0; i < 1 << 13; ++i)
    printf("%0512d\n", 0);
  fflush(stdout);
  equals(0, 8, 'p', 94);
}

static void writes(void) {
  static const char block[1 << 16];
  for (int fd = memfd_create("large", 0); write(fd, block, sizeof block) > 0;)
    ;
}

static void work(const char *what) {
  edge(1);
  if (strcmp(what, "magic") == 0)
    magic();
  else if (strcmp(what, "arithmetic") == 0)
    arithmetic();
  else if (strcmp(what, "classes") == 0)
    classes();
  else if (strcmp(what, "hungry") == 0)
    hungry();
  else if (strcmp(what, "contradiction") == 0)
    contradiction();
  else if (strcmp(what, "keywords") == 0)
    keywords();
  else if (strcmp(what, "door") == 0)
    door();
  else if (strcmp(what, "garbage") == 0)
    garbage();
  else if (strcmp(what, "escape") == 0)
    escape();
  else if (strcmp(what, "unstable") == 0)
    unstable();
  else if (strcmp(what, "exit3") == 0)
    exit(3);
  else if (strcmp(what, "abort") == 0)
    abort();
  else if (strcmp(what, "terminated") == 0)
    raise(SIGTERM);
  else if (strcmp(what, "killed") == 0)
    raise(SIGKILL);
  else if (strcmp(what, "spin") == 0)
    for (volatile int i = 0;; ++i)
      ;
  else if (strcmp(what, "sleep") == 0)
    for (;;)
      pause();
  else if (strcmp(what, "allocate") == 0)
    for (;;)
      memset(malloc(1 << 20), 1, 1 << 20);
  else if (strcmp(what, "erratic") == 0)
    erratic();
  else if (strcmp(what, "prints") == 0)
    prints();
  else if (strcmp(what, "writes") == 0)
    writes();
  else if (strcmp(what, "flood") == 0)
    for (;;)
      printf("%0512d\n", 0);
  else if (strncmp(what, "victim:", 7) == 0)
    victim(what + 7);
  else if (strcmp(what, "killserver") == 0)
    kill(getppid(), SIGKILL);
  else if (strcmp(what, "removes") == 0)
    equals(0, 8, 'r', 80);
}

static void read_input(const char *path) {
  int fd = path ? open(path, O_RDONLY) : 0;
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0)
    exit(9);
  ssize_t n = read(fd, input, sizeof input);
  input_size = n > 0 ? (size_t)n : 0;
  if (status.st_dev == table->input_dev && status.st_ino == table->input_ino) {
    table->input_opens++;
    table->symbolic_bytes += input_size;
  }
}

/* ---- Fork server --------------------------------------------------------- */

static void attach(void) {
  struct sf_header head;
  if (pread(table_fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
    exit(9);
  char *base = mmap(NULL, head.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, table_fd, 0);
  if (base == MAP_FAILED)
    exit(9);
  table = (struct sf_header *)base;
  rows = (struct sf_row *)(base + head.rows_off);
  events = (struct sf_event *)(base + head.events_off);
  edges = (uint8_t *)(base + head.edges_off);
}

/* Returns in each child. */
static void serve(uint32_t abi_version) {
  struct sf_hello hello = {SF_HELLO_MAGIC, abi_version, 2048, 0, 0x1122334455667788};
  if (write(status_fd, &hello, sizeof hello) != (ssize_t)sizeof hello)
    exit(9);
  const pid_t server = getpid();
  struct sf_command command;
  while (read(command_fd, &command, sizeof command) == (ssize_t)sizeof command &&
         command.op == SF_CMD_RUN) {
    pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != server) /* the signal would never come */
        _exit(9);
      recording = command.mode == SF_MODE_RECORD;
      return;
    }
    setpgid(pid, pid);
    struct sf_started started = {pid, 0};
    if (write(status_fd, &started, sizeof started) != (ssize_t)sizeof started)
      exit(9);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    kill(-pid, SIGKILL);
    struct sf_finished finished = {0};
    struct rusage usage;
    wait4(pid, &finished.status, 0, &usage);
    finished.user_us =
        (uint64_t)usage.ru_utime.tv_sec * 1000000u + (uint64_t)usage.ru_utime.tv_usec;
    finished.system_us =
        (uint64_t)usage.ru_stime.tv_sec * 1000000u + (uint64_t)usage.ru_stime.tv_usec;
    finished.rss_kib_max = (uint64_t)usage.ru_maxrss;
    if (write(status_fd, &finished, sizeof finished) != (ssize_t)sizeof finished)
      exit(9);
  }
  exit(0);
}

int main(int argc, char **argv) {
  const char *channel = getenv(SF_CHANNEL_ENV);
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "early") == 0) {
    fprintf(stderr, "libmissing.so.1: cannot open shared object file\n");
    return 127;
  }
  if (!channel || sscanf(channel, "%d,%d,%d", &command_fd, &status_fd, &table_fd) != 3) {
    fprintf(stderr, "fake_target: no executor\n");
    return 2;
  }
  attach();
  serve(strcmp(what, "version") == 0 ? SF_ABI_VERSION + 1 : SF_ABI_VERSION);
  if (strcmp(what, "unread") == 0) {
    static const char opened[] = "/etc/hostname\0/dev/null";
    memcpy(table->opens, opened, sizeof opened);
    table->opens_len = sizeof opened;
    return 0;
  }
  read_input(argc > 2 ? argv[argc - 1] : NULL);
  if (strcmp(what, "removes") == 0 && argc > 2)
    unlink(argv[argc - 1]);
  work(what);
  return 0;
}
