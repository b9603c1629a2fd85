// Exercises: a vector that is compared and asked whether any lane holds
// Input: stdin; seed: 41*16
// Solution: 41*9 3e 41*6
#include "capability.h"

#include <emmintrin.h>

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  __m128i x = _mm_loadu_si128((const __m128i *)d);
  __m128i found =
      _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('<')), _mm_cmpeq_epi8(x, _mm_set1_epi8('>')));
  int mask = _mm_movemask_epi8(found);
  if (mask) {
    int at = __builtin_ctz((unsigned)mask);
    if (at == 9 && d[at] == '>')
      hit();
  }
  return tell((unsigned)mask);
}
