// Exercises: openat relative to the folder of the file
// Input: file; seed: 41*4
// Solution: 6f617421
#include "capability.h"

#include <fcntl.h>
#include <libgen.h>

int main(int argc, char **argv) {
  char folder[4096], name[4096];
  uint8_t d[4] = {0};
  snprintf(folder, sizeof folder, "%s", path_of(argc, argv));
  snprintf(name, sizeof name, "%s", argv[1]);
  int at = open(dirname(folder), O_RDONLY | O_DIRECTORY);
  int f = openat(at, basename(name), O_RDONLY);
  if (f < 0 || read(f, d, sizeof d) < 0)
    return 1;
  if (load32(d) == 0x2174616f)
    hit();
  return tell(d[0]);
}
