"""Random C programs over the input, from one seed: defined behaviour only, and they end.

Each prints what it computed, so that two builds can be compared; their branches, loops, memory
accesses, calls and switches depend on the input, so that a recording of them has much to get wrong.

With -DPROBES a program also tells each decision of a statement to `probes.c`: `armed` when its
condition has been computed, `went` when it has gone one way. Nothing lies between the two but the
branch itself, at any level of optimisation. Decisions inside expressions are told with -DPROBES=2
only: with 1 the optimiser may do with them what it does elsewhere. Without PROBES the macros are
what they are given.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

TYPES = ("uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t")
PRELUDE = r"""#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint8_t d[64];
static uint64_t sum;
static uint8_t ta[256];
static int32_t tb[256];
struct s { uint16_t a; uint64_t b; int8_t c; int32_t e[3]; };
#ifdef PROBES
void armed(int), ended(uint64_t);
/* Two calls must not become one of a value that was chosen without a branch. */
__attribute__((nomerge)) void went(int, uint64_t);
#define PROBE(id, x) \
  (({ int c_ = (x); armed(id); c_; }) ? (went(id, 1), 1) : (went(id, 0), 0))
#define CHOICE(id, x) ({ unsigned c_ = (x); armed(id); c_; })
#define CHOSEN(id, k) went(id, k)
#define ENDED(x) ended(x)
#else
#define PROBE(id, x) (x)
#define CHOICE(id, x) (x)
#define CHOSEN(id, k) (void)0
#define ENDED(x) (void)0
#endif
#if PROBES == 2
#define INNER PROBE
#else
#define INNER(id, x) (x)
#endif
static void note(uint64_t x) { sum = sum * 1099511628211u ^ x; }
#define UNSAFE(id, T, b) (INNER(id, (b) == 0) || INNER(id + 1, (b) == (T)-1))
#define SAFE_DIV(id, T, a, b) (UNSAFE(id, T, b) ? (a) : (a) / (b))
#define SAFE_REM(id, T, a, b) (UNSAFE(id, T, b) ? (a) : (a) % (b))
"""
MAIN = """\
int main(int argc, char **argv) {
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!f) return 1;
  size_t n = fread(d, 1, sizeof d, f);
  for (int i = 0; i < 256; i++) { ta[i] = (uint8_t)(i * 167 + 13); tb[i] = i * i * 7919 - 100000; }
  note(n);
