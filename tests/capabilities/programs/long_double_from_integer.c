// Exercises: conversion of 64 bits to long double, which keeps them all
// Input: stdin; seed: 41*8
// Solution: 01 00*6 10
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  long double x = (long double)(int64_t)load64(d);
  if (x == 1152921504606846977.0L)
    hit();
  return tell(x > 1.0L);
}
