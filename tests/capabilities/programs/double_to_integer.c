// Exercises: conversion of a double to an integer
// Input: stdin; seed: 41*8
// Solution: 9a999999799ade40
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (!(x > -1e9 && x < 1e9))
    return 1;
  int y = (int)x;
  if (y == 31337)
    hit();
  return tell((unsigned)y);
}
