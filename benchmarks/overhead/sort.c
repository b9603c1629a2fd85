/* Quicksort of numbers, recursive, in memory. */
#include <stdint.h>
#include <stdio.h>

enum { COUNT = 200000, ROUNDS = 14 };
static uint32_t numbers[COUNT];

static void sort(uint32_t *a, long low, long high) {
  while (low < high) {
    uint32_t pivot = a[low + (high - low) / 2];
    long i = low, j = high;
    while (i <= j) {
      while (a[i] < pivot)
        i++;
      while (a[j] > pivot)
        j--;
      if (i <= j) {
        uint32_t t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    if (j - low < high - i) {
      sort(a, low, j);
      low = i;
    } else {
      sort(a, i, high);
      high = j;
    }
  }
}

int main(void) {
  uint32_t sum = 0, state = 1;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < COUNT; i++)
      numbers[i] = state = state * 1664525u + 1013904223u;
    sort(numbers, 0, COUNT - 1);
    for (int i = 0; i < COUNT; i += 997)
      sum = sum * 31 + numbers[i];
  }
  printf("%08x\n", sum);
  return 0;
}
