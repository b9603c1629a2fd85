/* Integers: operations, comparisons, intrinsics, control flow. */
#include "case.h"

#include <setjmp.h>

static void add_sub(const uint8_t *d, size_t n) {
  (void)n;
  if (u32(d) + 0x1234567 - u32(d + 4) == 0xcafebabe && d[4] == 9)
    hit();
}
static void multiply(const uint8_t *d, size_t n) {
  (void)n;
  if (u32(d) * 2654435761u == 0x12345678)
    hit();
}
static void xor_chain(const uint8_t *d, size_t n) {
  (void)n;
  if ((u32(d) ^ 0x55aa55aa ^ u32(d + 4) << 3) == 0x0badf00d)
    hit();
}
static void signed_compare(const uint8_t *d, size_t n) {
  (void)n;
  int32_t x = (int32_t)u32(d);
  if (x < -1000000 && x > -1000004)
    hit();
}
static void unsigned_compare(const uint8_t *d, size_t n) {
  (void)n;
  if (u64(d) > 0xfffffffffffffff0u && u64(d) <= 0xfffffffffffffff2u)
    hit();
}
static void divide(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t by = u16(d + 4);
  if (by != 0 && u32(d) / by == 77777 && u32(d) % by == 13)
    hit();
}
static void divide_by_zero_goal(const uint8_t *d, size_t n) {
  (void)n;
  if (d[0] > 100 && d[0] - d[1] == 0)
    hit();
}
static void shift_by_input(const uint8_t *d, size_t n) {
  (void)n;
  if (d[0] < 32 && 1u << d[0] == 0x10000)
    hit();
}
static void arithmetic_shift(const uint8_t *d, size_t n) {
  (void)n;
  if ((int32_t)u32(d) >> 11 == -3)
    hit();
}
static void minimum_maximum(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t a = u32(d), b = u32(d + 4);
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  if (low == 1000 && high == 2000)
    hit();
}
static void absolute(const uint8_t *d, size_t n) {
  (void)n;
  int32_t x = (int32_t)u32(d);
  if (x < 0 && abs(x) == 123456)
    hit();
}
static void rotate(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t x = u32(d);
  if ((x << 7 | x >> 25) == 0x80c0ffee)
    hit();
}
static void rotate_by_input(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t x = u32(d), r = d[4] & 31;
  if ((x << r | x >> (-r & 31)) == 0xdeadbeef && r == 5)
    hit();
}
static void rotate64(const uint8_t *d, size_t n) {
  (void)n;
  uint64_t x = u64(d);
  if ((x << 13 | x >> 51) == 0x0123456789abcdefu)
    hit();
}
static void byte_swap(const uint8_t *d, size_t n) {
  (void)n;
  if (__builtin_bswap64(u64(d)) == 0x1122334455667788u)
    hit();
}
static void big_endian_bytes(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t v = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];
  if (v == 0x7f454c46)
    hit();
}
static void add_overflow(const uint8_t *d, size_t n) {
  (void)n;
  int32_t r;
  if (__builtin_add_overflow((int32_t)u32(d), 5, &r))
    hit();
}
static void multiply_overflow(const uint8_t *d, size_t n) {
  (void)n;
  uint32_t r;
  if (__builtin_mul_overflow(u32(d), 3u, &r) && r == 1)
    hit();
}
static void population(const uint8_t *d, size_t n) {
  (void)n;
  if (__builtin_popcount(u32(d)) == 31)
    hit();
}
static void leading_zeros(const uint8_t *d, size_t n) {
  (void)n;
  if (u32(d) != 0 && __builtin_clz(u32(d)) == 13)
    hit();
}
static void trailing_zeros(const uint8_t *d, size_t n) {
  (void)n;
  if (u32(d) != 0 && __builtin_ctz(u32(d)) == 19)
    hit();
}
static void dense_switch(const uint8_t *d, size_t n) {
  (void)n;
  int r = 0;
  switch (d[0]) {
  case 0:
    r = 5;
    break;
  case 1:
    r = 9;
    break;
  case 2:
    r = 14;
    break;
  case 3:
    r = 3;
    break;
  case 4:
    r = 88;
    break;
  case 5:
    r = 1;
    break;
  }
  if (r == 88)
    hit();
}
static void sparse_switch(const uint8_t *d, size_t n) {
  (void)n;
  switch (u32(d)) {
  case 12:
    puts("12");
    break;
  case 7777777:
    hit();
    break;
  case 0xffff0000:
    puts("x");
    break;
  default:
    break;
  }
}
static const uint8_t powers[256] = {[17] = 3, [99] = 200, [140] = 17};
static void table_read(const uint8_t *d, size_t n) {
  (void)n;
  if (powers[d[0]] == 200)
    hit();
}
static const int16_t letters[26] = {[4] = -7, [19] = 1234};
static void table_read_with_offset(const uint8_t *d, size_t n) {
  (void)n;
  if (d[0] >= 'a' && d[0] <= 'z' && letters[d[0] - 'a'] == 1234)
    hit();
}
static NOINLINE unsigned crc_step(unsigned crc, uint8_t byte) {
  crc ^= byte;
  for (int k = 0; k < 8; k++)
    crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  return crc;
}
static void crc_of_one(const uint8_t *d, size_t n) {
  (void)n;
  if (crc_step(0xffffffffu, d[0]) == crc_step(0xffffffffu, 0x5a))
    hit();
}
struct fields {
  unsigned a : 3, b : 7, c : 6;
};
static void bit_fields(const uint8_t *d, size_t n) {
  (void)n;
  struct fields f;
  memcpy(&f, d, sizeof f);
  if (f.a == 5 && f.b == 99 && f.c == 33)
    hit();
}
static void wide_integer(const uint8_t *d, size_t n) {
  (void)n;
  unsigned __int128 x = (unsigned __int128)u64(d) << 64 | u64(d + 8);
  if (x == ((unsigned __int128)0x1111222233334444u << 64 | 0x5555666677778888u))
    hit();
}
/* By more than a word, with both of what it gives in one condition. */
static void wide_divide(const uint8_t *d, size_t n) {
  (void)n;
  unsigned __int128 x = (unsigned __int128)u64(d + 8) << 64 | u64(d);
  unsigned __int128 by = (unsigned __int128)10000000000000u * 1000000000000u;
  if (x / by == 1 && x % by == 321)
    hit();
}
static void loop_counter(const uint8_t *d, size_t n) {
  (void)n;
  unsigned sum = 0;
  for (unsigned i = 0; i < d[0] % 20u; i++)
    sum += i;
  if (sum == 21)
    hit();
}
static void nested(const uint8_t *d, size_t n) {
  (void)n;
  if (d[0] == 'n')
    if (d[1] == 'e')
      if (d[2] == 's')
        if (d[3] == 't')
          if (d[4] == 'e')
            if (d[5] == 'd')
              hit();
}
static void short_circuit(const uint8_t *d, size_t n) {
  (void)n;
  int a = d[0] == 17, b = d[1] == 34 || d[2] == 51;
  if ((a && b) != 0)
    hit();
}
static void narrow_types(const uint8_t *d, size_t n) {
  (void)n;
  int8_t x = (int8_t)(d[0] + 100);
  uint16_t y = (uint16_t)(x * 3);
  if (y == 0xfffa)
    hit();
}
static jmp_buf jump;
static NOINLINE void deep(int x) {
  if (x == 42)
    longjmp(jump, 1);
}
static void long_jump(const uint8_t *d, size_t n) {
  (void)n;
  volatile int seen = d[1];
  if (setjmp(jump) == 0)
    deep(d[0]);
  else if (seen == 24)
    hit();
}
static void computed_goto(const uint8_t *d, size_t n) {
  (void)n;
  static void *const to[4] = {&&a, &&b, &&c, &&b};
  goto *to[d[0] & 3];
a:
  return;
b:
  return;
c:
  hit();
}

