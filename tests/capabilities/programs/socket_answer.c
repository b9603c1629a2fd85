// Exercises: a dialogue: a question is sent before the answer is read
// Input: socket; seed: 41*8
// Solution: 5553455220786a0a
#include "capability.h"

int main(void) {
  static char banner[20000];
  char line[16] = "";
  memset(banner, '-', sizeof banner);
  for (size_t sent = 0; sent < sizeof banner;) {
    ssize_t more = write(0, banner + sent, sizeof banner - sent);
    if (more <= 0)
      return 1;
    sent += (size_t)more;
  }
  if (read(0, line, sizeof line - 1) < 0)
    return 1;
  if (strncmp(line, "USER xj\n", 8) == 0)
    hit();
  return tell(strlen(line));
}
