// Exercises: doubles by std::cin >>, as many as there are
// Input: stdin; seed: 41*8
// Solution: 312e3520322e32352078
#include "capability.h"

#include <iostream>

int main() {
  double sum = 0, value = 0;
  int count = 0;
  while (std::cin >> value) {
    sum += value;
    ++count;
  }
  std::cin.clear();
  char end = 0;
  std::cin >> end;
  if (count == 2 && sum == 3.75 && end == 'x')
    hit();
  return tell(static_cast<unsigned>(count));
}
