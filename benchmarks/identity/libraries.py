"""The libraries: their pinned sources, how each is built, what of it is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from benchmarks.real import sources


@dataclass(frozen=True, slots=True)
class Library:
    """How one library is built, by which build system, and what is compared.

    In commands {source}, {build}, {cc}, {cxx}, {level} and {jobs} are filled in. `tests` are
    compared by what they print; `programs` run on each generated input, which is {input} and
    standard input. Inputs are made from `samples`, which are patterns in the library's own folder,
    and from those in the folder `seeds` below benchmarks/.
    """

    package: sources.Package
    build_system: str
    steps: tuple[str, ...]
    tests: tuple[str, ...]
    programs: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    seeds: str = ""
    top: str = "."
    in_source: bool = False

    @property
    def name(self) -> str:
        return self.package.name


def _pinned(name: str, tarball: str, digest: str) -> sources.Package:
    return sources.Package(name, {tarball: digest})


def _cmake(options: str = "") -> tuple[str, ...]:
    compilers = "-DCMAKE_C_COMPILER={cc} -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_BUILD_TYPE=None"
    compilers += " -DCMAKE_POLICY_VERSION_MINIMUM=3.5"  # for what was written for CMake 2
    flags = "-DCMAKE_C_FLAGS={level} -DCMAKE_CXX_FLAGS={level}"
    return (f"cmake -S {{source}} -B . {compilers} {flags} {options}", "cmake --build . -j{jobs}")


_COMPILERS: Final = "env CC={cc} CXX={cxx} CFLAGS={level} CXXFLAGS={level}"
_AUTOTOOLS: Final = (f"{_COMPILERS} {{source}}/configure", "make -j{jobs}")
_MESON: Final = (
    f"{_COMPILERS} meson setup --buildtype=plain -Ddocs=false . {{source}}",
    "ninja -j{jobs}",
)
_MAKE: Final = "make -j{jobs} CC={cc} CXX={cxx}"
_CTEST: Final = "ctest -V"

_CJSON, _LIBYAML, _EXPAT = sources.PACKAGES
_TINYXML2, _ = sources.CXX_PACKAGES

_YAJL: Final = _pinned(
    "yajl",
    "yajl_2.1.0.orig.tar.gz",
    "3fb73364a5a30efe615046d07e6db9d09fd2b41c763c5f7d3bfb121cd5c5ac5a",
)
_JANSSON: Final = _pinned(
    "jansson",
    "jansson_2.14.orig.tar.gz",
    "c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b",
)
_JSON_C: Final = _pinned(
    "json-c",
    "json-c_0.16.orig.tar.gz",
    "3ecaeedffd99a60b1262819f9e60d7d983844073abc74e495cb822b251904185",
)
_FRIBIDI: Final = _pinned(
    "fribidi",
    "fribidi_1.0.8.orig.tar.bz2",
    "94c7b68d86ad2a9613b4dcffe7bbeb03523d63b5b37918bdf2e4ef34195c1e6c",
)
_POPT: Final = _pinned(
    "popt",
    "popt_1.19+dfsg.orig.tar.xz",
    "4cd0cd2963d0c4078f65949599d97135c15ee6c09cf3a36a9a1b2753025bb06b",
)
_LIBPNG: Final = _pinned(
    "libpng1.6",
    "libpng1.6_1.6.39.orig.tar.gz",
    "a00e9d2f2f664186e4202db9299397f851aea71b36a35e74910b8820e380d441",
)
_PCRE2: Final = _pinned(
    "pcre2",
    "pcre2_10.42.orig.tar.gz",
    "c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f",
)
_ZLIB: Final = _pinned(
    "zlib",
    "zlib_1.2.13.dfsg.orig.tar.bz2",
    "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
)
_HTTP_PARSER: Final = _pinned(
    "http-parser",
    "http-parser_2.9.4.orig.tar.gz",
    "467b9e30fd0979ee301065e70f637d525c28193449e1b13fbcb1b1fab3ad224f",
)
_BZIP2: Final = _pinned(
    "bzip2",
    "bzip2_1.0.8.orig.tar.gz",
    "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
)
_LZ4: Final = _pinned(
    "lz4",
    "lz4_1.9.4.orig.tar.gz",
    "0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b",
)
_GIFLIB: Final = _pinned(
    "giflib",
    "giflib_5.2.1.orig.tar.gz",
    "31da5562f44c5f15d63340a09a4fd62b48c45620cd302f77a6d9acf0077879bd",
)

_GIF_TOOLS: Final = ("gif2rgb", "gifbuild", "gifclrmp", "gifecho", "giffilter", "giffix")
_GIF_TOOLS_TOO: Final = ("gifsponge", "giftext", "giftool", "gifwedge", "gifinto")

_HTTP_FLAGS: Final = "CFLAGS={level} CFLAGS_DEBUG={level} CFLAGS_FAST={level}"
"""Without -Werror: the compilers of today warn of more than its own."""

_PNG_TESTS: Final = (
    "tests/pngtest-all",
    "tests/pngunknown-IDAT",
    "tests/pngstest-linear-alpha",
    "tests/pngvalid-standard",
    "tests/pngimage-quick",
)

# Small ones first: a run that is cut off has seen many.
LIBRARIES: Final = (
    Library(
        _HTTP_PARSER,
        "make",
        (f"{_MAKE} {_HTTP_FLAGS} test_g test_fast parsertrace url_parser",),
        ("./test_g", "./test_fast"),
        ("./parsertrace -b {input}",),
        seeds="identity/seeds/http",
        in_source=True,
    ),
    Library(_CJSON, "cmake", _cmake(), (_CTEST,)),
    Library(
        _TINYXML2,
        "make",
        (f"{_MAKE} CXXFLAGS={{level}} xmltest",),
        ("./xmltest",),
        in_source=True,
    ),
    Library(
        _BZIP2,
        "make",
        (f"{_MAKE} CFLAGS={{level}} bzip2 bzip2recover",),
        (f"{_MAKE} CFLAGS={{level}} test",),
        ("./bzip2 -c", "./bzip2 -dc"),
        ("sample1.bz2", "words*"),
        in_source=True,
    ),
    Library(
        _YAJL,
        "cmake",
        _cmake(),
        ("cmake --build . --target test", "cmake --build . --target test-api"),
        ("yajl-2.1.0/bin/json_reformat", "yajl-2.1.0/bin/json_verify"),
        ("test/parsing/cases/*.json",),
        "real/seeds/cjson",
    ),
    Library(_POPT, "autotools", _AUTOTOOLS, ("make check", "cat tests/testit.sh.log")),
    Library(
        _ZLIB,
        "configure of its own",
        ("env CC={cc} CFLAGS={level} ./configure", "make -j{jobs}"),
        ("make check",),
        ("./minigzip", "./minigzip -d"),
        ("test/*.c",),
        in_source=True,
    ),
    Library(_JANSSON, "cmake", _cmake("-DJANSSON_BUILD_DOCS=OFF"), (_CTEST,)),
    Library(
        _LIBYAML,
        "cmake",
        _cmake("-DBUILD_TESTING=ON"),
        (_CTEST,),
        tuple(f"./run-{what} {{input}}" for what in ("scanner", "parser", "loader", "dumper")),
        seeds="real/seeds/libyaml",
    ),
    Library(
        _JSON_C,
        "cmake",
        _cmake("-DDISABLE_WERROR=ON"),  # clang warns of more than its own compiler
        (f"env USE_VALGRIND=0 {_CTEST}",),  # where it is installed, valgrind would be compared
        ("apps/json_parse {input}",),
        seeds="real/seeds/cjson",
    ),
    Library(
        _FRIBIDI,
        "meson",
        _MESON,
        # One after the other: meson tells of tests in the order in which they end.
        ("meson test --no-rebuild --num-processes 1",),
        ("bin/fribidi --levels --ltov --bounds {input}", "bin/fribidi --nopad --clean {input}"),
        ("test/*.input",),
    ),
    Library(
        _EXPAT,
        "cmake",
        _cmake("-DEXPAT_BUILD_DOCS=OFF"),
        (_CTEST,),
        ("xmlwf/xmlwf -c {input}", "examples/elements", "examples/outline"),
        seeds="real/seeds/expat",
        top="expat",
    ),
    Library(
        _LZ4,
        "make",
        (
            f"{_MAKE} CFLAGS={{level}} -C programs lz4",
            f"{_MAKE} CFLAGS={{level}} -C tests fuzzer frametest datagen roundTripTest",
        ),
        (
            "tests/fuzzer -s1 -i60 -v",
            "tests/frametest -s1 -i60 -v",
            "tests/datagen -g20000 -s3",
            "tests/roundTripTest README.md",
        ),
        ("programs/lz4 -c", "programs/lz4 -9 -c", "programs/lz4 -dc"),
        ("tests/goldenSamples/*", "README.md"),
        in_source=True,
    ),
    Library(
        _GIFLIB,
        "make",
        (f"{_MAKE} OFLAGS={{level}} libgif.a libutil.a {' '.join(_GIF_TOOLS + _GIF_TOOLS_TOO)}",),
        ("make -C tests",),
        tuple(f"./{tool}" for tool in ("giftext", "gif2rgb", "giffix", "gifbuild -d")),
        ("pic/gifgrid.gif", "pic/welcome2.gif", "pic/solid2.gif"),
        in_source=True,
    ),
    Library(
        _PCRE2,
        "autotools",
        _AUTOTOOLS,
        ("make check", "cat RunTest.log RunGrepTest.log"),
        ("./pcre2test -q {input}",),
        ("testdata/testinput4", "testdata/testinput9"),
    ),
    Library(
        _LIBPNG,
        "autotools",
        _AUTOTOOLS,
        # Of the suite one of each kind: several others repeat them for each colour space.
        (
            f'make check "TESTS={" ".join(_PNG_TESTS)}"',
            "cat tests/pngtest-all.log tests/pngvalid-standard.log tests/pngimage-quick.log",
        ),
        ("./pngtest -m {input}",),
        ("contrib/testpngs/gray-1.png", "contrib/testpngs/palette-4*.png"),
    ),
)
