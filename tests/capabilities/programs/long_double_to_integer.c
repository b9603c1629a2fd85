// Exercises: conversion of a long double to an integer of 64 bits and to a double
// Input: stdin; seed: 41*10
// Solution: 0300000000000080 3d40
#include "capability.h"

int main(void) {
  long double x = 0;
  take(&x, 10);
  if (!(x > 0 && x < 9e18L))
    return 1;
  if ((int64_t)x == 4611686018427387905 && (double)x == 4611686018427387904.0)
    hit();
  return tell((uint64_t)x);
}
