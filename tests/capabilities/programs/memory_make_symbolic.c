// Exercises: memory that the program declares to be input
// Input: stdin; seed: 41*8
// Solution: 6d61726b65642121
#include "capability.h"

#include <sys/syscall.h>

/* Given by symfleet's runtime; nobody else has it. */
__attribute__((weak)) void symfleet_make_symbolic(void *at, size_t size);

/* A way to read that no model sees. */
static long hidden_read(void *to, size_t room) {
  long size;
  __asm__ volatile("syscall"
                   : "=a"(size)
                   : "a"(SYS_read), "D"(0), "S"(to), "d"(room)
                   : "rcx", "r11", "memory");
  return size;
}

int main(void) {
  uint8_t d[8] = {0};
  long size = hidden_read(d, sizeof d);
  if (size > 0 && symfleet_make_symbolic)
    symfleet_make_symbolic(d, (size_t)size);
  if (memcmp(d, "marked!!", 8) == 0)
    hit();
  return tell(d[0]);
}
