// Exercises: SSE2 intrinsics as fast scanners use them
// Input: stdin; seed: 41*16
// Solution: 41*5 0a 41*7 0a4141
#include "capability.h"

#include <emmintrin.h>

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  __m128i x = _mm_loadu_si128((const __m128i *)d);
  unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
  if (mask == (1u << 5 | 1u << 13))
    hit();
  return tell(mask);
}
