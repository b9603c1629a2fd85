/* What a program may ask of symfleet. Found by `symfleet cc` without an option. */
#ifndef SYMFLEET_H
#define SYMFLEET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The `size` bytes at `memory` hold the next bytes of the input: those behind
 * what earlier calls declared. For programs that get their input in a way that
 * symfleet does not see. Bytes that are not the input's stay as they are and
 * count as constants. Without symfleet, and outside of its executions, it does
 * nothing; a build by another compiler has to test it for null. */
__attribute__((weak)) void symfleet_make_symbolic(void *memory, size_t size);

#ifdef __cplusplus
}
#endif

#endif
