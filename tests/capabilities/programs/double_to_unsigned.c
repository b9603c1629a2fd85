// Exercises: conversion of a double to unsigned numbers of 64 and 8 bits
// Input: stdin; seed: 41*16
// Solution: 00*6 ee43 00*5 206940
#include "capability.h"

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (!(x[0] >= 0 && x[0] < 1.8e19 && x[1] >= 0 && x[1] < 256))
    return 1;
  if ((uint64_t)x[0] == 0xf000000000000000u && (uint8_t)x[1] == 201)
    hit();
  return tell((uint64_t)x[0]);
}
