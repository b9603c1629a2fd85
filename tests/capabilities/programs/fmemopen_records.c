// Exercises: characters, records and numbers from a stream over memory
// Input: stdin; seed: 41*10
// Solution: 23070000002d31342c41
#include "capability.h"

int main(void) {
  char d[10] = {0};
  take(d, sizeof d);
  FILE *f = fmemopen(d, sizeof d, "rb");
  if (!f)
    return 1;
  uint32_t record = 0;
  int number = 0;
  if (fgetc(f) == '#' && fread(&record, 4, 1, f) == 1 && record == 7 &&
      fscanf(f, "%d", &number) == 1 && number == -14)
    hit();
  return tell(record);
}
