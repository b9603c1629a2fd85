/* The text that printf() makes of an integer: what SF_OP_PRINTED means.
 *
 * Plain C11, included by the runtime and by the executor, so that both have the
 * same idea of it. */
#ifndef SYMFLEET_PRINTED_NUMBER_H
#define SYMFLEET_PRINTED_NUMBER_H

#include <stdint.h>

enum sf_print_format {
  SF_PRINT_BASE = 0x3f, /* from 2 to 36 */
  SF_PRINT_SIGNED = 1 << 6,
  SF_PRINT_UPPER = 1 << 7,
  SF_PRINT_LEFT = 1 << 8,       /* '-' */
  SF_PRINT_ZERO = 1 << 9,       /* '0' */
  SF_PRINT_PLUS = 1 << 10,      /* '+' */
  SF_PRINT_SPACE = 1 << 11,     /* ' ' */
  SF_PRINT_ALTERNATE = 1 << 12, /* '#' */
  SF_PRINT_WIDTH_SHIFT = 13,    /* 8 bits, up to SF_PRINT_WIDTH_MAX */
  SF_PRINT_PRECISION_SHIFT = 21 /* 7 bits: the precision + 1; 0 if there is none */
};
#define SF_PRINT_WIDTH_MAX 120u
#define SF_PRINT_PRECISION_MAX 100u
#define SF_PRINT_MAX 160u
/* Literal characters behind the number: the first in the lowest byte of k, their
 * number in the highest. */
#define SF_PRINT_SUFFIX_MAX 7u

struct sf_printed {
  unsigned size;
  char at[SF_PRINT_MAX];
};

static inline void sf_printed_add(struct sf_printed *text, char c, unsigned times) {
  while (times-- > 0 && text->size < SF_PRINT_MAX)
    text->at[text->size++] = c;
}

static inline unsigned sf_printed_digits(uint64_t value, unsigned base, int upper,
                                         char *backwards) {
  unsigned count = 0;
  for (; value; value /= base) {
    unsigned digit = (unsigned)(value % base);
    backwards[count++] = (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + (digit - 10));
  }
  return count;
}

static inline struct sf_printed sf_printed_number(uint64_t value, unsigned bits, uint32_t format,
                                                  uint64_t suffix) {
  struct sf_printed text;
  char digits[64], prefix[2];
  const unsigned base = format & SF_PRINT_BASE;
  const unsigned width = format >> SF_PRINT_WIDTH_SHIFT & 0xff;
  const unsigned precision = format >> SF_PRINT_PRECISION_SHIFT & 0x7f;
  unsigned prefixed = 0, count, zeros, size;
  text.size = 0;
  if (format & SF_PRINT_SIGNED) {
    if (value >> (bits - 1) & 1) {
      prefix[prefixed++] = '-';
      value = (0 - value) & (bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0);
    } else if (format & (SF_PRINT_PLUS | SF_PRINT_SPACE)) {
      prefix[prefixed++] = format & SF_PRINT_PLUS ? '+' : ' ';
    }
  }
  if (base == 16 && format & SF_PRINT_ALTERNATE && value) {
    prefix[prefixed++] = '0';
    prefix[prefixed++] = format & SF_PRINT_UPPER ? 'X' : 'x';
  }
  count = sf_printed_digits(value, base < 2 ? 10 : base, (format & SF_PRINT_UPPER) != 0, digits);
  zeros = precision ? precision - 1 : 1;
  zeros = zeros > count ? zeros - count : 0;
  if (base == 8 && format & SF_PRINT_ALTERNATE && zeros == 0)
    zeros = 1;
  size = prefixed + zeros + count;
  if (format & SF_PRINT_ZERO && !precision && !(format & SF_PRINT_LEFT) && width > size) {
    zeros += width - size;
    size = width;
  }
  if (!(format & SF_PRINT_LEFT) && width > size)
    sf_printed_add(&text, ' ', width - size);
  for (unsigned i = 0; i < prefixed; i++)
    sf_printed_add(&text, prefix[i], 1);
  sf_printed_add(&text, '0', zeros);
  while (count > 0)
    sf_printed_add(&text, digits[--count], 1);
  if (format & SF_PRINT_LEFT && width > size)
    sf_printed_add(&text, ' ', width - size);
  for (unsigned i = 0; i < (suffix >> 56) && i < SF_PRINT_SUFFIX_MAX; i++)
    sf_printed_add(&text, (char)(suffix >> (8 * i)), 1);
  return text;
}

/* Character index of the text, 0 behind its end. */
static inline uint64_t sf_printed_number_at(uint64_t value, unsigned bits, uint32_t format,
                                            uint64_t suffix, unsigned index) {
  struct sf_printed text = sf_printed_number(value, bits, format, suffix);
  return index < text.size ? (uint8_t)text.at[index] : 0;
}

#endif
