"""A wall clock that can be set while programs run, for tests: a library that is loaded before libc
adds an amount to what the system says. The monotonic clock goes on as it is, as on a real machine
whose time is set."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_SOURCE: Final = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(void) {
  static const long *amount;
  if (!amount) {
    int file = open(getenv("SHIFTED_WALL"), O_RDONLY | O_CLOEXEC);
    amount = mmap(0, sizeof *amount, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  return *amount;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, now);
  if (!result && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec exact;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
"""

YEAR_S: Final = 31_557_600


class ShiftedWall:
    """The clock of all programs that are started with `env`."""

    def __init__(self, folder: Path) -> None:
        """Build the library in `folder`; raises OSError where there is no C compiler."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise FileNotFoundError("there is no C compiler")
        source, self._library = folder / "shifted_wall.c", folder / "shifted_wall.so"
        source.write_text(_SOURCE)
        command = [
            compiler,
            "-shared",
            "-fPIC",
            "-O1",
            "-o",
            str(self._library),
            str(source),
            "-ldl",
        ]
        subprocess.run(command, check=True, capture_output=True)
        self._amount = folder / "shifted_wall.amount"
        self._amount.write_bytes(struct.pack("@l", 0))

    @property
    def env(self) -> Mapping[str, str]:
        """Variables of a program whose clock this is."""
        return {"LD_PRELOAD": str(self._library), "SHIFTED_WALL": str(self._amount)}

    def set(self, seconds: int) -> None:
        """Set the clock to `seconds` beside the true time, now."""
        with self._amount.open("r+b", buffering=0) as file:
            file.write(struct.pack("@l", seconds))
