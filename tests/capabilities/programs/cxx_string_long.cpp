// Exercises: a std::string on the heap
// Input: stdin; seed: 41*40
// Solution: 6120737472696e67207468617420646f6573206e6f742066697420696e20746865206f626a656374
#include "capability.h"

#include <string>

int main() {
  char d[41];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size), copy = s;
  copy += s;
  if (copy.compare(0, 40, "a string that does not fit in the object") == 0)
    hit();
  return tell(copy.size());
}
