// Exercises: conversion to long double, arithmetic, and back
// Input: stdin; seed: 41*8
// Solution: 00*5 c05e40
#include "capability.h"

int main(void) {
  double d = 0;
  take(&d, sizeof d);
  long double x = (long double)d * 2.0L + 1.0L;
  if (x == 247.0L)
    hit();
  return tell(x > 1.0L);
}
