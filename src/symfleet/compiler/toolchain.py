"""Find clang, the pass built for its LLVM, and the runtime.

With os.path: pathlib would double the time that this program takes to start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from symfleet.compiler.command import Toolchain

CLANG_VARIABLE = "SYMFLEET_CLANG"
NATIVE_VARIABLE = "SYMFLEET_NATIVE_DIR"

_VERSION_IN_PATH = re.compile(r"(?:clang|llvm)-?(\d+)")


class ToolchainMissing(Exception):
    """No usable clang: what, where, why, what to do."""

    def __init__(self, what: str, where: str, why: str, hint: str) -> None:
        super().__init__(what)
        self.parts = (what, where, why, hint)


def native_folder(environment: Mapping[str, str]) -> str:
    """Return the folder that holds lib/ and bin/ of the native half."""
    given = environment.get(NATIVE_VARIABLE)
    if given:
        return given
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "native")


def find_toolchain(environment: Mapping[str, str], ask_version: Callable[[str], str]) -> Toolchain:
    """Return the newest clang that a pass was built for, or the one that SYMFLEET_CLANG names.

    `ask_version` runs a compiler with -dumpversion; it is called only when the path does not tell.
    Raises ToolchainMissing.
    """
    library = os.path.join(native_folder(environment), "lib")
    passes = _passes(library)
    runtime = os.path.join(library, "libsymfleet-rt.a")
    if not passes or not os.path.isfile(runtime):
        raise ToolchainMissing(
            "symfleet's compiler pass is not installed",
            library,
            "the folder holds no symfleet-pass-N.so together with libsymfleet-rt.a",
            f"build symfleet again on a machine with llvm-N-dev, or set {NATIVE_VARIABLE}",
        )
    harness = os.path.join(library, "libsymfleet-harness.a")
    headers = os.path.join(native_folder(environment), "include", "c++")
    path = environment.get("PATH", os.defpath)
    chosen = environment.get(CLANG_VARIABLE)
    if chosen:
        given, of_given = _chosen(chosen, path, passes, ask_version)
        return Toolchain(given, of_given, passes[of_given], runtime, harness, headers)
    for major in sorted(passes, reverse=True):
        clang = _which(f"clang-{major}", path) or _which(f"/usr/lib/llvm-{major}/bin/clang", path)
        if clang:
            return Toolchain(clang, major, passes[major], runtime, harness, headers)
    plain = _which("clang", path)
    if plain and (major := _major(plain, ask_version)) in passes:
        return Toolchain(plain, major, passes[major], runtime, harness, headers)
    built_for = ", ".join(str(major) for major in sorted(passes))
    raise ToolchainMissing(
        "no clang fits symfleet's compiler pass",
        "clang-N and clang on PATH",
        f"the pass was built for LLVM {built_for}, and a pass works with its own version only",
        f"install clang-{max(passes)} (apt-get install clang-{max(passes)}), or name one with "
        f"{CLANG_VARIABLE}",
    )


def _chosen(
    name: str, path: str, passes: Mapping[int, str], ask: Callable[[str], str]
) -> tuple[str, int]:
    clang = _which(name, path)
    if clang is None:
        raise ToolchainMissing(
            "the compiler that was asked for does not exist",
            f"{CLANG_VARIABLE}={name}",
            "it is neither an executable file nor found on PATH",
            f"correct {CLANG_VARIABLE}, or unset it",
        )
    major = _major(clang, ask)
    if major not in passes:
        built_for = ", ".join(str(each) for each in sorted(passes))
        raise ToolchainMissing(
            "the compiler that was asked for does not fit symfleet's compiler pass",
            f"{CLANG_VARIABLE}={name} (version {major or 'unknown'})",
            f"the pass was built for LLVM {built_for}",
            "name a clang of one of these versions, or build symfleet with "
            f"llvm-{major or 'N'}-dev",
        )
    return clang, major


def _passes(library: str) -> dict[int, str]:
    try:
        names = os.listdir(library)
    except OSError:
        return {}
    found: dict[int, str] = {}
    for name in names:
        match = re.fullmatch(r"symfleet-pass-(\d+)\.so", name)
        if match:
            found[int(match[1])] = os.path.join(library, name)
    return found


def _which(name: str, path: str) -> str | None:
    folders = [""] if os.sep in name else path.split(os.pathsep)
    for folder in folders:
        full = os.path.join(folder, name)
        if os.path.isfile(full) and os.access(full, os.X_OK):
            return full
    return None


def _major(clang: str, ask: Callable[[str], str]) -> int:
    for text in (os.path.basename(clang), os.path.realpath(clang)):
        match = _VERSION_IN_PATH.search(text)
        if match:
            return int(match[1])
    answer = ask(clang).partition(".")[0]
    return int(answer) if answer.isdigit() else 0
