// Exercises: getopt of several letters in one argument
// Input: argv; seed: 41*5
// Solution: 2d7162713d
#include "capability.h"

int main(int argc, char **argv) {
  unsigned quiet = 0, brief = 0, other = 0;
  opterr = 0;
  for (int c; (c = getopt(argc, argv, "bdq")) != -1;) {
    quiet += c == 'q';
    brief += c == 'b';
    other = c == '?' ? (unsigned)optopt : other;
  }
  if (quiet == 2 && brief == 1 && other == '=')
    hit();
  return tell(quiet * 256 + brief * 16 + other);
}
