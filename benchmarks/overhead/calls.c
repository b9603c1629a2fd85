/* Recursion and calls through pointers: the cost of passing labels. */
#include <stdint.h>
#include <stdio.h>

__attribute__((noinline)) static uint64_t fib(unsigned n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static uint32_t add(uint32_t a, uint32_t b) { return a + b; }
__attribute__((noinline)) static uint32_t mix(uint32_t a, uint32_t b) { return a * 31 ^ b; }

int main(void) {
  uint32_t (*const operations[2])(uint32_t, uint32_t) = {add, mix};
  uint32_t x = 1;
  for (uint32_t i = 0; i < 40000000; i++)
    x = operations[x >> 7 & 1](x, i);
  printf("%llu %08x\n", (unsigned long long)fib(36), x);
  return 0;
}
