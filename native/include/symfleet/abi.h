/* What an instrumented target and the executor share: the table in shared
 * memory, the branch events, and the fork-server conversation.
 *
 * Plain C11, included by the runtime (inside the target) and by the executor.
 * Both sides check SF_ABI_VERSION in the handshake, so any change here bumps it.
 *
 * Theory of operation. The executor creates one memfd, fills in sf_header, and
 * starts the target with SYMFLEET_CHANNEL="command_fd,status_fd,table_fd,input_fd"
 * in its environment; input_fd is the input file, open for reading. The runtime
 * maps the table, lets the constructors of the program run until one of them
 * touches the input or all are done, and then serves forks: one sf_command in,
 * one sf_started and one sf_finished out for each execution. A child that dies at any instruction
 * leaves a table that can be read: rows and events whose op or kind is still 0
 * were reserved but never written and are skipped.
 *
 * Without SYMFLEET_CHANNEL a target behaves as if it had been built by clang.
 *
 * All integers are little-endian (x86-64 only).
 */
#ifndef SYMFLEET_ABI_H
#define SYMFLEET_ABI_H

#include <stdint.h>

#define SF_ABI_VERSION 2u
#define SF_TABLE_MAGIC 0x54464d59u /* "YMFT" */
#define SF_HELLO_MAGIC 0x4f4c4853u /* "SHLO" */
#define SF_CHANNEL_ENV "SYMFLEET_CHANNEL"

/* ---- Table -------------------------------------------------------------- */

/* How one execution runs. */
enum sf_mode {
  SF_MODE_COVER = 0,  /* edge counters only; no byte is symbolic */
  SF_MODE_RECORD = 1, /* rows and events are written */
};

/* How the input comes to the target, and so which bytes are symbolic. */
enum sf_input_kind {
  SF_INPUT_NONE = 0,
  /* Bytes read from the file with the identity (input_dev, input_ino), at
   * whatever descriptor or stream it is opened (standard input included). */
  SF_INPUT_FILE = 1,
  /* Standard input is a connected stream socket; the runtime is the peer. */
  SF_INPUT_SOCKET = 2,
  /* Standard input is a listening socket with one connection to accept. */
  SF_INPUT_LISTENER = 3,
  /* SF_ARGUMENT_MARK in an argument stands for the input up to its first zero;
   * the zero behind an input without one is a byte of it at the offset
   * input_size. */
  SF_INPUT_ARGV = 4,
};
#define SF_ARGUMENT_MARK "@@"

enum sf_header_flags {
  SF_PIN_TIME = 1u << 0,   /* time, clock_gettime, gettimeofday: pinned_time_s */
  SF_PIN_PID = 1u << 1,    /* getpid and getppid: fixed numbers that nobody has */
  SF_PIN_RANDOM = 1u << 2, /* getrandom, random devices: a fixed stream */
};

enum sf_degraded {
  SF_DEGRADED_ROWS = 1u << 0,   /* row cap reached: later operations concrete */
  SF_DEGRADED_EVENTS = 1u << 1, /* event cap reached: later branches unseen */
  SF_DEGRADED_BLOBS = 1u << 2,  /* blob cap reached: later tables concrete */
};

#define SF_OPENS_BYTES 4096u
#define SF_LOSSES_MAX 64u

/* A place where something that depends on the input was made concrete, or handed
 * to a function that carries no labels. */
struct sf_loss {
  uint64_t count;
  char where[120]; /* "fadd file.c:12 function", "call crc32 file.c:12 function"; zero-terminated */
};

/* The first page(s) of the table. Offsets are in bytes from the table's start,
 * caps are in elements (bytes for blobs and edges). */
struct sf_header {
  uint32_t magic, abi_version;
  uint64_t total_size;
  uint64_t rows_off, rows_cap;     /* struct sf_row[rows_cap]; row 0 unused */
  uint64_t events_off, events_cap; /* struct sf_event[events_cap] */
  uint64_t blobs_off, blobs_cap;   /* bytes; table snapshots */
  uint64_t edges_off, edges_cap;   /* uint8_t[edges_cap] saturating counters */

  /* Written by the executor before each command. */
  uint32_t flags;                /* enum sf_header_flags */
  uint32_t input_kind;           /* enum sf_input_kind */
  uint64_t input_dev, input_ino; /* of the file; the target puts its socket here */
  uint64_t input_size;           /* in bytes */
  uint64_t pinned_time_s;

