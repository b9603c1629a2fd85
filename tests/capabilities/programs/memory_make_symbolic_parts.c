// Exercises: memory that the program declares to be input, part by part
// Input: stdin; seed: 41*8
// Solution: 41*4 70617274
#include "capability.h"

#include <sys/syscall.h>

/* Given by symfleet's runtime; nobody else has it. */
__attribute__((weak)) void symfleet_make_symbolic(void *at, size_t size);

static void hidden_read(void *to, size_t room) {
  long size;
  __asm__ volatile("syscall"
                   : "=a"(size)
                   : "a"(SYS_read), "D"(0), "S"(to), "d"(room)
                   : "rcx", "r11", "memory");
  if (size > 0 && symfleet_make_symbolic)
    symfleet_make_symbolic(to, (size_t)size);
}

int main(void) {
  uint32_t head = 0, body = 0;
  hidden_read(&head, sizeof head);
  hidden_read(&body, sizeof body);
  if (body == 0x74726170)
    hit();
  return tell(head);
}
