// Exercises: virtual functions
// Input: stdin; seed: 4141
// Solution: 8f73
#include "capability.h"

#include <memory>

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int x) const { return x; }
};
struct Square : Shape {
  int area(int x) const override { return x * x; }
};

int main() {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  std::unique_ptr<Shape> shape;
  if (d[1] == 's')
    shape = std::make_unique<Square>();
  else
    shape = std::make_unique<Shape>();
  int x = shape->area(d[0]);
  if (x == 143 * 143)
    hit();
  return tell(static_cast<unsigned>(x));
}
