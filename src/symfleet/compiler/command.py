"""What a compiler command line asks for, and what must be added to it.

Pure: command line in, command line out. Response files are read through a function that the caller
gives, because their content decides too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Language = Literal["c", "c++"]
ReadText = Callable[[str], str]

RESPONSE_FILES_MAX = 64
"""Response files may name each other; this many are followed."""

# Options whose value is the next argument.
_WITH_VALUE = frozenset(
    (
        *("-o", "-x", "-I", "-L", "-l", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote"),
        *("-idirafter", "-iprefix", "-iwithprefix", "-isysroot", "--sysroot", "-arch", "-target"),
        *("-MF", "-MT", "-MQ", "-MJ", "-T", "-u", "-z", "-e", "-Xlinker", "-Xclang", "-mllvm"),
        *("-Xassembler", "-Xpreprocessor", "-rpath", "-b", "-B", "-soname", "-h", "--param"),
        *("-aux-info", "-dumpbase", "-wrapper", "-gcc-toolchain"),
    )
)
_COMPILE_ONLY = frozenset({"-c", "-S"})
_NO_CODE = frozenset({"-E", "-M", "-MM", "-fsyntax-only", "--analyze"})
# Sanitizers that want the part of the address space where the labels of memory are.
_OTHER_SHADOWS = ("thread", "memory", "dataflow", "hwaddress")
_QUESTIONS = ("-print-", "--print-", "-dump", "--help", "-help", "--version", "--target-help")
_SOURCES = (
    *(".c", ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".ii", ".m", ".mm", ".M"),
    *(".ll", ".bc", ".cppm"),
)
_HEADERS = (".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".tcc")
# What clang refuses to do without -flto, and what takes it back.
_ONLY_WITH_LTO = {
    "-fwhole-program-vtables": "-fno-whole-program-vtables",
    "-fvirtual-function-elimination": "-fno-virtual-function-elimination",
    "-fsplit-lto-unit": "-fno-split-lto-unit",
}


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A clang and what fits it."""

    clang: str
    major: int
    plugin: str
    runtime: str
    harness: str
    """Holds the main of programs that have LLVMFuzzerTestOneInput instead of one."""
    headers: str
    """Found before the C++ library's own."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one command line asks for."""

    reads_source: bool
    generates_code: bool
    links_program: bool
    links_shared: bool
    wants_lto: bool
    not_without_lto: tuple[str, ...]
    """Options that take back what clang refuses without it."""
    wants_fuzzer: bool
    forbids_undefined: bool
    has_debug_option: bool
    linker: str
    is_static: bool
    """Linked without shared objects: nobody could look the runtime up in the program."""
    narrow_target: str
    """An option that asks for a target other than 64-bit, or empty."""
    other_shadow: str
    """An option that asks for a sanitizer whose memory map leaves no room for ours, or empty."""


def expand(arguments: Sequence[str], read: ReadText) -> list[str]:
    """Return the arguments with response files replaced by what is in them.

    A file that cannot be read stays as it is: clang says what is wrong with it.
    """
    out: list[str] = []
    pending = list(reversed(arguments))
    opened = 0
    while pending:
        argument = pending.pop()
        if not argument.startswith("@") or len(argument) == 1 or opened == RESPONSE_FILES_MAX:
            out.append(argument)
            continue
        opened += 1
        try:
            text = read(argument[1:])
        except (OSError, ValueError):
            out.append(argument)
            continue
        pending.extend(reversed(split_words(text)))
    return out