static const struct test_case cases[] = {
    {"add_sub", add_sub},
    {"multiply", multiply},
    {"xor_chain", xor_chain},
    {"signed_compare", signed_compare},
    {"unsigned_compare", unsigned_compare},
    {"divide", divide},
    {"divide_by_zero_goal", divide_by_zero_goal},
    {"shift_by_input", shift_by_input},
    {"arithmetic_shift", arithmetic_shift},
    {"minimum_maximum", minimum_maximum},
    {"absolute", absolute},
    {"rotate", rotate},
    {"rotate_by_input", rotate_by_input},
    {"rotate64", rotate64},
    {"byte_swap", byte_swap},
    {"big_endian_bytes", big_endian_bytes},
    {"add_overflow", add_overflow},
    {"multiply_overflow", multiply_overflow},
    {"population", population},
    {"leading_zeros", leading_zeros},
    {"trailing_zeros", trailing_zeros},
    {"dense_switch", dense_switch},
    {"sparse_switch", sparse_switch},
    {"table_read", table_read},
    {"table_read_with_offset", table_read_with_offset},
    {"crc_of_one", crc_of_one},
    {"bit_fields", bit_fields},
    {"wide_integer", wide_integer},
    {"loop_counter", loop_counter},
    {"nested", nested},
    {"short_circuit", short_circuit},
    {"narrow_types", narrow_types},
    {"long_jump", long_jump},
    {"computed_goto", computed_goto},
    {"wide_divide", wide_divide},
};
MAIN(cases)