  /* Written by the target. The executor resets them before each command
   * (next_row to 1, all else to 0); the target updates them atomically. */
  uint64_t next_row, next_event, next_blob;
  uint64_t degraded;          /* enum sf_degraded bits */
  uint64_t lost_rows;         /* operations made concrete by the row cap */
  uint64_t lost_events;       /* events dropped by the event cap */
  uint64_t unmodelled;        /* unmodelled operations met with symbolic operands */
  uint64_t symbolic_bytes;    /* distinct or repeated symbolic bytes delivered */
  uint64_t input_opens;       /* times the input was opened (stdin counts once) */
  uint64_t progress;          /* grows while the target makes progress */
  uint64_t input_position;    /* bytes that were taken from a socket */
  uint64_t opens_len;         /* bytes used in opens */
  char opens[SF_OPENS_BYTES]; /* paths that were opened, NUL-separated */
  uint64_t losses_len;        /* used entries of losses; the first ones met */
  struct sf_loss losses[SF_LOSSES_MAX];
};

/* A label is the index of a row; label 0 means "concrete".
 *
 * Operands. Binary operations hold labels a and b. At most one may be 0; that
 * operand is the constant k. Operands of SF_OP_ITE and SF_OP_CONCAT are never
 * 0: constants there are SF_OP_CONST rows. bits is the width of the result in
 * 1..64; a value is always held in the low `bits` bits of a uint64_t, the
 * higher ones zero. */
enum sf_op {
  SF_OP_INVALID = 0,
  SF_OP_CONST = 1, /* k */
  SF_OP_INPUT = 2, /* bits/8 input bytes from offset k; byte k is the lowest */
  /* How many bytes the input has; bits is 32. Not one of its bytes: an input
   * with another value here has another length, and as many bytes are the same
   * as there are in both. */
  SF_OP_LENGTH = 3,

  SF_OP_ADD = 8,
  SF_OP_SUB = 9,
  SF_OP_MUL = 10,
  SF_OP_UDIV = 11, /* the divisor is non-zero on the recorded path */
  SF_OP_SDIV = 12,
  SF_OP_UREM = 13,
  SF_OP_SREM = 14,
  SF_OP_AND = 15,
  SF_OP_OR = 16,
  SF_OP_XOR = 17,
  SF_OP_SHL = 18, /* an amount >= bits gives 0 (SF_OP_ASHR: the sign) */
  SF_OP_LSHR = 19,
  SF_OP_ASHR = 20,

  /* Comparisons: bits is 1, aux is the width of the operands. Others are
   * written as these with operands swapped. */
  SF_OP_EQ = 24,
  SF_OP_NE = 25,
  SF_OP_ULT = 26,
  SF_OP_ULE = 27,
  SF_OP_SLT = 28,
  SF_OP_SLE = 29,

  SF_OP_ZEXT = 32,    /* a */
  SF_OP_SEXT = 33,    /* a */
  SF_OP_EXTRACT = 34, /* bits of a starting at bit aux (truncation: aux 0) */
  SF_OP_CONCAT = 35,  /* a above b; the width of b is bits - width(a) */
  SF_OP_ITE = 36,     /* a (1 bit) ? b : c */

  SF_OP_BSWAP = 40, /* bits is a multiple of 16 */
  SF_OP_CTPOP = 41,
  SF_OP_CTLZ = 42, /* bits for 0 */
  SF_OP_CTTZ = 43, /* bits for 0 */

  /* Overflow flags of binary operations: bits is 1, aux the operands' width. */
  SF_OP_UADDO = 48,
  SF_OP_SADDO = 49,
  SF_OP_USUBO = 50,
  SF_OP_SSUBO = 51,
  SF_OP_UMULO = 52,
  SF_OP_SMULO = 53,

  /* A read whose address depends on one input byte. a is a label over exactly
   * one input byte, at most 8 distinct bits wide in effect; c is the offset
   * (in the blob area) of 256 elements of bits/8 bytes, element v being what
   * memory held at the address computed with that input byte = v. Elements
   * whose address was not readable repeat the element that was read; the byte
   * values for which that happened are excluded by an SF_EV_FACT. a is the
   * SF_OP_INPUT row (8 bits) itself. */
  SF_OP_TABLE = 56,

  /* Functions of up to four labels: a, b, c and, in the low half of k, d.
   * Absent operands are 0, constants are SF_OP_CONST rows. Values are the bits
   * of floating-point numbers; rounding is to nearest, ties to even. */
  SF_OP_FLOAT = 64, /* aux: enum sf_float_function and formats, see SF_FLOAT_AUX */
  /* The number at the start of a text, as strtod or scanf reads it in the C
   * locale. Each operand is 8 characters (64 bits), the first in the lowest byte; behind the
   * last operand the text ends. aux: enum sf_text_result and the format. */
  SF_OP_TEXT = 65,

  /* 96 to 119: wide integers and arrays. */
  SF_OP_BITREVERSE = 96, /* a */
  SF_OP_UMULH = 97,      /* binary: the upper half of the product of a and b */
  /* (a above b) divided by c, three labels of the same width, none of them 0:
   * the low bits of the quotient; the remainder. */
  SF_OP_UDIVW = 98,
  SF_OP_UREMW = 99,

