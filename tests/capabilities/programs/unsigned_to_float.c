// Exercises: conversion of an unsigned number of 64 bits to a float and back
// Input: stdin; seed: 41*8
// Solution: 00*5 010080
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  float x = (float)load64(d);
  if (x == 9223373136366403584.0f)
    hit();
  return tell(x > 1.0f);
}