def split_words(text: str) -> list[str]:
    """Split a response file as clang does: white space, quotes of both kinds, backslashes."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word = (word or "") + next(characters, "")
        elif quote:
            if character == quote:
                quote = ""
            else:
                word = (word or "") + character
        elif character in "'\"":
            quote = character
            word = word or ""
        elif character.isspace():
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + character
    if word is not None:
        words.append(word)
    return words


@dataclass(slots=True)
class _Seen:
    """What the arguments until now have said."""

    stages: set[str] = field(default_factory=set)
    linker_words: list[str] = field(default_factory=list)
    inputs: bool = False
    sources: bool = False
    linked: bool = False
    """Something that is not a header: of headers alone, clang makes precompiled ones."""
    question: bool = False
    shared: bool = False
    lto: bool = False
    undone: list[str] = field(default_factory=list)
    fuzzer: bool = False
    debug: bool = False
    language: str = ""
    static: bool = False
    linker: str = ""
    narrow: str = ""
    sanitizers: set[str] = field(default_factory=set)

    def option_with_value(self, option: str, value: str) -> None:
        if option == "-x":
            self.language = value
        elif option == "-Xlinker":
            self.linker_words.append(value)
        elif option == "-z":
            self.linker_words += ["-z", value]
        elif option == "-l":
            self.inputs = self.linked = True

    def input(self, name: str) -> None:
        self.inputs = True
        self.sources |= _is_source(name, self.language)
        self.linked |= not _is_header(name, self.language)

    def option(self, option: str) -> None:
        if option in _COMPILE_ONLY or option in _NO_CODE:
            self.stages.add(option)
        elif option in ("-r", "--relocatable"):
            self.stages.add("-r")
        elif option.startswith("-Wl,"):
            self.linker_words += option[4:].split(",")
        elif option in ("-m32", "-mx32", "-m16"):
            self.narrow = option
        elif option.startswith("-fuse-ld="):
            self.linker = option.partition("=")[2]
        elif option.startswith("-x"):
            self.language = option[2:]
        self._sanitizer(option)
        self.static |= option in ("-static", "--static", "-static-pie")
        self.question |= option.startswith(_QUESTIONS)
        if option.startswith("-l"):
            self.inputs = self.linked = True
        self.shared |= option in ("-shared", "--shared")
        self.lto |= option.startswith("-flto")
        if option in _ONLY_WITH_LTO:
            self.undone.append(_ONLY_WITH_LTO[option])
        self.debug |= option.startswith("-g")
        self.fuzzer |= option.startswith("-fsanitize=") and "fuzzer" in option

    def not_without_lto(self) -> tuple[str, ...]:
        """Return what takes back options that need -flto, if it was asked for."""
        cfi = any(name.partition("-")[0] == "cfi" for name in self.sanitizers)
        return (*self.undone, *(["-fno-sanitize=cfi"] if cfi else [])) if self.lto else ()

    def _sanitizer(self, option: str) -> None:
        name, _, values = option.partition("=")
        if name == "-fsanitize":
            self.sanitizers |= set(values.split(","))
        elif name == "-fno-sanitize":
            self.sanitizers -= set(values.split(",")) if values != "all" else self.sanitizers


def understand(arguments: Sequence[str]) -> Request:
    """Classify a command line whose response files are expanded."""
    seen = _Seen()
    words = iter(arguments)
    for word in words:
        if word in _WITH_VALUE:
            seen.option_with_value(word, next(words, ""))
        elif word == "-" or not word.startswith("-"):
            seen.input(word)
        else:
            seen.option(word)
    no_code = bool(seen.stages & _NO_CODE) or seen.question or not seen.inputs
    links = not no_code and not seen.stages and seen.linked
    relocatable = "-r" in seen.linker_words
    return Request(
        reads_source=seen.sources and not seen.question,
        generates_code=seen.sources and not no_code,
        links_program=links and not seen.shared and not relocatable,
        links_shared=links and seen.shared,
        wants_lto=seen.lto,
        not_without_lto=seen.not_without_lto(),
        wants_fuzzer=seen.fuzzer,
        forbids_undefined="--no-undefined" in seen.linker_words or "defs" in seen.linker_words,
        has_debug_option=seen.debug,
        linker=seen.linker,
        is_static=seen.static,
        narrow_target=seen.narrow,
        other_shadow=next((f"-fsanitize={n}" for n in _OTHER_SHADOWS if n in seen.sanitizers), ""),
    )


def _is_source(name: str, language: str) -> bool:
    if language and language != "none":
        return not language.startswith("assembler")
    return name == "-" or name.endswith((*_SOURCES, *_HEADERS))


def _is_header(name: str, language: str) -> bool:
    if language and language != "none":
        return language.endswith("-header")
    return name.endswith(_HEADERS)


def additions(request: Request, toolchain: Toolchain) -> list[str]:
    """Return what goes behind the user's arguments.

    Behind, because the last -f option wins: vectors made after the user's -O would lose labels.
    """
    added: list[str] = []
    if request.reads_source:
        added += ["-D__SYMFLEET__=1", "-isystem", toolchain.headers]
    if request.generates_code:
        added += [
            f"-fpass-plugin={toolchain.plugin}",
            "-fno-vectorize",
            "-fno-slp-vectorize",
        ]
        if not request.has_debug_option:
            # Names the places of what is not modelled. A build without an option for debugging
            # information may be read by older tools: valgrind 3.19 gives up on version 5.
            added += ["-gdwarf-4", "-gline-tables-only"]
    if request.wants_lto:
        added += ["-fno-lto", *request.not_without_lto]
    if request.wants_fuzzer:  # its engine and counters; the harness's main is ours
        added.append("-fno-sanitize=fuzzer,fuzzer-no-link")
    if request.links_program:
        runtime = ("--whole-archive", toolchain.runtime, "--no-whole-archive")
        for word in (*runtime, toolchain.harness):
            added += ["-Xlinker", word]
        # Shared objects of the program find the one runtime in the executable. A static one has
        # none, and what starts it could not relocate thread-local data that is exported.
        export = (
            "--export-dynamic" if request.linker == "gold" else "--export-dynamic-symbol=__sf_*"
        )
        added += [] if request.is_static else ["-Xlinker", export]
    if request.links_shared and request.forbids_undefined:
        added += ["-Xlinker", "-z", "-Xlinker", "undefs"]
    if not added:
        return []
    return ["--start-no-unused-arguments", *added, "--end-no-unused-arguments"]
