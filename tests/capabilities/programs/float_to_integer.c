// Exercises: conversion of a float to integers of 16 and 64 bits
// Input: stdin; seed: 41*8
// Solution: 00a0f9c400002c52
#include "capability.h"

int main(void) {
  float x[2] = {0};
  take(x, sizeof x);
  if (!(x[0] > -30000 && x[0] < 30000 && x[1] > -1e18f && x[1] < 1e18f))
    return 1;
  if ((int16_t)x[0] == -1997 && (int64_t)x[1] == 184683593728)
    hit();
  return tell((uint64_t)(int16_t)x[0]);
}
