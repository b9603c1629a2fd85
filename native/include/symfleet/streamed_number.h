/* The floating-point number that std::istream >> reads at the start of a text, in
 * the "C" locale: what SF_OP_TEXT means with the results of streams.
 *
 * A stream first takes the characters that may belong to a number, and then
 * converts all of them: "1e" fails, "0x1" and "inf" are not known, and what is too
 * large fails as well. Space in front has been skipped. Plain C11, included by the
 * runtime and by the executor, as scanned_number.h is. */
#ifndef SYMFLEET_STREAMED_NUMBER_H
#define SYMFLEET_STREAMED_NUMBER_H

#include "symfleet/abi.h"

#include <math.h>
#include <stdlib.h>

/* How many characters a stream takes for a number, whether they are one or not. */
static inline unsigned sf_streamed_characters(const char *text) {
  unsigned at = text[0] == '+' || text[0] == '-', digits = 0, point = 0, exponent = 0;
  for (;; at++) {
    const char c = text[at];
    if (c >= '0' && c <= '9') {
      digits = 1;
    } else if (c == '.' && !point && !exponent) {
      point = 1;
    } else if ((c == 'e' || c == 'E') && digits && !exponent) {
      exponent = 1;
      if (text[at + 1] == '+' || text[at + 1] == '-')
        at++;
    } else {
      return at;
    }
  }
}

/* Stores the number in `format`, or leaves it as it is, and returns how many
 * characters belong to it: 0 if there is none, or none that fits. */
static inline unsigned sf_streamed_number(const char *text, unsigned format, void *number) {
  char taken[SF_TEXT_MAX + 1];
  const unsigned size = sf_streamed_characters(text);
  char *end = taken;
  int fits = 0;
  if (size == 0 || size > SF_TEXT_MAX)
    return 0;
  for (unsigned at = 0; at < size; at++)
    taken[at] = text[at];
  taken[size] = 0;
  if (format == SF_SINGLE) {
    const float value = strtof(taken, &end);
    fits = end == taken + size && !isinf(value);
    if (fits)
      *(float *)number = value;
  } else if (format == SF_DOUBLE) {
    const double value = strtod(taken, &end);
    fits = end == taken + size && !isinf(value);
    if (fits)
      *(double *)number = value;
  } else {
    const long double value = strtold(taken, &end);
    fits = end == taken + size && !isinf(value);
    if (fits)
      *(long double *)number = value;
  }
  return fits ? size : 0;
}

#endif
