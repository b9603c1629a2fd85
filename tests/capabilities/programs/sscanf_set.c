// Exercises: sscanf %[...] and %n
// Input: stdin; seed: 41*12
// Solution: 6162626163 3d 78797a 3b 4141
#include "capability.h"

int main(void) {
  char d[13], key[8] = "", value[8] = "";
  int used = 0;
  take_text(d, sizeof d);
  int fields = sscanf(d, "%7[a-c]=%7[^;];%n", key, value, &used);
  if (fields == 2 && used == 10 && strcmp(key, "abbac") == 0 && strcmp(value, "xyz") == 0)
    hit();
  return tell((unsigned)fields);
}
