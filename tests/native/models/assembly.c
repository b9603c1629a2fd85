/* Inline assembly, a function for each kind. Each gives numbers that it has computed from two
 * numbers of the input: the real instruction computes them, and the recording says how. Each
 * number is then handed to an assembly that nobody follows, which makes a fact of it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

__attribute__((noinline)) static void tell(u64 value) {
  printf("%llx\n", (unsigned long long)value);
  __asm__ volatile(".byte 0x90" : : "r"(value)); /* not followed */
}

#define A(...) __asm__ volatile(__VA_ARGS__)
#define KIND(name) __attribute__((noinline)) static void name(u64 x, u64 y)

/* ---- Exchanges */
KIND(xadd_memory) {
  A("xaddq %0, %1" : "+r"(x), "+m"(y));
  tell(x), tell(y);
}
KIND(lock_xadd) {
  u32 a = (u32)x, b = (u32)y;
  A("lock; xaddl %0,%1" : "+r"(a), "+m"(b) : : "memory", "cc");
  tell(a), tell(b);
  u8 c = (u8)x, d = (u8)y, carried;
  A("lock xaddb %0,%1\n\tsetc %2" : "+q"(c), "+m"(d), "=q"(carried) : : "memory", "cc");
  tell(c), tell(d), tell(carried);
}
KIND(xadd_registers) {
  A("xadd %0, %1" : "+r"(x), "+r"(y));
  tell(x), tell(y);
  A("xadd %0, %0" : "+r"(x));
  tell(x);
}
KIND(cmpxchg) {
  u64 wanted = y & 1 ? x : y, held = x;
  u8 done;
  A("lock cmpxchgq %3,%1\n\tsete %2" : "+a"(wanted), "+m"(held), "=q"(done) : "r"(y) : "memory",
    "cc");
  tell(wanted), tell(held), tell(done);
  u32 old = (u32)y, now = (u32)x, flag;
  A("lock; cmpxchgl %3,%1" : "+a"(old), "+m"(now), "=@ccz"(flag) : "r"(7) : "memory");
  tell(old), tell(now), tell(flag);
  u16 shortly = (u16)x, other = (u16)y;
  A("lock cmpxchgw %2,%1" : "+a"(shortly), "+m"(other) : "r"((u16)9) : "memory");
  tell(shortly), tell(other);
}
KIND(xchg) {
  A("xchgb %b0, %h0" : "+Q"(x));
  tell(x);
  A("xchgq %0, %1" : "+r"(x), "+m"(y) : : "memory");
  tell(x), tell(y);
  u32 a = (u32)x, b = (u32)y;
  A("xchg %0, %1" : "+r"(a), "+r"(b));
  tell(a), tell(b);
}
KIND(locked_counter) {
  u32 counter = (u32)x;
  u8 zero, negative;
  A("lock; decl %0; sete %1" : "+m"(counter), "=qm"(zero) : : "memory");
  A("lock; addl %2,%0; sets %1" : "+m"(counter), "=qm"(negative) : "ir"((u32)y) : "memory");
  A("lock; orl $16,%0" : "+m"(counter));
  A("lock; addl $0,(%%rsp)" : : : "memory", "cc");
  tell(counter), tell(zero), tell(negative);
}
/* ---- Addresses */
KIND(lea) {
  u64 a, b, c, d;
  u32 e;
  A("leaq 8(%1), %0" : "=r"(a) : "r"(x));
  A("lea (%1,%2,4), %0" : "=r"(b) : "r"(x), "r"(y));
  A("leaq -0x11(%1,%2,8), %0" : "=r"(c) : "r"(x), "r"(y));
  A("leaq 3(,%1,2), %0" : "=r"(d) : "r"(x));
  A("leal 1(%q1,%q1,2), %0" : "=r"(e) : "r"(x));
  tell(a), tell(b), tell(c), tell(d), tell(e);
}
/* ---- Conditions */
#define SET(cc)                                                                                    \
  do {                                                                                             \
    u8 wide, narrow, sum, step;                                                                    \
    A("cmpq %2, %1\n\tset" #cc " %0" : "=q"(wide) : "r"(x), "r"(y) : "cc");                        \
    A("cmpb %b2, %b1\n\tset" #cc " %0" : "=q"(narrow) : "q"(x), "q"(y) : "cc");                    \
    u32 a = (u32)x;                                                                                \
    A("addl %2, %1\n\tset" #cc " %0" : "=q"(sum), "+r"(a) : "r"((u32)y) : "cc");                   \
    u8 b = (u8)x;                                                                                  \
    A("cmpb $9, %1; incb %1\n\tset" #cc " %0" : "=q"(step), "+q"(b) : : "cc");                     \
    tell(wide), tell(narrow), tell(sum), tell(step), tell(a), tell(b);                             \
  } while (0)
KIND(set_unsigned) {
  SET(e);
  SET(ne);
  SET(b);
  SET(ae);
  SET(a);
  SET(be);
  SET(c);
  SET(nc);
  SET(z);
  SET(nz);
  SET(na);
  SET(nbe);
}
KIND(set_signed) {
  SET(l);
  SET(ge);
  SET(g);
  SET(le);
  SET(s);
  SET(ns);
  SET(nl);
  SET(nge);
  SET(ng);
  SET(nle);
}
KIND(set_others) {
  SET(o);
  SET(no);
  SET(p);
  SET(np);
  SET(pe);
  SET(po);
}
KIND(set_of_a_test) {
  u8 zero, positive, below;
  A("testq %1, %1\n\tsetz %0" : "=q"(zero) : "r"(x & y));
  A("testl %k1, %k2\n\tsetg %0" : "=q"(positive) : "r"(x), "r"(y));
  A("subl %k2, %k1\n\tsetl %0" : "=q"(below), "+r"(x) : "r"(y));
  tell(zero), tell(positive), tell(below), tell(x);
}
KIND(set_in_a_wide_register) {
  u64 wide;
  u32 extended;
  A("cmpq %2, %1\n\tsete %b0" : "=q"(wide) : "r"(x), "r"(y) : "cc");
  A("cmpq %2, %1\n\tsetb %%al\n\tmovzbl %%al, %0" : "=r"(extended) : "r"(x), "r"(y) : "cc", "rax");
  tell((u8)wide), tell(extended);
}
#define MOVE(cc)                                                                                   \
  do {                                                                                             \
    u64 a = x;                                                                                     \
    A("cmpq %1, %0\n\tcmov" #cc " %1, %0" : "+r"(a) : "r"(y) : "cc");                              \
    u32 b = 5;                                                                                     \
    A("cmpw %w1, %w2\n\tcmov" #cc "l %k1, %0" : "+r"(b) : "r"(x), "r"(y) : "cc");                  \
    tell(a), tell(b);                                                                              \
  } while (0)
KIND(cmov) {
  MOVE(e);
  MOVE(ne);
  MOVE(b);
  MOVE(ae);
  MOVE(a);
  MOVE(be);
  MOVE(l);
  MOVE(ge);
  MOVE(g);
  MOVE(le);
}
KIND(cmov_with_a_suffix) {
  u64 a = x, b = x;
  A("cmpq %1, %0\n\tcmovlq %1, %0\n\tcmovsq %2, %0" : "+r"(a) : "r"(y), "r"(7ull) : "cc");
  A("testq %1, %1\n\tcmovnsq %1, %0" : "+r"(b) : "r"(y) : "cc");
  tell(a), tell(b);
}
KIND(flags_out) {
  int over, sign, carry;
  u32 a = (u32)x;
  A("addl %4, %0" : "+r"(a), "=@cco"(over), "=@ccs"(sign), "=@ccc"(carry) : "r"((u32)y));
  tell(a), tell((u64)over), tell((u64)sign), tell((u64)carry);
  A("subl %4, %0" : "+r"(a), "=@cco"(over), "=@ccle"(sign), "=@cca"(carry) : "r"((u32)(y >> 32)));
  tell(a), tell((u64)over), tell((u64)sign), tell((u64)carry);
  A("imull %3, %0" : "+r"(a), "=@cco"(over), "=@ccc"(carry) : "r"((u32)(y >> 50)));
  tell(a), tell((u64)over), tell((u64)carry);
}
/* ---- Bits */
KIND(bit_tests) {
  u64 mask, all = x;
  u8 bit, other;
  u32 flags = (u32)y;
  A("btq $7, %1\n\tsbbq %0, %0" : "=r"(mask) : "r"(x) : "cc");
  A("btq %2, %1\n\tsetc %0" : "=q"(bit) : "r"(x), "r"(y) : "cc");
  A("btsq %2, %0\n\tsetc %1" : "+r"(all), "=q"(other) : "r"(y) : "cc");
  A("lock; btrl $3, %0\n\tbtcl $9, %0" : "+m"(flags) : : "cc");
  tell(mask), tell(bit), tell(all), tell(other), tell(flags);
}
KIND(double_shifts) {
  u64 a = x, b = x;
  u32 c = (u32)x;
  A("shldq $5, %1, %0" : "+r"(a) : "r"(y));
  A("shrdq $13, %1, %0" : "+r"(b) : "r"(y));
  A("shldl %%cl, %1, %0" : "+r"(c) : "r"((u32)y), "c"(x >> 56));
  tell(a), tell(b), tell(c);
}
KIND(shift_carry) {
  u64 a = x, b = x;
  u8 out, gone, zero;
  A("shrq %0\n\tsetc %1" : "+r"(a), "=q"(out));
  A("shlq $4, %0\n\tsetc %1\n\tsetz %2" : "+r"(b), "=q"(gone), "=q"(zero));
  A("sarl $31, %k0\n\tadcq $0, %1" : "+r"(x), "+r"(y));
  tell(a), tell(b), tell(out), tell(gone), tell(zero), tell(x), tell(y);
}
KIND(counts) {
  u64 a, b = 7, c = 7, forward, backward;
  u8 none, nothing, zero;
  A("popcntq %2, %0\n\tsetz %1" : "=r"(a), "=q"(none) : "r"(x & y));
  A("bsfq %1, %0" : "=r"(forward) : "r"(x | 1ull << 63));
  A("bsrq %1, %0" : "=r"(backward) : "r"(x | 1));
  tell(a), tell(none), tell(forward), tell(backward);
  A("bsfl %k2, %k0\n\tsetz %1" : "+r"(b), "=q"(nothing) : "r"(x & 0xf0));
  A("bsrl %k2, %k0\n\tsetz %1" : "+r"(c), "=q"(zero) : "r"(y & 0xff00));
  tell(b), tell(nothing), tell(c), tell(zero);
}
/* ---- Registers, memory */
KIND(named_registers) {
  u64 out;
  A("movq %1, %%rax\n\taddq $3, %%rax\n\tmovq %%rax, %0" : "=m"(out) : "m"(x) : "rax");
  tell(out);
  A("movl %k1, %%ecx; movb %%ch, %%cl; movw $0x12, %%dx; movb %b2, %%dh; movzwl %%dx, %%edx\n\t"
    "leaq (%%rcx,%%rdx), %0" : "=r"(out) : "Q"(x),
    "Q"(y) : "rcx", "rdx");
  tell(out);
}
KIND(memory) {
  struct {
    u64 low, high;
  } wide = {x, y};
  u32 half = (u32)x;
  u8 one = (u8)y;
  A("addq %2, %0\n\tadcq %3, %1" : "+m"(wide.low), "+m"(wide.high) : "r"(y), "r"(x) : "cc");
  A("incb %0" : "+m"(one));
  A("movb $0x7f, %0\n\tnegl %0" : "+m"(half));
  A("" : "+m"(half));
  tell(wide.low), tell(wide.high), tell(half), tell(one);
}
KIND(pointed_at) {
  u64 cells[3] = {x, y, x ^ y};
  u64 *volatile place = cells + 1;
  A("subq %1, %0" : "+m"(*place) : "r"(x));
  A("movq %1, %0" : "=m"(cells[2]) : "r"(*place));
  tell(cells[0]), tell(cells[1]), tell(cells[2]);
}
KIND(strings) {
  u64 from[2] = {x, y}, to[3] = {y, 1, x};
  u8 text[8] = "seventy";
  void *at = to, *source = from;
  unsigned long left = 9;
  A("rep movsb" : "+D"(at), "+S"(source), "+c"(left) : : "memory");
  tell(to[0]), tell(to[1]), tell(to[2]);
  at = to + 1, left = 1;
  A("cld; rep; stosq" : "+D"(at), "+c"(left) : "a"(0ull) : "memory");
  tell(to[0]), tell(to[2]);
  at = text + 2, left = 3;
  A("cld\n\trep\n\tstosb" : "+D"(at), "+c"(left) : "a"((u8)x) : "memory");
  memcpy(to + 1, text, sizeof text);
  tell(to[1]);
  at = to, source = from, left = 2;
  A("rep movsq" : "+D"(at), "+S"(source), "+c"(left) : : "memory");
  tell(to[0] + left), tell(to[1] + (at == to + 2));
}
/* Two names of one place: what is read last is what was written. */
KIND(two_names) {
  u64 cell = x, out = 0;
  u64 *volatile first = &cell, *volatile second = &cell;
  A("addq $9, %0\n\tmovq %2, %1" : "+m"(*first), "=r"(out) : "m"(*second));
  printf("%llx\n", (unsigned long long)(out + y));
}
/* ---- Quotients, products */
KIND(divide) {
  u64 quotient, rest;
  A("divq %4" : "=a"(quotient), "=d"(rest) : "0"(x), "1"(0ull), "r"(y | 1) : "cc");
  tell(quotient), tell(rest);
  A("divq %4" : "=a"(quotient), "=d"(rest) : "0"(x), "1"(y & 0xffff), "r"(y | 1ull << 62) : "cc");
  tell(quotient), tell(rest);
  u32 little, less;
  A("divl %4" : "=a"(little), "=d"(less) : "0"((u32)x), "1"((u32)y & 0xff),
    "r"((u32)y | 0x80000000));
  tell(little), tell(less);
}
KIND(divide_signed) {
  u64 quotient, rest;
  A("cqto\n\tidivq %3" : "=a"(quotient), "=&d"(rest) : "0"(x), "r"(y >> 9 | 1) : "cc");
  tell(quotient), tell(rest);
  u32 little = (u32)x, less;
  A("cltd; idivl %2" : "+a"(little), "=&d"(less) : "r"((u32)y >> 7 | 2) : "cc");
  tell(little), tell(less);
  A("idivl %2" : "+a"(little), "+d"(less) : "r"(0x7fffffff - ((u32)y >> 20)) : "cc");
  tell(little), tell(less);
}
KIND(multiply) {
  u64 low, high;
  A("mulq %3" : "=a"(low), "=d"(high) : "0"(x), "rm"(y) : "cc");
  tell(low), tell(high);
  A("imulq %3" : "=a"(low), "=d"(high) : "0"(x), "r"(y) : "cc");
  tell(low), tell(high);
  u32 half = (u32)x, upper;
  u8 large;
  A("mull %3\n\tseto %2" : "+a"(half), "=&d"(upper), "=q"(large) : "r"((u32)y >> 18) : "cc");
  tell(half), tell(upper), tell(large);
  A("imulq $37, %1, %0" : "=r"(low) : "r"(x) : "cc");
  tell(low);
}
KIND(extend) {
  u64 a = x;
  A("cltq" : "+a"(a));
  tell(a), tell(y);
  A("cwtl" : "+a"(a));
  tell(a);
  A("movsbq %b1, %0" : "=r"(a) : "q"(x));
  tell(a);
  A("movslq %k1, %0" : "=r"(a) : "r"(y));
  tell(a);
}
KIND(sums) {
  u64 a = x, b = y;
  A("addq %2, %0\n\tadcq $0, %1" : "+r"(a), "+r"(b) : "r"(y) : "cc");
  tell(a), tell(b);
  A("subq %2, %0\n\tsbbq $5, %1" : "+r"(a), "+r"(b) : "r"(x | y) : "cc");
  tell(a), tell(b);
  A("stc\n\tadcq %1, %0\n\tnotq %0\n\tnegq %0\n\tincq %0" : "+r"(a) : "r"(b) : "cc");
  tell(a);
  A("xorq %0, %0\n\tsubq %1, %0" : "=&r"(b) : "r"(a) : "cc");
  tell(b);
  A("rolq $9, %0\n\trorw $3, %w0\n\tbswapq %0\n\trolq %%cl, %0" : "+r"(a) : "c"(y) : "cc");
  tell(a);
}
/* ---- Of newer processors; the test asks whether this is one. */
KIND(newer) {
  u64 a, b, c, d, e, f, g, h;
  A("rorxq $9, %1, %0" : "=r"(a) : "r"(x));
  A("shlxq %2, %1, %0" : "=r"(b) : "r"(x), "r"(y));
  A("sarxq %2, %1, %0" : "=r"(c) : "r"(x), "r"(y));
  A("shrxl %k2, %k1, %k0" : "=r"(d) : "r"(x), "r"(y));
  A("andnq %2, %1, %0" : "=r"(e) : "r"(x), "r"(y) : "cc");
  A("blsrq %1, %0" : "=r"(f) : "r"(x) : "cc");
  A("blsiq %1, %0" : "=r"(g) : "r"(x) : "cc");
  A("mulxq %2, %0, %1" : "=r"(h), "=r"(f) : "r"(x), "d"(y));
  tell(a), tell(b), tell(c), tell(d), tell(e), tell(f), tell(g), tell(h);
  u8 none, nothing, zero;
  A("tzcntl %k3, %k0\n\tsetc %1\n\tsetz %2" : "=r"(a), "=q"(none), "=q"(zero) : "r"(x & 3));
  A("lzcntq %2, %0\n\tsetc %1" : "=r"(b), "=q"(nothing) : "r"(x & 15));
  tell(a), tell(none), tell(zero), tell(b), tell(nothing);
}

static const struct {
  const char *name;
  void (*run)(u64, u64);
} kinds[] = {
#define K(name) {#name, name}
    K(xadd_memory),
    K(lock_xadd),
    K(xadd_registers),
    K(cmpxchg),
    K(xchg),
    K(locked_counter),
    K(lea),
    K(set_unsigned),
    K(set_signed),
    K(set_others),
    K(set_of_a_test),
    K(set_in_a_wide_register),
    K(cmov),
    K(cmov_with_a_suffix),
    K(flags_out),
    K(bit_tests),
    K(double_shifts),
    K(shift_carry),
    K(counts),
    K(named_registers),
    K(memory),
    K(pointed_at),
    K(strings),
    K(two_names),
    K(divide),
    K(divide_signed),
    K(multiply),
    K(extend),
    K(sums),
    K(newer),
};

int main(int argc, char **argv) {
  u64 pair[2] = {0, 0};
  FILE *from = argc == 3 ? fopen(argv[2], "rb") : NULL;
  if (!from || fread(pair, 1, sizeof pair, from) != sizeof pair)
    return 64;
  for (size_t each = 0; each < sizeof kinds / sizeof *kinds; ++each)
    if (strcmp(kinds[each].name, argv[1]) == 0) {
      kinds[each].run(pair[0], pair[1]);
      return fflush(stdout) != 0;
    }
  return 65;
}
