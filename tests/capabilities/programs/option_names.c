// Exercises: getopt_long of a name and its value
// Input: argv; seed: 2d2d6162636465666768696a
// Solution: 2d2d64657074683d3233
#include "capability.h"

#include <getopt.h>

static const struct option names[] = {
    {"depth", required_argument, NULL, 'd'}, {"quiet", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};

int main(int argc, char **argv) {
  long depth = 0;
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, "d:q", names, NULL)) != -1;) {
    if (c == '?')
      return 3;
    if (c == 'd' && argv[1][1] == '-')
      depth = strtol(optarg, NULL, 10);
  }
  if (depth == 23)
    hit();
  return tell((unsigned long)depth);
}
