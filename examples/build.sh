#!/bin/sh
# Build the example targets: build.sh [OUTPUT-FOLDER], with the compilers of CC and CXX.
#
#   CC='symfleet cc' CXX='symfleet c++' examples/build.sh build/examples
#   CC='clang -fsanitize=address' CXX='clang++ -fsanitize=address' examples/build.sh /tmp/plain
#
# CFLAGS is -O0 -g unless set: the branches of the source are then the branches of the program.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
out=${1:-$here/../build/examples}
CC=${CC:-symfleet cc}
CXX=${CXX:-symfleet c++}

mkdir -p "$out"
# shellcheck disable=SC2086 # CC, CXX and CFLAGS are words
for source in "$here"/*/*.c; do
  $CC ${CFLAGS--O0 -g} -o "$out/$(basename "$source" .c)" "$source"
done
# shellcheck disable=SC2086
for source in "$here"/*/*.cpp; do
  $CXX -std=c++17 ${CFLAGS--O0 -g} -o "$out/$(basename "$source" .cpp)" "$source"
done
