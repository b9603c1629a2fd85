// Exercises: inline assembly: lea, cmov, bt, shld, div, a scratch register and operands in memory
// Input: stdin; seed: 41*32
// Solution: e803000000000000 0800000000000000 8000000000000080 d204000000000000
#include "capability.h"

int main(void) {
  uint8_t d[32] = {0};
  take(d, sizeof d);
  uint64_t a = load64(d), b = load64(d + 8), c = load64(d + 16), e = load64(d + 24);
  uint64_t address, least = b, mask, high = 1, quotient, rest, moved;
  __asm__("leaq 5(%1,%1,8), %0" : "=r"(address) : "r"(a));
  __asm__("cmpq %1, %0\n\tcmovgq %1, %0" : "+r"(least) : "r"(9ull) : "cc");
  __asm__("btq $7, %1\n\tsbbq %0, %0" : "=r"(mask) : "r"(c) : "cc");
  __asm__("shldq $1, %1, %0" : "+r"(high) : "r"(c) : "cc");
  __asm__("divq %4" : "=a"(quotient), "=d"(rest) : "0"(e), "1"(0ull), "r"(100ull) : "cc");
  __asm__("movq %1, %%rax\n\taddq $3, %%rax\n\tmovq %%rax, %0" : "=m"(moved) : "m"(b) : "rax");
  if (address == 9005 && least == 8 && moved == 11 && mask == ~0ull && high == 3 &&
      quotient == 12 && rest == 34)
    hit();
  return tell(address ^ least ^ moved);
}
