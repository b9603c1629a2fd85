"""What `symfleet cc` builds behaves as what clang builds: `python -m benchmarks.identity
[--only zlib] [--level O2] [--llvm 19] [--inputs 60] [--again]`.

Real libraries are built by their own build systems, unmodified, with either compiler at each level:
only the compilers and the level are named. Then their own test suites run, and their programs on
inputs that a seeded generator makes. What is printed and every exit code must be equal.

Libraries come from the distribution's source packages (`benchmarks.real.sources`), their digests
are pinned in `libraries`. meson has to be on PATH for those that want it.

The dated file in benchmarks/results grows library by library: what was equal with the same native
parts is not done again, so a run that was cut off goes on when it is called again, and what
differed is looked at again. The exit code is 1 when anything differs; the file says what, and the
build folders are kept below `--work`.
"""
