/* What instrumented code shares with the runtime inside one process.
 *
 * The pass emits references to these names; the runtime defines them. Nothing
 * here crosses a process border (that is abi.h).
 *
 * Calls pass labels through one thread-local record. A caller with a labelled
 * argument writes the labels and names the callee in arg_token; the callee
 * trusts them only if the token names it. Returns work the same way round. A
 * token of 0 is the common, fully concrete case: it costs one compare. So
 * labels survive callbacks through uninstrumented code, longjmp, exceptions
 * and threads, and an uninstrumented callee can never hand out stale ones.
 */
#ifndef SYMFLEET_CALLS_H
#define SYMFLEET_CALLS_H

#include <stdint.h>

/* The page table of the shadow: slot (address >> 12) holds null or a page of
 * 4096 entries. Fixed so that the inline test needs no load; this base
 * co-exists with AddressSanitizer's mapping. */
#define SF_SHADOW_BASE 0x300000000000ull
#define SF_SHADOW_PAGE_BITS 12
#define SF_SHADOW_SLOT_BITS 35

/* Most labels that one call or return can carry. */
#define SF_CALL_LABELS 64

/* What a variadic function was passed: how many label slots the variadic
 * arguments have (a long double two, others one each), their classes (two bits
 * each, first slot lowest), their labels. */
struct sf_varargs {
  uint32_t count, reserved;
  uint64_t classes;
  uint32_t labels[32];
};
enum sf_vararg_class {
  SF_VARARG_INTEGER = 0,
  SF_VARARG_SSE = 1,
  SF_VARARG_X87_LOW = 2,  /* a long double has two slots: its low 64 bits */
  SF_VARARG_X87_HIGH = 3, /* and its high 16 */
};
#define SF_VARARGS_MAX 32

/* Most arguments passed by value in memory that keep their labels. */
#define SF_CALL_BYVALS 8

struct sf_tls {
  const void *arg_token; /* offset 0 */
  const void *ret_token; /* offset 8 */
  uint64_t site;         /* offset 16: call site of a libc model */
  uint32_t arg_count;    /* offset 24 */
  uint32_t ret_count;    /* offset 28 */
  uint32_t args[SF_CALL_LABELS];
  uint32_t rets[SF_CALL_LABELS];
  uint32_t va_first, va_count; /* label slots of the variadic arguments */
  uint64_t va_classes;
  uint64_t byvals[SF_CALL_BYVALS]; /* where the caller has them */
  const void *tail_from, *tail_to; /* who ended by the tail call of whom */
};
#define SF_TLS_ARG_TOKEN 0
#define SF_TLS_RET_TOKEN 8
#define SF_TLS_SITE 16

/* One per instrumented object file, registered by its constructor. */
struct sf_module {
  uint32_t version; /* SF_MODULE_VERSION */
  uint32_t edges;
  uint64_t hash;       /* of everything that was compiled */
  uint8_t **edge_base; /* where its counters are; a private area at first */
  /* One byte for each function that is only declared there and gets something
   * that may depend on the input. Not zero: the runtime wants to be told of calls. */
  uint8_t *watch;
  uint64_t watch_count;
};
#define SF_MODULE_VERSION 2u

/* Stands before each function that carries labels and can be called from other
 * object files; as long as the alignment of functions. With -fsanitize=function the types of the
 * function stand between the two. */
#define SF_FUNCTION_MARK "symfleet/labels"
#define SF_FUNCTION_MARK_BYTES 16
#define SF_FUNCTION_TYPE_BYTES 8

/* How the place of a call begins in sf_loss.where: the function's name follows. */
#define SF_LOSS_CALL "call "

/* Values of a switch that go the same way. Ways are numbered from 0 and come
 * one after the other; the default way is none of them. */
struct sf_switch_range {
  uint64_t low, high; /* both included */
  uint64_t way;
};

struct sf_switch {
  uint64_t site;
  uint32_t bits, count;
  const struct sf_switch_range *ranges;
};

/* Operations on integers of more than 64 bits, word by word. Those that a row
 * has too keep its number (enum sf_op); the others are named here. */
enum sf_wide_op {
  SF_WIDE_UMIN = 200,
  SF_WIDE_UMAX = 201,
  SF_WIDE_SMIN = 202,
  SF_WIDE_SMAX = 203,
  SF_WIDE_ABS = 204,
  SF_WIDE_FSHL = 205,
  SF_WIDE_FSHR = 206,
};
#define SF_WIDE_WORDS 8

/* Operands and result of one of them, lowest word first; a result of one bit is
 * the first word, an overflow flag is the word behind the value. */
struct sf_wide {
  uint64_t values[3][SF_WIDE_WORDS];
  uint32_t labels[3][SF_WIDE_WORDS];
  uint32_t results[SF_WIDE_WORDS + 1];
  uint32_t reserved;
};

#endif