  /* A read whose address depends on more than one input byte. a is the number
   * of the element (of any width), c the offset (in the blob area) of k elements
   * of bits/8 bytes as memory held them. A number of k or more gives 0; an
   * SF_EV_FACT excludes it where it could happen. */
  SF_OP_ARRAY = 100,

  /* The value of a, which is what the program made of a number in the input's
   * text. Says where that text is, so that a solver can write another one; the
   * rest of the row changes no value. k: offset of the text; aux: base |
   * SF_NUMBER_SIGNED | SF_NUMBER_SKIPS_SPACE | sf_number_kind << 8; c: bytes that belong to this
   * text or may | bytes of the number now << 8 | bytes of space before it << 16. */
  SF_OP_NUMBER = 120,
  /* Character number aux of the text that printf makes of a (8 bits; 0 behind
   * its end), and how long that text is. c: sf_print_format (printed_number.h). */
  SF_OP_PRINTED = 121,
  SF_OP_PRINTED_SIZE = 122,
};

#define SF_NUMBER_SIGNED 0x40u
#define SF_NUMBER_SKIPS_SPACE 0x80u
enum sf_number_kind {
  SF_NUMBER_VALUE = 0,    /* the value */
  SF_NUMBER_IS_ONE = 1,   /* 1 bit: there is a digit */
  SF_NUMBER_NEGATIVE = 2, /* 1 bit: there is a minus sign */
  SF_NUMBER_OVER = 3,     /* 1 bit: it is beyond the range */
  SF_NUMBER_END = 4,      /* bytes of space and number */
};

enum sf_float_format {
  SF_HALF = 0,
  SF_SINGLE = 1,
  SF_DOUBLE = 2,
  /* 80 bits: two operands each, first the low 64 bits, then the high 16. A
   * function that gives such a number is two rows, one for each part. */
  SF_X87 = 3,
};

/* What SF_OP_FLOAT computes. The first group gives a number of the operands'
 * format. */
enum sf_float_function {
  SF_FN_ADD = 1,
  SF_FN_SUB,
  SF_FN_MUL,
  SF_FN_DIV,
  SF_FN_REM, /* fmod */
  SF_FN_FMA, /* not of SF_X87 */
  SF_FN_SQRT,
  SF_FN_FLOOR,
  SF_FN_CEIL,
  SF_FN_TRUNC,
  SF_FN_RINT,
  SF_FN_ROUND, /* halves away from zero */
  SF_FN_MIN,   /* the other one if one is not a number; the first if equal */
  SF_FN_MAX,
  SF_FN_MINIMUM, /* not a number if one is not; -0 is less than +0 */
  SF_FN_MAXIMUM,

  /* As the host's library computes them. */
  SF_FN_SIN = 24,
  SF_FN_COS,
  SF_FN_TAN,
  SF_FN_ASIN,
  SF_FN_ACOS,
  SF_FN_ATAN,
  SF_FN_SINH,
  SF_FN_COSH,
  SF_FN_TANH,
  SF_FN_ASINH,
  SF_FN_ACOSH,
  SF_FN_ATANH,
  SF_FN_EXP,
  SF_FN_EXP2,
  SF_FN_EXP10,
  SF_FN_EXPM1,
  SF_FN_LOG,
  SF_FN_LOG2,
  SF_FN_LOG10,
  SF_FN_LOG1P,
  SF_FN_LOGB,
  SF_FN_CBRT,
  SF_FN_ERF,
  SF_FN_ERFC,
  SF_FN_TGAMMA,
  SF_FN_LGAMMA,
  SF_FN_POW = 56, /* from here to SF_FN_REMAINDER of two numbers */
  SF_FN_ATAN2,
  SF_FN_HYPOT,
  SF_FN_FDIM,
  SF_FN_NEXTAFTER,
  SF_FN_REMAINDER,
  SF_FN_LDEXP = 64, /* of a number and an integer of 32 bits */
  SF_FN_FREXP,      /* the fraction of frexp */
  SF_FN_FRACTION,   /* the fraction of modf */

  /* 1 bit. */
  SF_FN_EQ = 80,
  SF_FN_LT,
  SF_FN_LE,
  SF_FN_NE,    /* ordered and different */
  SF_FN_UNO,   /* one of the two is not a number */
  SF_FN_CLASS, /* the last operand (32 bits) is a mask of LLVM's FPClassTest */

