// Exercises: std::stoull with base sixteen and the place where it ends
// Input: stdin; seed: 41*9
// Solution: 666565646330646521
#include "capability.h"

#include <stdexcept>
#include <string>

int main() {
  char d[10];
  size_t size = take_text(d, sizeof d), end = 0;
  try {
    unsigned long long x = std::stoull(std::string(d, size), &end, 16);
    if (x == 0xfeedc0de && d[end] == '!')
      hit();
    return tell(x);
  } catch (const std::logic_error &) {
    return tell(1);
  }
}
