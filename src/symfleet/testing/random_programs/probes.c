/* What a random program decides, for whom it asks to be told.
 *
 * Linked with programs that were compiled with -DPROBES, and never instrumented itself. At its end
 * a process appends its log to the file that PROBES_FILE names: how many entries there are, and the
 * entries. With -DSITES, in an instrumented program that is linked with --wrap, the branch sites
 * of the engine stand between them, and a run in which nothing that depends on the input was
 * compared writes nothing: those are the runs that the engine makes without recording.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARMED = 1, WENT = 2, ENDED = 3, BRANCH = 4, SWITCH = 5 };
enum { ENTRIES_MAX = 1 << 16 };

static struct {
  uint64_t count;
  struct {
    uint32_t kind, way;
    uint64_t name;
  } entries[ENTRIES_MAX];
} told;
#ifdef SITES
static int wanted = 0;
#else
static int wanted = 1;
#endif

static void enter(uint32_t kind, uint64_t name, uint32_t way) {
  if (told.count == ENTRIES_MAX)
    return;
  told.entries[told.count].kind = kind;
  told.entries[told.count].way = way;
  told.entries[told.count++].name = name;
}

void armed(int id) { enter(ARMED, (uint64_t)id, 0); }
void went(int id, uint64_t way) { enter(WENT, (uint64_t)id, (uint32_t)way); }
void ended(uint64_t sum) { enter(ENDED, sum, 0); }

#ifdef SITES
struct at_switch {
  uint64_t site;
};
void __real___sf_branch(uint32_t label, uint64_t taken, uint64_t site);
void __real___sf_switch(const struct at_switch *at, uint32_t label, uint64_t value);

uint32_t __real___sf_compare(uint32_t how, uint32_t la, uint32_t lb, uint64_t a, uint64_t b);

/* Of all comparisons: those that choose a value without a branch are followed, too. */
uint32_t __wrap___sf_compare(uint32_t how, uint32_t la, uint32_t lb, uint64_t a, uint64_t b) {
  wanted |= (la | lb) != 0;
  return __real___sf_compare(how, la, lb, a, b);
}

void __wrap___sf_branch(uint32_t label, uint64_t taken, uint64_t site) {
  if (label) {
    wanted = 1;
    enter(BRANCH, site, taken & 1);
  }
  __real___sf_branch(label, taken, site);
}

void __wrap___sf_switch(const struct at_switch *at, uint32_t label, uint64_t value) {
  if (label) {
    wanted = 1;
    enter(SWITCH, at->site, 0);
  }
  __real___sf_switch(at, label, value);
}
#endif

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("PROBES_FILE");
  if (!path || !wanted)
    return;
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  size_t size = sizeof told.count + told.count * sizeof told.entries[0];
  if (file < 0 || write(file, &told, size) != (ssize_t)size)
    abort();
  close(file);
}
