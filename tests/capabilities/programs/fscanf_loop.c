// Exercises: numbers from a file with fscanf until one ends the list
// Input: file; seed: 31203220330a
// Solution: 313720333420300a
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  int x = 0, sum = 0, count = 0;
  while (f && count < 8 && fscanf(f, "%d", &x) == 1 && x != 0) {
    sum += x;
    count++;
  }
  if (count == 2 && sum == 51)
    hit();
  return tell((unsigned)sum);
}
