// Exercises: SSE2 packs, shifts, averages and sums of differences
// Input: stdin; seed: 41*16
// Solution: 50*16
#include "capability.h"

#include <emmintrin.h>

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  __m128i x = _mm_loadu_si128((const __m128i *)d);
  __m128i wide = _mm_srli_epi16(_mm_slli_epi16(x, 8), 8);
  __m128i bytes = _mm_packus_epi16(_mm_add_epi16(wide, wide), wide);
  __m128i mean = _mm_avg_epu8(bytes, _mm_set1_epi8(0x20));
  __m128i sum = _mm_sad_epu8(mean, _mm_setzero_si128());
  unsigned low = (unsigned)_mm_cvtsi128_si32(sum);
  if (low == 0x60 * 8 && d[0] == 0x50 && d[6] == 0x50)
    hit();
  return tell(low);
}
