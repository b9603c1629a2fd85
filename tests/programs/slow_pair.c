/* A program with a few dozen paths and no bug, as slow as PAUSE_US says (microseconds): a campaign of
 * our own engine that takes all of them lasts for seconds, on a busy machine not for minutes. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int class_of(unsigned char byte) {
  if (byte == 'a')
    return 0;
  if (byte < '0')
    return 1;
  if (byte == 'z')
    return 2;
  return 3;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  const char *pause = getenv("PAUSE_US");
  unsigned char bytes[2];

  if (pause)
    usleep((useconds_t)atoi(pause));
  if (!file || fread(bytes, 1, sizeof bytes, file) != sizeof bytes)
    return 1;
  printf("%d%d\n", class_of(bytes[0]), class_of(bytes[1]));
  return 0;
}
