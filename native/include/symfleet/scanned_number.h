/* The floating-point number that scanf() reads at the start of a text: what
 * SF_OP_TEXT means with the results of scanf().
 *
 * scanf() is not strtod(): of "1e" it takes both characters, and of "infix" none.
 * Plain C11, included by the runtime and by the executor, so that both have the
 * same idea of it: that of this host's library. */
#ifndef SYMFLEET_SCANNED_NUMBER_H
#define SYMFLEET_SCANNED_NUMBER_H

#include "symfleet/abi.h"

#include <stdio.h>

/* Stores the number in `format`, or leaves it as it is, and returns how many
 * characters belong to it, with the space before them: 0 if there is none. */
static inline unsigned sf_scanned_number(const char *text, unsigned format, void *number) {
  int size = 0;
  int read = format == SF_SINGLE   ? sscanf(text, "%f%n", (float *)number, &size)
             : format == SF_DOUBLE ? sscanf(text, "%lf%n", (double *)number, &size)
                                   : sscanf(text, "%Lf%n", (long double *)number, &size);
  return read == 1 && size > 0 ? (unsigned)size : 0;
}

#endif
