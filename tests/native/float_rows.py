"""Values of the rows of floating-point operations, computed by the C library of this host.

The second opinion of `recording.evaluate`: what the program did must be what these functions do.
Numbers of the x87 format have no type in Python: rows that read or give them have no value here,
and neither has what is computed from those.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import re
import struct
from collections.abc import Callable, Sequence

HALF, SINGLE, DOUBLE, X87 = range(4)
WIDTHS = (16, 32, 64)
PACKED = ("<e", "<f", "<d")
UNSIGNED = ("<H", "<I", "<Q")
# Bits of what an SF_OP_TEXT row gives.
TEXT_LENGTH, TEXT_SCANNED, TEXT_STREAMED = 1, 2, 4
STREAMED = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d*)?|[+-]?\.?")

LIBM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
LIBC = ctypes.CDLL(None)

NAMES = """
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10
    log1p logb cbrt erf erfc tgamma lgamma
"""
ONE = {7: "sqrt", 8: "floor", 9: "ceil", 10: "trunc", 11: "rint", 12: "round"}
ONE |= dict(enumerate(NAMES.split(), start=24))
TWO = {
    5: "fmod",
    56: "pow",
    57: "atan2",
    58: "hypot",
    59: "fdim",
    60: "nextafter",
    61: "remainder",
}
ARITHMETIC: dict[int, Callable[[float, float], float]] = {
    1: lambda x, y: x + y,
    2: lambda x, y: x - y,
    3: lambda x, y: x * y,
}
COMPARES: dict[int, Callable[[float, float], bool]] = {
    80: lambda x, y: x == y,
    81: lambda x, y: x < y,
    82: lambda x, y: x <= y,
    83: lambda x, y: x < y or x > y,
    84: lambda x, y: math.isnan(x) or math.isnan(y),
}
FROM_SINT, FROM_UINT, CONVERT, TO_SINT, TO_UINT = 96, 97, 98, 99, 100


def number(bits: int, form: int) -> float:
    value: float = struct.unpack(PACKED[form], struct.pack(UNSIGNED[form], bits))[0]
    return value


def bits_of(value: float, form: int) -> int:
    try:
        packed = struct.pack(PACKED[form], value)
    except OverflowError:  # beyond the largest number: an infinity
        packed = struct.pack(PACKED[form], math.copysign(math.inf, value))
    bits: int = struct.unpack(UNSIGNED[form], packed)[0]
    return bits


def _call(name: str, form: int, *arguments: float) -> float:
    function = getattr(LIBM, name if form == DOUBLE else f"{name}f")
    kind = ctypes.c_double if form == DOUBLE else ctypes.c_float
    function.restype = kind
    function.argtypes = [kind] * len(arguments)
    result: float = function(*arguments)
    return result


def _divide(x: float, y: float) -> float:
    if y == 0:
        sign = math.copysign(1, x) * math.copysign(1, y)
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, sign)
    return x / y


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _from_integer(value: int, form: int) -> int:
    """Round once: by way of a double, single precision would be rounded twice."""
    if form == DOUBLE:
        return bits_of(float(value), form)
    precision = 24 if form == SINGLE else 11
    excess = max(value.bit_length() - precision - 1, 0) if value >= 0 else 0
    if value < 0:
        return _from_integer(-value, form) | 1 << (WIDTHS[form] - 1)
    kept = value >> excess | int(value & (1 << excess) - 1 != 0)  # sticky
    return bits_of(math.ldexp(float(kept), excess), form)


def float_value(aux: int, bits: int, operands: Sequence[int]) -> int | None:
    """Return the value of an SF_OP_FLOAT row, or None where this file knows none."""
    function, form, to = aux & 0xFF, aux >> 8 & 3, aux >> 10 & 3
    if function in (FROM_SINT, FROM_UINT):
        given = operands[0] if function == FROM_UINT else _signed(operands[0], 64)
        return None if to == X87 else _from_integer(given, to)
    if form == X87 or (to == X87 and function < 80) or (to == X87 and function == CONVERT):
        return None
    x = number(operands[0], form)
    y = number(operands[1], form) if len(operands) > 1 and function < 85 else 0.0
    if function in COMPARES:
        return int(COMPARES[function](x, number(operands[1], form)))
    if function == CONVERT:
        return bits_of(x, to)
    if function in (TO_SINT, TO_UINT) and math.isfinite(x) and abs(x) < 2.0 ** (bits - 1):
        return int(x) & (1 << bits) - 1
    if form == HALF:
        return None
    if function in ARITHMETIC:
        return bits_of(ARITHMETIC[function](x, y), form)
    if function == 4:
        return bits_of(_divide(x, y), form)
    if function in ONE:
        return bits_of(_call(ONE[function], form, x), form)
    if function in TWO:
        return bits_of(_call(TWO[function], form, x, y), form)
    return None


def text_value(aux: int, text: bytes) -> int | None:
    """Return the value of an SF_OP_TEXT row, or None for the x87 format."""
    result, to = aux & 0xFF, aux >> 10 & 3
    if to == X87:
        return None
    given = ctypes.create_string_buffer(text + b"\0")
    if result & TEXT_SCANNED:
        return _scanned(given, to, length=bool(result & TEXT_LENGTH))
    if result & TEXT_STREAMED:
        return _streamed(text, to, length=bool(result & TEXT_LENGTH))
    end = ctypes.c_char_p()
    function = LIBC.strtod if to == DOUBLE else LIBC.strtof
    function.restype = ctypes.c_double if to == DOUBLE else ctypes.c_float
    value = function(given, ctypes.byref(end))
    if result == TEXT_LENGTH:
        rest = ctypes.cast(end, ctypes.c_void_p).value or 0
        return rest - ctypes.addressof(given)
    return bits_of(value, to)


def _scanned(text: ctypes.Array[ctypes.c_char], to: int, *, length: bool) -> int:
    value = ctypes.c_double() if to == DOUBLE else ctypes.c_float()
    size = ctypes.c_int()
    form = b"%lf%n" if to == DOUBLE else b"%f%n"
    LIBC.sscanf(text, form, ctypes.byref(value), ctypes.byref(size))
    return size.value if length else bits_of(value.value, to)


def _streamed(text: bytes, to: int, *, length: bool) -> int:
    """Read as std::istream does: first what may belong to a number, then all of that."""
    found = STREAMED.match(text)
    taken = found[0] if found else b""
    try:
        value = number(bits_of(float(taken), to), to)
    except (ValueError, OverflowError):
        return 0
    if math.isinf(value):
        return 0
    return len(taken) if length else bits_of(value, to)


def same_number(aux: int, seen: int, computed: int) -> bool:
    """Tell whether two results are one: of what is no number, the bits may differ."""
    to = aux >> 10 & 3
    if seen == computed:
        return True
    return to != X87 and math.isnan(number(seen, to)) and math.isnan(number(computed, to))
