// Exercises: bit fields
// Input: stdin; seed: 4141
// Solution: 1d87
#include "capability.h"

struct fields {
  unsigned kind : 3, size : 7, rest : 6;
};

int main(void) {
  union {
    struct fields f;
    uint8_t bytes[4];
  } u = {.bytes = {0}};
  take(u.bytes, 2);
  if (u.f.kind == 5 && u.f.size == 99 && u.f.rest == 33)
    hit();
  return tell(u.f.size);
}
