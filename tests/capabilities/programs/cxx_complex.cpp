// Exercises: std::complex and std::norm
// Input: stdin; seed: 41*16
// Solution: 00*6 0840 00*6 1040
#include "capability.h"

#include <complex>

int main() {
  double d[2] = {0, 0};
  take(d, sizeof d);
  std::complex<double> z(d[0], d[1]);
  z += std::complex<double>(1.0, -1.0);
  if (z.real() == 4.0 && z.imag() == 3.0 && std::norm(z) == 25.0)
    hit();
  return tell(z.real() > 1.0);
}
