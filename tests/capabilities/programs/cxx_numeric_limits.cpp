// Exercises: limits of floating-point numbers in C++
// Input: stdin; seed: 41*12
// Solution: ffffffffffffef7f 01000000
#include "capability.h"

#include <cmath>
#include <limits>

int main() {
  double x = 0;
  float y = 0;
  take(&x, sizeof x);
  take(&y, sizeof y);
  if (x == std::numeric_limits<double>::max() && y == std::numeric_limits<float>::denorm_min() &&
      std::isfinite(x))
    hit();
  return tell(x > 1.0);
}
