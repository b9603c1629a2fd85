// Exercises: getdelim
// Input: file; seed: 41*12
// Solution: 61623b63643b 41*6
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  char *part = NULL;
  size_t room = 0;
  if (!f || getdelim(&part, &room, ';', f) != 3)
    return 1;
  ssize_t second = getdelim(&part, &room, ';', f);
  if (second == 3 && part[0] == 'c' && part[1] == 'd')
    hit();
  return tell((unsigned long)second);
}
