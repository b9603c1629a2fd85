/* A program with exactly 125 paths and no bug: three bytes, each of one of five classes. With
 * `--keep all --until-quiescent` a campaign ends by itself when every path has been taken, and
 * however it was interrupted it must end with the same inputs. */
#include <stdio.h>

static int class_of(unsigned char byte) {
  if (byte == 'a')
    return 0;
  if (byte == 'b')
    return 1;
  if (byte < '0')
    return 2;
  if (byte == 'z')
    return 3;
  return 4;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  unsigned char bytes[3];

  if (!file || fread(bytes, 1, sizeof bytes, file) != sizeof bytes) {
    puts("exhaustible: expected 3 bytes");
    return 1;
  }
  printf("exhaustible: %d%d%d\n", class_of(bytes[0]), class_of(bytes[1]), class_of(bytes[2]));
  return 0;
}
