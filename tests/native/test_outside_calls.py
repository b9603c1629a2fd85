"""Calls that leave what is instrumented: which are named, and which a run is told to have made."""

from __future__ import annotations

import os
import pathlib
import struct
import subprocess

import pytest
from wrapper import symfleet_cc

from symfleet.config.environment import executor_path
from symfleet.doctor.mixture import check_objects
from symfleet.doctor.objects import read_objects
from symfleet.doctor.outside import outside_functions
from symfleet.doctor.trial import try_target

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
unsigned digest(const void *, unsigned long);
unsigned twice(unsigned);
unsigned inside(const char *, unsigned);
unsigned within(const char *, unsigned);
void keep(const char *);
void forget(int);
int main(int argc, char **argv) {
  char bytes[64], zeros[16] = {0};
  FILE *file = fopen(argv[1], "rb");
  size_t size = fread(bytes, 1, sizeof bytes, file);
  if (inside(bytes, bytes[0]) == 7 || within(bytes, bytes[1]) == 7)
    puts("seven");
  if (digest(bytes, 16) == 12345)
    return 1;
  if (digest(zeros, 16) == 12345)
    return 2;
  unsigned t = twice(bytes[3]);
  keep(bytes + 60);
  forget(bytes[4]);
  printf("%u %s\\n", t, bytes);
  if (t == 14)
    exit(bytes[5]);
  fclose(file);
  return 0;
}
"""
INSIDE = "unsigned inside(const char *p, unsigned x) { return p[1] + x; }"
WITHIN = "unsigned within(const char *p, unsigned x) { return p[2] + x; }"
OUTSIDE = """
unsigned digest(const void *p, unsigned long n) {
  unsigned h = 5;
  for (unsigned long i = 0; i < n; ++i)
    h = h * 33 + ((const unsigned char *)p)[i];
  return h;
}
unsigned twice(unsigned x) { return 2 * x; }
const char *kept;
void keep(const char *p) { kept = p; }
int forgotten;
void forget(int x) { forgotten = x; }
"""
BUILDS = (("-O0",), ("-O2",), ("-O1", "-fsanitize=undefined"))
SEED = b"symfleet" * 8


def build(folder: pathlib.Path, options: tuple[str, ...], clang: str) -> pathlib.Path:
    """A program of an object and a library that are instrumented, and one object that is not."""
    for name, text in (("main", MAIN), ("in", INSIDE), ("within", WITHIN), ("out", OUTSIDE)):
        (folder / f"{name}.c").write_text(text)
    plain = [clang, "-w", *options, "-c", str(folder / "out.c"), "-o", str(folder / "out.o")]
    subprocess.run(plain, check=True)
    library = ["-w", *options, "-shared", "-fPIC", str(folder / "within.c")]
    program = ["-w", *options, "-g", *(str(folder / name) for name in ("main.c", "in.c", "out.o"))]
    program += [f"-L{folder}", "-lwithin", f"-Wl,-rpath,{folder}"]
    for words in (
        [*library, "-o", str(folder / "libwithin.so")],
        [*program, "-o", str(folder / "program")],
    ):
        done = symfleet_cc(words)
        assert done.returncode == 0, done.stderr
    return folder / "program"


@pytest.fixture(params=BUILDS, ids="".join)
def program(
    request: pytest.FixtureRequest, llvm_versions: list[int], tmp_path: pathlib.Path
) -> pathlib.Path:
    return build(tmp_path, request.param, f"clang-{llvm_versions[0]}")


def test_functions_without_labels_are_named_and_others_not(program: pathlib.Path) -> None:
    objects = read_objects(program)
    assert objects is not None
    library = read_objects(program.parent / "libwithin.so")
    assert library is not None
    found = outside_functions([objects, library])
    assert [(one.name, one.way) for one in found] == [
        ("digest", "decides"),
        ("twice", "decides"),
        ("keep", "memory"),
        ("forget", "state"),
    ]
    assert [len(one.places) for one in found] == [2, 1, 1, 1]
    assert all("main.c:" in place for one in found for place in one.places)


def test_shared_libraries_of_the_user_are_classed(program: pathlib.Path) -> None:
    checks = {check.name: check for check in check_objects(program)}
    assert [pathlib.Path(name).name for name in checks["libraries"].listed] == ["libwithin.so"]
    assert "other libraries" not in checks
    plain = ["-w", "-shared", "-fPIC", str(program.parent / "within.c")]
    subprocess.run(["cc", *plain, "-o", str(program.parent / "libwithin.so")], check=True)
    checks = {check.name: check for check in check_objects(program)}
    assert "libraries" not in checks
    (other,) = checks["other libraries"].listed
    assert pathlib.Path(other).name == "libwithin.so"
    assert "within" in checks["outside calls"].detail


def test_what_a_library_loses_is_told_with_the_program(program: pathlib.Path) -> None:
    folder = program.parent
    (folder / "within.c").write_text(
        "unsigned digest(const void *, unsigned long);\n"
        "unsigned within(const char *p, unsigned x) {\n"
        '  unsigned y; asm("crc32b %b1, %0" : "=r"(y) : "q"(*p), "0"(x));\n'
        "  return y == 7 ? digest(p, 16) : y; }\n"
    )
    words = ["-w", "-g", "-shared", "-fPIC", str(folder / "within.c")]
    done = symfleet_cc([*words, "-o", str(folder / "libwithin.so")])
    assert done.returncode == 0, done.stderr
    checks = {check.name: check for check in check_objects(program)}
    assert "within.c:3" in checks["concrete"].detail
    assert "within.c:4" in checks["outside calls"].detail


def test_a_stripped_program_is_said_to_be_one(program: pathlib.Path) -> None:
    def others() -> list[str]:
        return [each.detail for each in check_objects(program) if each.name == "other objects"]

    assert others() == ["not instrumented: out.c"]
    subprocess.run(["strip", program], check=True)
    assert others() == ["not known: the program's symbols have been stripped"]


def test_of_a_stripped_program_nothing_is_said_that_may_be_wrong(program: pathlib.Path) -> None:
    subprocess.run(["strip", program], check=True)
    assert not [check for check in check_objects(program) if check.name == "outside calls"]


def test_a_run_tells_what_it_handed_over(program: pathlib.Path) -> None:
    seed = program.parent / "seed"
    seed.write_bytes(SEED)
    checks = list(try_target(executor_path(), (os.fspath(program), "@@"), seed=seed))
    (handed,) = [check for check in checks if check.name == "handed over"]
    told = [word for word in ("digest", "twice", "keep", "forget") if word in handed.detail]
    assert told == ["digest", "twice", "keep", "forget"]
    assert handed.detail.count("digest") == 1, "the second call gets zeros"
    assert "inside" not in handed.detail
    assert "within" not in handed.detail


LOSSES = {
    "double d; char o[400]; take(&d, 8); snprintf(o, sizeof o, \"%.2f\", d); return o[0] == '3';": (
        struct.pack("<d", 2.0),
        "digits of a printed floating-point number",
    ),
    'double d; char o[400]; take(&d, 8); snprintf(o, sizeof o, "%.2Lf", (long double)d);'
    " return o[0] == '3';": (
        struct.pack("<d", 2.0),
        "digits of a printed floating-point number",
    ),
    "time_t t; struct tm d; take(&t, 8); gmtime_r(&t, &d); return d.tm_mon == 3;": (
        struct.pack("<q", -1),
        "a time before 1970 or after 2099",
    ),
    'time_t t; take(&t, 8); setenv("TZ", "EST5", 1); return localtime(&t)->tm_mon == 3;': (
        struct.pack("<q", 1_000_000),
        "local time that is not universal time",
    ),
    "struct tm d = {.tm_mday = 1}; take(&d.tm_mon, 4); timegm(&d); return d.tm_mon == 3;": (
        struct.pack("<i", 14),
        "a date whose month or year is out of order",
    ),
    "char s[8] = {0}; struct in6_addr a; take(s, 3);"
    " return inet_pton(AF_INET6, s, &a) && a.s6_addr[0] == 3;": (
        b"::1",
        "an internet address of version 6",
    ),
    "char s[16] = {0}; struct in_addr a; take(s, 8); return inet_aton(s, &a) && a.s_addr == 3;": (
        b"0x7f.0.1",
        "an internet address that is not four decimal numbers",
    ),
    "char s[16] = {0}; take(s, 8); return inet_addr(s) == 3;": (
        b"0x7f.0.1",
        "an internet address that is not four decimal numbers",
    ),
}


def trial_of(body: str, seed: bytes, folder: pathlib.Path) -> str:
    """What the doctor says of a run of main() with this body."""
    headers = ("arpa/inet.h", "stdio.h", "stdlib.h", "time.h")
    source = "".join(f"#include <{name}>\n" for name in headers)
    source += "static void take(void *p, size_t n) { if (fread(p, 1, n, stdin) != n) exit(1); }\n"
    (folder / "a.c").write_text(f"{source}int main(void) {{ {body} }}")
    assert symfleet_cc(["-w", str(folder / "a.c"), "-o", str(folder / "a")]).returncode == 0
    (folder / "seed").write_bytes(seed)
    checks = try_target(executor_path(), (os.fspath(folder / "a"),), seed=folder / "seed")
    (trial,) = [check for check in checks if check.name == "trial"]
    return trial.detail


@pytest.mark.parametrize("body", LOSSES)
def test_a_run_tells_what_a_model_does_not_follow(
    body: str, llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    seed, told = LOSSES[body]
    assert f"made concrete: {told} (1 times)" in trial_of(body, seed, tmp_path)


OVERWRITES = (
    'char a[16]; take(a, 16); inet_pton(AF_INET6, "::1", a); if (a[0] == 3) abort();',
    "struct tm d = {.tm_mday = 7}; take(&d.tm_wday, 4); timegm(&d); if (d.tm_wday == 3) abort();",
)


@pytest.mark.parametrize("body", OVERWRITES)
def test_what_a_model_writes_has_no_label_of_what_was_there(
    body: str, llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    told = trial_of(body, bytes(16), tmp_path)
    assert ", 1 branch events, " in told, "of the end of the input alone"


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_at_a_fixed_address_tells_its_libraries_apart(
    binding: str, llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    """The address of a library's function is that of a stub in the program there."""
    build(tmp_path, ("-O1",), f"clang-{llvm_versions[0]}")
    library = ["-w", "-shared", "-fPIC", str(tmp_path / "out.c"), "-o", str(tmp_path / "libout.so")]
    subprocess.run([f"clang-{llvm_versions[0]}", *library], check=True)
    program = tmp_path / "fixed"
    sources = [str(tmp_path / "main.c"), str(tmp_path / "in.c")]
    linked = [f"-L{tmp_path}", "-lwithin", "-lout", f"-Wl,-rpath,{tmp_path},-z,{binding}"]
    done = symfleet_cc(
        ["-w", "-O1", "-g", "-fno-pie", "-no-pie", *sources, *linked, "-o", str(program)]
    )
    assert done.returncode == 0, done.stderr
    seed = tmp_path / "seed"
    seed.write_bytes(SEED)
    checks = list(try_target(executor_path(), (os.fspath(program), "@@"), seed=seed))
    (handed,) = [check for check in checks if check.name == "handed over"]
    assert "within" not in handed.detail
    told = [word for word in ("digest", "twice", "keep", "forget") if word in handed.detail]
    assert told == ["digest", "twice", "keep", "forget"]


def test_names_of_cxx_are_shown_as_the_source_has_them(
    llvm_versions: list[int], tmp_path: pathlib.Path
) -> None:
    (tmp_path / "out.cpp").write_text(
        "namespace text { int twice(int x) { return 2 * x; } }\n",
    )
    (tmp_path / "main.cpp").write_text(
        "#include <cstdio>\nnamespace text { int twice(int); }\n"
        "int main() { return text::twice(std::getchar()) == 14; }\n"
    )
    program = tmp_path / "program"
    plain = [f"clang++-{llvm_versions[0]}", "-c", str(tmp_path / "out.cpp")]
    subprocess.run([*plain, "-o", str(tmp_path / "out.o")], check=True)
    sources = [str(tmp_path / "main.cpp"), str(tmp_path / "out.o")]
    done = symfleet_cc(["-g", *sources, "-o", str(program)], "c++")
    assert done.returncode == 0, done.stderr
    checks = [*check_objects(program), *try_target(executor_path(), (os.fspath(program),))]
    details = {check.name: check.detail for check in checks}
    assert "text::twice(int) (" in details["outside calls"]
    assert "text::twice(int) " in details["handed over"]
