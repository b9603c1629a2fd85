// Exercises: conversion of an integer to a double
// Input: stdin; seed: 41*4
// Solution: 2a9ab70e
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  double x = (double)(int32_t)load32(d) * 0.5;
  if (x == 123456789.0)
    hit();
  return tell(x > 1.0);
}