"""


class Writer:
    """Writes one program; every choice comes from the generator."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._names: list[str] = []
        self._functions = 0
        self._fresh = 0
        self._probes = 0

    def program(self, functions: int) -> str:
        parts = [PRELUDE]
        parts += ["".join(self._function()) for _ in range(functions)]
        calls = "".join(
            f"  note((uint64_t)f{i}({self._byte()}, {self._byte()}, {self._word()}));\n"
            for i in range(functions)
        )
        return (
            "".join([*parts, MAIN, calls, '  printf("%016llx\\n", (unsigned long long)sum);\n'])
            + "  ENDED(sum);\n  return 0;\n}\n"
        )

    def _function(self) -> Iterator[str]:
        result = self._rng.choice(TYPES)
        number = self._functions
        self._names = ["p", "q", "r"]
        types = [self._rng.choice(TYPES) for _ in range(3)]
        qualifier = self._rng.choice(["", "__attribute__((noinline)) "])
        yield (
            f"{qualifier}static {result} f{number}({types[0]} p, {types[1]} q, {types[2]} r) {{\n"
            "  struct s o = {0};\n  uint8_t buf[32];\n"
            f"  memcpy(buf, d + {self._rng.randrange(32)}, 32);\n"
        )
        for _ in range(self._rng.randrange(4, 10)):
            yield from self._statement(2)
        yield f"  return ({result})({self._expression(3)});\n}}\n"
        self._functions += 1

    def _statement(self, depth: int) -> Iterator[str]:
        rng = self._rng
        kind = rng.randrange(10 if depth else 5)
        if kind == 0:
            self._fresh += 1
            name = f"v{self._fresh}"
            text = f"{rng.choice(TYPES)} {name} = {self._expression(3)}; note((uint64_t){name});"
            if depth == 2:
                self._names.append(name)
            yield f"  {text}\n" if depth == 2 else f"  {{ {text} }}\n"
        elif kind == 1:
            yield f"  buf[{self._index(32)}] = (uint8_t)({self._expression(2)});\n"
        elif kind == 2:
            field = rng.choice(["a", "b", "c", "e[0]", "e[1]", "e[2]"])
            yield f"  o.{field} += {self._expression(2)};\n  note((uint64_t)o.{field});\n"
        elif kind == 3:
            offset = rng.randrange(20)
            yield f"  memmove(buf + {offset}, buf + {rng.randrange(20)}, {rng.randrange(1, 12)});\n"
        elif kind == 4:
            yield f"  {{ uint64_t w; memcpy(&w, buf + {rng.randrange(24)}, 8); note(w); }}\n"
        elif kind in (5, 6):
            yield f"  if ({self._condition(told=True)}) {{\n"
            yield from self._statement(depth - 1)
            yield "  } else {\n"
            yield from self._statement(depth - 1)
            yield "  }\n"
        elif kind == 7:
            self._fresh += 1
            name = f"i{self._fresh}"
            bound = f"(uint8_t)({self._expression(1)}) % {rng.randrange(2, 6)}"
            turns = self._told(f"{name} < {bound}")
            yield f"  for (unsigned {name} = 0; {turns}; {name}++) {{\n"
            yield from self._statement(depth - 1)
            yield "  }\n"
        elif kind == 8:
            cases = sorted({rng.randrange(12) for _ in range(rng.randrange(2, 6))})
            self._probes += 1
            choice = self._probes
            value = f"(unsigned)({self._expression(2)}) % 12u"
            yield f"  switch (CHOICE({choice}, {value})) {{\n"
            for case in cases:
                yield f"  case {case}: CHOSEN({choice}, {case});\n"
                yield from self._statement(0)
                yield rng.choice(["    break;\n", "    /* falls through */\n"])
            yield f"  default: CHOSEN({choice}, 12); note(1);\n  }}\n"
        else:
            yield f"  note(memcmp(buf, d + {rng.randrange(32)}, {rng.randrange(1, 20)}) < 0);\n"

    def _condition(self, *, told: bool = False) -> str:
        operator = self._rng.choice(["==", "!=", "<", "<=", ">", ">="])
        simple = f"({self._expression(2)}) {operator} ({self._expression(1)})"
        simple = self._told(simple) if told else simple
        if self._rng.randrange(4) == 0:
            return f"({simple}) {self._rng.choice(['&&', '||'])} ({self._condition(told=told)})"
        return simple

    def _told(self, condition: str) -> str:
        self._probes += 1
        return f"PROBE({self._probes}, {condition})"

    def _index(self, size: int) -> str:
        return f"(uint8_t)({self._expression(1)}) % {size}u"

    def _byte(self) -> str:
        return f"d[{self._rng.randrange(64)}]"

    def _word(self) -> str:
        low = self._rng.randrange(60)
        return f"((uint32_t)d[{low}] | (uint32_t)d[{low + 1}] << 8 | (uint32_t)d[{low + 2}] << 16)"

    def _leaf(self) -> str:
        rng = self._rng
        match rng.randrange(8):
            case 0:
                return self._byte()
            case 1:
                return self._word()
            case 2:
                return f"buf[{rng.randrange(32)}]"
            case 3:
                return f"o.{rng.choice(['a', 'b', 'c', 'e[1]'])}"
            case 4:
                return str(rng.choice([0, 1, 2, 3, 7, 8, 15, 16, 31, 255, 256, 65535, 0x12345678]))
            case _:
                return rng.choice(self._names)

    def _expression(self, depth: int) -> str:
        rng = self._rng
        if depth == 0:
            return self._leaf()
        a, b = self._expression(depth - 1), self._expression(depth - 1)
        kind = rng.choice(TYPES)
        unsigned = "u" + kind if kind.startswith("int") else kind
        wide = "uint64_t" if "64" in kind else "uint32_t"
        bits = "64" if "64" in kind else "32"
        shift = rng.randrange(1, 31)
        macro = rng.choice(["SAFE_DIV", "SAFE_REM"])
        condition = self._condition() if rng.randrange(16) == 0 else f"({a}) < ({b})"
        inner = self._probes + 1
        self._probes += 2
        arithmetic = f"({kind})(({wide})({a}) {rng.choice('+-*')} ({wide})({b}))"
        bitwise = f"({kind})(({kind})({a}) {rng.choice('&|^')} ({kind})({b}))"
        return rng.choice(
            [
                arithmetic,
                arithmetic,
                arithmetic,
                bitwise,
                bitwise,
                f"({kind})(({wide})({a}) << (({wide})({b}) & 7))",
                f"({kind})(({kind})({a}) >> (({wide})({b}) & 7))",
                f"({kind}){macro}({inner}, {kind}, ({kind})({a}), ({kind})({b}))",
                f"(INNER({inner}, {condition}) ? ({kind})({a}) : ({kind})({b}))",
                f"ta[(uint8_t)({a})]",
                f"tb[(uint8_t)({a})]",
                f"__builtin_bswap{bits}((uint{bits}_t)({a}))",
                f"__builtin_popcountll((uint64_t)({a}))",
                f"((uint32_t)({a}) << {shift} | (uint32_t)({a}) >> {32 - shift})",
                f"(({unsigned})({a}) == ({unsigned})({b}))",
            ]
        )


def write_program(seed: int, functions: int = 6) -> str:
    """Return the program of a seed."""
    return Writer(random.Random(seed)).program(functions)


def write_inputs(seed: int, count: int) -> list[bytes]:
    """Return inputs for the program of a seed, long ones and short ones."""
    rng = random.Random(seed)
    edge_values = (0, 1, 65, 127, 128, 255)
    return [
        bytes(rng.choice([*edge_values, rng.randrange(256)]) for _ in range(rng.choice((64, 10))))
        for _ in range(count)
    ]
