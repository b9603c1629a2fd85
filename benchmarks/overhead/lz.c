/* A small LZ77 compressor and decompressor: copies, compares, window search. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 << 17, HASHES = 1 << 12 };
static uint8_t in[SIZE], packed[SIZE * 2], out[SIZE];
static int32_t last[HASHES];

static unsigned hash(const uint8_t *p) {
  return (p[0] * 2654435761u ^ p[1] * 40503u ^ p[2] * 977u) % HASHES;
}

static size_t pack(size_t n) {
  size_t o = 0;
  memset(last, 0xff, sizeof last);
  for (size_t i = 0; i < n;) {
    size_t length = 0, distance = 0;
    if (i + 3 < n) {
      unsigned h = hash(in + i);
      int32_t p = last[h];
      last[h] = (int32_t)i;
      if (p >= 0 && i - (size_t)p < 65535) {
        distance = i - (size_t)p;
        while (length < 255 && i + length < n && in[(size_t)p + length] == in[i + length])
          length++;
      }
    }
    if (length >= 4) {
      packed[o++] = 1;
      packed[o++] = (uint8_t)length;
      packed[o++] = (uint8_t)distance;
      packed[o++] = (uint8_t)(distance >> 8);
      i += length;
    } else {
      packed[o++] = 0;
      packed[o++] = in[i++];
    }
  }
  return o;
}

static size_t unpack(size_t n) {
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    if (packed[i++]) {
      size_t length = packed[i], distance = packed[i + 1] | (size_t)packed[i + 2] << 8;
      i += 3;
      for (size_t k = 0; k < length; k++, o++)
        out[o] = out[o - distance];
    } else {
      out[o++] = packed[i++];
    }
  }
  return o;
}

int main(void) {
  uint32_t state = 3;
  for (size_t i = 0; i < SIZE; i++) {
    state = state * 1664525u + 1013904223u;
    in[i] = (uint8_t)(i % 61 < 50 ? "the quick brown fox jumps over the lazy dog 0123456"[i % 61 % 50] : state >> 24);
  }
  size_t n = 0, m = 0;
  for (int round = 0; round < 120; round++) {
    n = pack(SIZE);
    m = unpack(n);
  }
  printf("%zu %zu %d\n", n, m, memcmp(in, out, SIZE));
  return 0;
}
