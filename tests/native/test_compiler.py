"""`symfleet cc` stands in for clang wherever a build calls it."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from wrapper import symfleet_cc

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'


@pytest.fixture
def folder(tmp_path: pathlib.Path, native: pathlib.Path) -> pathlib.Path:
    (tmp_path / "hello.c").write_text(HELLO)
    return tmp_path


def build(*words: str | pathlib.Path, language: str = "c") -> str:
    done = symfleet_cc([str(word) for word in words], language)
    assert done.returncode == 0, done.stderr
    return done.stderr


def run(program: pathlib.Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=30).stdout


@pytest.mark.parametrize(
    "options",
    [[], ["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-static-pie", "-fPIE"], ["-flto"]],
)
def test_programs_of_every_link_mode_run(folder: pathlib.Path, options: list[str]) -> None:
    noise = build(*options, folder / "hello.c", "-o", folder / "a")
    assert run(folder / "a") == "hello\n"
    assert ("-flto is ignored" in noise) == (options == ["-flto"])


def test_what_needs_lto_goes_with_it(folder: pathlib.Path) -> None:
    (folder / "virtual.cpp").write_text(
        "struct Shape { virtual int sides() { return 4; } };\n"
        "int main() { Shape shape, *some = &shape; return some->sides() - 4; }\n"
    )
    needs = ["-fsanitize=cfi", "-fwhole-program-vtables", "-fvirtual-function-elimination"]
    words = ["-flto", "-fvisibility=hidden", *needs, "-fsplit-lto-unit"]
    noise = build(*words, folder / "virtual.cpp", "-o", folder / "a", language="c++")
    assert "-flto is ignored" in noise
    run(folder / "a")


@pytest.mark.parametrize("words", [["-x", "c-header"], [], ["-c"]], ids=" ".join)
def test_headers_are_precompiled(folder: pathlib.Path, words: list[str]) -> None:
    header, made = folder / "few.h", folder / "few.h.pch"
    header.write_text("#include <stdio.h>\n#define WORD 7\n")
    (folder / "main.c").write_text('int main(void) { return printf("%d\\n", WORD) != 2; }\n')
    build(*words, header, "-o", made)
    build("-include-pch", made, folder / "main.c", "-o", folder / "a")
    assert run(folder / "a") == "7\n"
    made.unlink()
    build(*words, header, *(("-o", made) if "-c" in words else ()))
    build("-include", header, folder / "main.c", "-o", folder / "b")
    assert run(folder / "b") == "7\n"


def test_separate_steps_and_several_sources_link(folder: pathlib.Path) -> None:
    (folder / "other.c").write_text("int other(void) { return 7; }\n")
    (folder / "word.s").write_text(
        '.globl word\n.data\nword: .long 5\n.section .note.GNU-stack,"",@progbits\n'
    )
    (folder / "main.c").write_text(
        "int other(void); extern int word;\nint main(void) { return other() + word - 12; }\n"
    )
    build("-O2", "-c", folder / "other.c", "-o", folder / "other.o")
    build("-S", folder / "main.c", "-o", folder / "main.s")
    build(folder / "main.s", folder / "other.o", folder / "word.s", "-o", folder / "a")
    run(folder / "a")
    build(folder / "main.c", folder / "other.c", folder / "word.s", "-o", folder / "b")
    run(folder / "b")


def test_a_response_file_and_a_language_option_are_understood(folder: pathlib.Path) -> None:
    (folder / "source").write_text(HELLO)
    (folder / "words").write_text(f'-x c "{folder / "source"}"\n-o {folder / "a"} -O1\n')
    build(f"@{folder / 'words'}")
    assert run(folder / "a") == "hello\n"
    assert b"__sf_init_module" in (folder / "a").read_bytes()


def test_a_shared_object_shares_the_runtime_of_the_program(folder: pathlib.Path) -> None:
    (folder / "lib.c").write_text("int twice(int x) { return x == 21 ? 42 : x * 2; }\n")
    (folder / "main.c").write_text("int twice(int);\nint main(void) { return twice(21) != 42; }\n")
    library = folder / "libtwice.so"
    build("-shared", "-fPIC", "-Wl,-z,defs", folder / "lib.c", "-o", library)
    build(folder / "main.c", library, f"-Wl,-rpath,{folder}", "-o", folder / "a")
    run(folder / "a")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf here")
def test_lines_that_nobody_asked_for_are_told_in_a_form_that_older_tools_read(
    folder: pathlib.Path, llvm_versions: list[int]
) -> None:
    for llvm in llvm_versions:
        words = ["-c", str(folder / "hello.c"), "-o", str(folder / "hello.o")]
        assert symfleet_cc(words, SYMFLEET_CLANG=f"clang-{llvm}").returncode == 0
        words = ["readelf", "--debug-dump=info", str(folder / "hello.o")]
        told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout
        assert re.findall(r"Version: +(\d)", told) == ["4"]
        assert "DW_TAG_base_type" not in told, "lines only"


def test_the_code_generator_finds_counters_as_it_would_make_them(
    folder: pathlib.Path, llvm_versions: list[int]
) -> None:
    """It starts again at the function's head after each one that it rewrites: main() of a test
    suite, with thousands of them, took half a minute."""
    (folder / "ways.c").write_text(
        "int main(int count, char **all) { return count == 3 && **all; }"
    )
    for llvm in llvm_versions:
        words = ["-O2", "-S", "-emit-llvm", str(folder / "ways.c"), "-o", str(folder / "ways.ll")]
        assert symfleet_cc(words, SYMFLEET_CLANG=f"clang-{llvm}").returncode == 0
        counts = (folder / "ways.ll").read_text().count("@llvm.uadd.with.overflow.i8(i8 %")
        assert counts >= 2
        assert "icmp eq i8" not in (folder / "ways.ll").read_text()


@pytest.mark.parametrize("option", ["-E", "-M", "-fsyntax-only", "--version", "-dumpversion"])
def test_steps_without_code_behave_as_clang(folder: pathlib.Path, option: str) -> None:
    done = symfleet_cc([option, str(folder / "hello.c")])
    assert (done.returncode, done.stderr) == (0, "")


def test_messages_and_exit_codes_are_those_of_clang(folder: pathlib.Path) -> None:
    (folder / "bad.c").write_text("int main(void) { return x; }\n")
    done = symfleet_cc(["-Werror", "-Wall", str(folder / "bad.c"), "-o", str(folder / "a")])
    assert done.returncode == 1
    assert "use of undeclared identifier 'x'" in done.stderr
    clean = symfleet_cc(
        ["-Werror", "-Wall", "-Wextra", "-c", str(folder / "hello.c"), "-o", "/dev/null"]
    )
    assert (clean.returncode, clean.stderr) == (0, "")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("#pragma clang __debug crash\n", "PLEASE submit a bug report"),
        ("#pragma clang __debug llvm_fatal_error\n", "error in backend"),
        ('#include "no-such-header.h"\n', "file not found"),
        ("int f(int x) { return x +; }\n", "expected expression"),
    ],
)
def test_a_compiler_that_fails_leaves_no_object(
    folder: pathlib.Path, source: str, told: str
) -> None:
    (folder / "bad.c").write_text(source)
    done = symfleet_cc(["-O2", "-c", str(folder / "bad.c"), "-o", str(folder / "bad.o")])
    assert done.returncode == 1
    assert told in done.stderr
    assert not (folder / "bad.o").exists()


def test_sanitizers_of_addresses_and_behaviour_go_together(folder: pathlib.Path) -> None:
    build("-fsanitize=address,undefined", folder / "hello.c", "-o", folder / "a")
    assert run(folder / "a") == "hello\n"


def test_assembler_and_cxx_are_compiled_in_one_call(folder: pathlib.Path) -> None:
    (folder / "word.S").write_text(
        "#define VALUE 5\n.globl word\n.data\nword: .long VALUE\n"
        '.section .note.GNU-stack,"",@progbits\n'
    )
    (folder / "main.cpp").write_text(
        "#include <cstdio>\n#include <stdexcept>\n#include <vector>\n"
        'extern "C" int word;\n'
        "int main() { std::vector<int> v{1, 2};\n"
        '  try { v.at(word); } catch (std::out_of_range &) { std::puts("hello"); } }\n'
    )
    build(folder / "main.cpp", folder / "word.S", "-o", folder / "a", language="c++")
    assert run(folder / "a") == "hello\n"


def test_intermediate_forms_are_instrumented_once(folder: pathlib.Path) -> None:
    for number, options in enumerate((["-S", "-emit-llvm"], ["-c", "-emit-llvm"], ["-S"])):
        form = folder / f"form{number}{('.ll', '.bc', '.s')[number]}"
        build("-O1", *options, folder / "hello.c", "-o", form)
        build(form, "-o", folder / "a")
        assert run(folder / "a") == "hello\n"


@pytest.mark.skipif(shutil.which("ccache") is None, reason="no ccache here")
def test_ccache_may_stand_in_front(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    compiler = folder / "symfleet-cc"
    program = (
        'import sys; from symfleet.compiler.main import main; sys.exit(main(sys.argv[1:], "c"))'
    )
    command = shlex.join([sys.executable, "-c", program])
    compiler.write_text(f'#!/bin/sh\nexec {command} "$@"\n')  # no place with a space behind "#!"
    compiler.chmod(0o755)
    settings = {**os.environ, "CCACHE_DIR": str(tmp_path / "cache")}
    for name in ("first.o", "second.o"):
        words = ["ccache", str(compiler), "-O2", "-c", str(folder / "hello.c"), "-o"]
        subprocess.run([*words, str(folder / name)], env=settings, check=True, timeout=60)
        assert b"__sf_" in (folder / name).read_bytes()


@pytest.mark.parametrize("llvm", [14, 16, 19])
def test_each_pass_builds_c_and_cxx(
    folder: pathlib.Path, llvm: int, llvm_versions: list[int]
) -> None:
    if llvm not in llvm_versions:
        pytest.skip(f"no pass or clang of LLVM {llvm} here")
    source = folder / "a.cpp"
    source.write_text(
        '#include <string>\n#include <cstdio>\nint main() { puts(std::string("hello").c_str()); }\n'
    )
    for optimisation in ("-O0", "-O3"):
        words = [optimisation, str(source), "-o", str(folder / "a")]
        done = symfleet_cc(words, "c++", SYMFLEET_CLANG=f"clang-{llvm}")
        assert done.returncode == 0, done.stderr
        assert run(folder / "a") == "hello\n"


HARNESS = r"""
#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  printf("%zu\n", size);
  return size > 2 && data[0] == 'a' ? 0 : -1;
}
"""


@pytest.mark.parametrize("contents", [b"", b"abc"])
def test_a_harness_that_rejects_an_input_has_not_failed(
    folder: pathlib.Path, contents: bytes
) -> None:
    (folder / "harness.c").write_text(HARNESS)
    (folder / "input").write_bytes(contents)
    build("-fsanitize=fuzzer", folder / "harness.c", "-o", folder / "a")
    done = subprocess.run(
        [folder / "a", folder / "input"], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout) == (0, f"{len(contents)}\n")


ASSEMBLY = r"""
#include <stdio.h>
#include <sys/syscall.h>
static long ask(long number, void *at, unsigned long size) {
  long answer;
  __asm__ volatile("syscall" : "=a"(answer)
                   : "a"(number), "D"(0), "S"(at), "d"(size) : "rcx", "r11", "memory");
  return answer;
}
static unsigned long widened(unsigned value, unsigned *into) {
  unsigned long out;
  __asm__("xorl %%eax, %%eax; cpuid; movl %2, %1; movq %%rbx, %0"
          : "=r"(out), "=m"(*into) : "r"(value) : "rax", "rbx", "rcx", "rdx");
  return out != 0 ? *into : 0;
}
static int jumps(int value) {
  __asm__ goto("testl %0, %0; jnz %l1" : : "r"(value) : "cc" : other);
  return 1;
other:
  return 2;
}
int main(void) {
  unsigned char bytes[8] = {0};
  unsigned into = 0;
  long got = ask(SYS_read, bytes, sizeof bytes);
  unsigned long wide = widened(bytes[0], &into);
  printf("%ld %lu %u %d\n", got, wide, into, jumps(bytes[0] - bytes[1]));
  return 0;
}
"""


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_assembly_that_is_not_followed_does_what_it_says(
    folder: pathlib.Path, llvm_versions: list[int], optimisation: str
) -> None:
    source = folder / "assembly.c"
    source.write_text(ASSEMBLY)
    for llvm in llvm_versions:
        words = [optimisation, str(source), "-o", str(folder / "a")]
        done = symfleet_cc(words, "c", SYMFLEET_CLANG=f"clang-{llvm}")
        assert done.returncode == 0, done.stderr
        told = subprocess.run(
            [folder / "a"], input=b"ab", capture_output=True, check=True, timeout=30
        )
        assert told.stdout == b"2 97 97 2\n"


@pytest.mark.parametrize(
    ("variables", "words", "told"),
    [
        ({"SYMFLEET_CLANG": "no-such-clang"}, [], "no-such-clang"),
        ({"SYMFLEET_NATIVE_DIR": "/nonexistent"}, [], "/nonexistent/lib"),
        ({"PATH": "/nonexistent"}, [], "PATH"),
        ({}, ["-m32"], "-m32"),
        ({}, ["-fsanitize=undefined,thread"], "-fsanitize=thread"),
        ({}, ["-fsanitize=memory"], "-fsanitize=memory"),
    ],
)
def test_what_is_missing_is_told_in_four_parts(
    folder: pathlib.Path, variables: dict[str, str], words: list[str], told: str
) -> None:
    if "PATH" in variables and any(pathlib.Path("/usr/lib").glob("llvm-*/bin/clang")):
        pytest.skip("clang is found without PATH on this machine")
    done = symfleet_cc([*words, str(folder / "hello.c"), "-o", str(folder / "a")], **variables)
    assert done.returncode == os.EX_UNAVAILABLE
    assert told in done.stderr
    for part in ("symfleet: ", "where: ", "why: ", "what to do: "):
        assert part in done.stderr
