"""What of a program is instrumented, from the program's file alone.

The compiler pass leaves a section of notes: one line for each object file that it compiled, one for
each operation that it could not follow, one for each call that may leave what is instrumented. The
symbol table names the sources of all other objects; a mark stands before instrumented functions.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

NOTES: Final = "symfleet_notes"
MARK: Final = b"symfleet/labels\0"
"""What stands before an instrumented function (native/include/symfleet/calls.h)."""
_MARK_DISTANCES: Final = (len(MARK), len(MARK) + 8)
_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE: Final = 2
_DYNAMIC_SYMBOLS: Final = 11
_NO_CONTENT: Final = 8
_IS_FUNCTION: Final = (2, 10)  # FUNC, IFUNC
_IS_FILE: Final = 4
_RUNTIME: Final = (b"_ZN2sf", b"_ZNK2sf", b"__sf_model_")
"""How names of our own runtime begin."""
_STARTUP: Final = ("crtstuff.c", "crt1.o", "crti.o", "crtn.o", "Scrt1.o", "abi-note.c", "init.c")
_SANITIZERS: Final = re.compile(r"(sanitizer|asan|lsan|ubsan|interception)_.*\.(cpp|S)\.o")
"""Objects of clang's own libraries; those of a program are named by their source, without `.o`."""
_SYMBOLS_MAX: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function that may have no labels; `way` says how its effect comes back."""

    name: str
    way: str
    place: str


@dataclass(frozen=True, slots=True)
class Module:
    """One object file that the pass compiled."""

    source: str
    llvm: int
    edges: int
    lost: tuple[str, ...]
    """Operations whose results are constants: `fadd file.c:12 function`."""
    calls: tuple[Call, ...] = ()
    """Calls of functions that the object file only declares."""


@dataclass(frozen=True, slots=True)
class Objects:
    """What a program was put together from."""

    instrumented: tuple[Module, ...]
    others: tuple[str, ...]
    """Sources of objects that another compiler made; empty where the program has no symbols."""
    has_symbols: bool
    marked: frozenset[str] = frozenset()
    """Instrumented functions that can be called from other objects."""
    imported: frozenset[str] = frozenset()
    """What shared libraries have to define."""
    interpreter: str = ""
    """The dynamic loader; empty for a static program."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    address: int
    data: memoryview
    link: int


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    section: int  # 0: it is not defined here
    address: int


def read_objects(path: Path) -> Objects | None:
    """Return what a program consists of; None for a file that is no 64-bit ELF program."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as file:
        view = memoryview(file)
        try:
            return _objects(view)
        except (struct.error, IndexError, ValueError):
            return None
        finally:
            view.release()


def _objects(file: memoryview) -> Objects | None:
    if bytes(file[:5]) != b"\x7fELF\x02":
        return None
    sections = list(_sections(file))
    try:
        notes = b"".join(bytes(one.data) for one in sections if one.name == NOTES)
        modules = tuple(parse_notes(notes.decode("utf-8", "replace")))
        if not modules:  # a library of the system may have very many symbols
            return Objects((), (), False)
        others: tuple[str, ...] = ()
        tables = [one for one in sections if one.kind == _SYMBOL_TABLE]
        imported, marked = _imported_and_marked(sections)
        loaders = [bytes(one.data) for one in sections if one.name == ".interp"]
        if tables:
            ours = {PurePath(module.source).name for module in modules}
            names = _sources(tables[0].data, sections[tables[0].link].data)
            others = tuple(name for name in names if PurePath(name).name not in ours)
        return Objects(
            modules,
            others,
            bool(tables),
            marked,
            imported,
            os.fsdecode(loaders[0].rstrip(b"\0")) if loaders else "",
        )
    finally:
        for one in sections:
            one.data.release()


def parse_notes(text: str) -> Iterator[Module]:
    """Yield the modules of a section of notes (native/include/symfleet/notes.h)."""
    modules: list[tuple[str, int, int, list[str], list[Call]]] = []
    for line in text.split("\n"):
        match line.split("\t"):
            case ["module", source, llvm, edges, _]:
                modules.append((source, int(llvm), int(edges), [], []))
            case ["lost", _, what, file, number, function] if modules:
                modules[-1][3].append(f"{what} {file}:{number} {function}")
            case ["call", _, way, name, file, number, _] if modules:
                modules[-1][4].append(Call(name, way, f"{os.path.normpath(file)}:{number}"))
            case _:
                continue
    for source, version, counters, lost, calls in modules:
        yield Module(source, version, counters, tuple(lost), tuple(calls))


def _sections(file: memoryview) -> Iterator[_Section]:
    header = _HEADER.unpack_from(file, 0)
    offset, size, count, names_at = header[6], header[11], header[12], header[13]
    rows = [_SECTION.unpack_from(file, offset + at * size) for at in range(count)]
    names = bytes(file[rows[names_at][4] : rows[names_at][4] + rows[names_at][5]])
    for row in rows:
        name = names[row[0] : names.index(b"\0", row[0])].decode("utf-8", "replace")
        length = 0 if row[1] == _NO_CONTENT else row[5]
        yield _Section(name, row[1], row[3], file[row[4] : row[4] + length], row[6])


def _functions(sections: list[_Section]) -> Iterator[_Function]:
    """Yield the functions in all symbol tables, without the versions in their names."""
    for table in sections:
        if table.kind not in (_SYMBOL_TABLE, _DYNAMIC_SYMBOLS):
            continue
        text = bytes(sections[table.link].data)
        size = min(len(table.data) // _SYMBOL.size, _SYMBOLS_MAX)
        rows = bytes(table.data[: size * _SYMBOL.size])
        for name_at, info, _, section, value, _ in _SYMBOL.iter_unpack(rows):
            if info & 0xF in _IS_FUNCTION or section == 0:
                name = text[name_at : text.index(b"\0", name_at)].partition(b"@")[0]
                yield _Function(name.decode("utf-8", "replace"), section, value)


def _imported_and_marked(sections: list[_Section]) -> tuple[frozenset[str], frozenset[str]]:
    imported, marked = set(), set()
    for one in _functions(sections):
        if one.section == 0:
            imported.add(one.name)
        elif one.section < len(sections):
            home = sections[one.section]
            for distance in _MARK_DISTANCES:
                start = one.address - home.address - distance
                if start >= 0 and bytes(home.data[start : start + len(MARK)]) == MARK:
                    marked.add(one.name)
    return frozenset(imported), frozenset(marked)


def _sources(symbols: memoryview, strings: memoryview) -> list[str]:
    """Return the sources of the objects in a symbol table, without our runtime, start-up code and
    the sanitizers.

    An object's local symbols stand behind the name of its source."""
    text = bytes(strings)
    found: dict[str, bool] = {}
    source = ""
    for at in range(0, min(len(symbols), _SYMBOLS_MAX * _SYMBOL.size), _SYMBOL.size):
        name_at, info, _, _, _, _ = _SYMBOL.unpack_from(symbols, at)
        name = text[name_at : text.index(b"\0", name_at)]
        if info & 0xF == _IS_FILE:
            source = name.decode("utf-8", "replace")
            found.setdefault(source, True)
        elif name.startswith(_RUNTIME) and source:
            found[source] = False
        if info >> 4 != 0:
            source = ""  # global ones stand behind all files
    return [
        name
        for name, kept in found.items()
        if kept and name and name not in _STARTUP and not _SANITIZERS.fullmatch(name)
    ]
