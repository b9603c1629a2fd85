"""Names of C++ functions as their source has them, by the C++ library that symfleet-exec needs."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from typing import Final

_LIBRARY: Final = "libstdc++.so.6"
_MANGLED: Final = re.compile(r"(?<![\w$./-])_Z[\w$.]+")
_NAME_CHARS_MAX: Final = 4096
_DEMANGLE: Final = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_int),
)
_FREE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def demangled(text: str) -> str:
    """Return the text with each mangled name of C++ in it made readable.

    A name stays as it is where the library does not know it, or is not here."""
    return _MANGLED.sub(lambda found: _demangled_name(found[0]), text)


@functools.lru_cache(maxsize=4096)
def _demangled_name(name: str) -> str:
    demangle = _demangler()
    return name if demangle is None or len(name) > _NAME_CHARS_MAX else demangle(name)


@functools.cache
def _demangler() -> Callable[[str], str] | None:
    try:
        library = ctypes.CDLL(_LIBRARY)
        demangle = _DEMANGLE(("__cxa_demangle", library))
        free = _FREE(("free", library))
    except (OSError, AttributeError):
        return None

    def readable(name: str) -> str:
        # As the Itanium C++ ABI has it: the answer is ours to free.
        answer = demangle(name.encode(), None, None, ctypes.byref(ctypes.c_int(0)))
        if not answer:
            return name
        try:
            return ctypes.string_at(answer).decode("utf-8", "replace")
        finally:
            free(answer)

    return readable
