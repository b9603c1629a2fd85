"""Become clang.

This module is the border of the compiler wrapper: it alone reads the process's environment and
writes to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from symfleet.compiler.command import Language, Request, additions, expand, understand
from symfleet.compiler.toolchain import ToolchainMissing, find_toolchain

EX_UNAVAILABLE = 69


def main(argv: list[str], language: Language) -> int:
    """Run clang on `argv` (without the program's name) for a language.

    Replaces this process when all is well, so that clang's messages and exit code are its own.
    Returns 69 with a message when no clang, pass or runtime is usable.
    """
    request = understand(expand(argv, _read))
    try:
        command = build_command(argv, request, language, os.environ)
        os.execv(command[0], command)  # noqa: S606  (no shell is wanted)
    except ToolchainMissing as missing:
        what, where, why, hint = missing.parts
        text = f"symfleet: {what}\n  where: {where}\n  why: {why}\n  what to do: {hint}\n"
        sys.stderr.write(text)
    except OSError as error:
        text = f"  where: {error.filename or 'clang'}\n  why: {error.strerror}\n"
        hint = "  what to do: check that clang runs on this machine\n"
        sys.stderr.write("symfleet: the compiler could not be started\n" + text + hint)
    return EX_UNAVAILABLE


def build_command(
    argv: list[str], request: Request, language: Language, environment: Mapping[str, str]
) -> list[str]:
    """Return the whole command: clang, the user's arguments, ours.

    Raises ToolchainMissing.
    """
    if request.narrow_target:
        raise ToolchainMissing(
            "symfleet compiles for 64-bit x86 only",
            request.narrow_target,
            "labels of memory need the 64-bit address space",
            "compile this program without that option",
        )
    if request.other_shadow and (request.generates_code or request.links_program):
        raise ToolchainMissing(
            "symfleet does not go together with this sanitizer",
            request.other_shadow,
            "both want the same part of the address space",
            "compile without it, or with -fsanitize=address,undefined, which do",
        )
    toolchain = find_toolchain(environment, _ask_version)
    if request.wants_lto and (request.generates_code or request.links_program):
        sys.stderr.write("symfleet: note: -flto is ignored: the pass runs once for each file\n")
    driver = ["--driver-mode=g++"] if language == "c++" else []
    return [toolchain.clang, *driver, *argv, *additions(request, toolchain)]


def _read(name: str) -> str:
    with open(name, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _ask_version(clang: str) -> str:
    import subprocess  # rarely needed, and slow to import

    answer = subprocess.run(
        [clang, "-dumpversion"], capture_output=True, text=True, timeout=20, check=False
    )
    return answer.stdout.strip()