  /* Conversions. Integers have the width of their rows. */
  SF_FN_FROM_SINT = 96, /* from an integer to the format of the result */
  SF_FN_FROM_UINT,
  SF_FN_CONVERT, /* from the operand's format to that of the result */
  SF_FN_TO_SINT, /* towards zero; what does not fit becomes what x86 gives */
  SF_FN_TO_UINT,
  SF_FN_TO_SINT_SAT, /* what does not fit becomes the nearest bound, NaN 0 */
  SF_FN_TO_UINT_SAT,
  SF_FN_LRINT,    /* to the nearest integer, ties to even */
  SF_FN_LROUND,   /* to the nearest integer, halves away from zero */
  SF_FN_EXPONENT, /* the integer that frexp stores */
};

enum sf_text_result {
  SF_TEXT_NUMBER = 0, /* in the format of the result */
  SF_TEXT_LENGTH = 1, /* how many characters belong to it, 64 bits; 0: no number */
  /* The same as scanf reads it, see scanned_number.h; 0 if there is no number. */
  SF_TEXT_SCANNED_NUMBER = 2,
  SF_TEXT_SCANNED_LENGTH = 3,
  /* The same as std::istream reads it, see streamed_number.h. */
  SF_TEXT_STREAMED_NUMBER = 4,
  SF_TEXT_STREAMED_LENGTH = 5,
};
#define SF_TEXT_IS_LENGTH(result) ((result) & 1u)
/* Which of the three reads it. */
#define SF_TEXT_READER(result) ((result) & ~1u)

/* aux of SF_OP_FLOAT and SF_OP_TEXT. `high` asks for the upper 16 bits of a
 * result in SF_X87. */
#define SF_FLOAT_AUX(function, from, to, high)                                                     \
  ((uint16_t)((function) | (from) << 8 | (to) << 10 | (high) << 12))
#define SF_FLOAT_FUNCTION(aux) ((aux) & 0xffu)
#define SF_FLOAT_FROM(aux) ((aux) >> 8 & 3u)
#define SF_FLOAT_TO(aux) ((aux) >> 10 & 3u)
#define SF_FLOAT_HIGH(aux) ((aux) >> 12 & 1u)
/* Most characters of a text that SF_OP_TEXT reads. */
#define SF_TEXT_MAX 32

struct sf_row {
  uint8_t op;   /* enum sf_op */
  uint8_t bits; /* width of the result, 1..64 */
  uint16_t aux;
  uint32_t a, b, c;
  uint64_t k;
};

enum sf_event_kind {
  SF_EV_INVALID = 0,
  /* A branch on label (1 bit) that went `taken`. Both a path constraint for
   * later goals and a goal itself (the other direction). */
  SF_EV_BRANCH = 1,
  /* A goal only: make label (1 bit) differ from `taken`. Used where flipping is
   * interesting but the outcome constrains nothing that other events do not
   * say (other cases of a switch, boundary values, a zero divisor). */
  SF_EV_GOAL = 2,
  /* A path constraint only: label (bits wide) had the value `value`; used for
   * what the runtime made concrete and for side conditions. */
  SF_EV_FACT = 3,
  /* The target asked for input bytes up to offset `value`, past the end. */
  SF_EV_EOF = 4,
};

/* aux of events that say whether the input goes on where the program reads. */
#define SF_AUX_END 0xfffeu

struct sf_event {
  uint8_t kind;  /* enum sf_event_kind */
  uint8_t taken; /* 0 or 1 */
  uint16_t aux;  /* ordinal within the site: case of a switch, byte of a model */
  uint32_t label;
  uint64_t site; /* stable 64-bit branch site id */
  uint64_t value;
};

/* ---- Fork server -------------------------------------------------------- */

/* Sent once on the status descriptor when the target is ready to fork. */
struct sf_hello {
  uint32_t magic, abi_version;
  uint32_t edges; /* number of edge counters this build uses */
  uint32_t flags; /* 0 */
  uint64_t build_id;
};

enum sf_command_op { SF_CMD_RUN = 1, SF_CMD_EXIT = 2 };

/* Read from the command descriptor. */
struct sf_command {
  uint32_t op;   /* enum sf_command_op */
  uint32_t mode; /* enum sf_mode */
};

/* The child leads its own process group: the executor ends it by signalling
 * that group. */
struct sf_started {
  int32_t pid;
  uint32_t error; /* errno of a failed fork, else 0 */
};

struct sf_finished {
  int32_t status;       /* as waitpid gives it */
  uint32_t own_signals; /* bit n: the run sent itself signal n; 0 is not known to have */
  uint64_t user_us, system_us, rss_kib_max;
};

#ifdef __cplusplus
static_assert(sizeof(struct sf_row) == 24, "rows are 24 bytes");
static_assert(sizeof(struct sf_event) == 24, "events are 24 bytes");
#else
_Static_assert(sizeof(struct sf_row) == 24, "rows are 24 bytes");
_Static_assert(sizeof(struct sf_event) == 24, "events are 24 bytes");
#endif

#endif
