// Exercises: getline
// Input: file; seed: 41*12
// Solution: 66697273740a4c494e450a41
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  char *line = NULL;
  size_t room = 0;
  if (!f || getline(&line, &room, f) < 0 || getline(&line, &room, f) < 0)
    return 1;
  if (strcmp(line, "LINE\n") == 0)
    hit();
  return tell((unsigned char)line[0]);
}
