#include "input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sf {

namespace {

struct KnownStream {
  FILE *stream;
  int fd;
  bool isInput;
};
constexpr unsigned StreamSlots = 16;
KnownStream Streams[StreamSlots];

KnownStream &slotOf(FILE *Stream) { return Streams[(uint64_t)Stream / 64 % StreamSlots]; }

bool matches(int Fd) {
  struct stat S;
  return fstat(Fd, &S) == 0 && S.st_dev == G.header->input_dev && S.st_ino == G.header->input_ino;
}

} // namespace

void enterInput() {
  memset(Streams, 0, sizeof(Streams));
  if (G.header->input_kind != SF_INPUT_FILE || !matches(0))
    return;
  // All executions share the server's descriptor and so its offset.
  lseek(0, 0, SEEK_SET);
  __atomic_fetch_add(&G.header->input_opens, 1, __ATOMIC_RELAXED);
}

bool isInputFd(int Fd) {
  const int Saved = errno;
  bool Is = matches(Fd);
  errno = Saved;
  return Is;
}

bool isInputStream(FILE *Stream) {
  int Fd = fileno(Stream);
  KnownStream &Slot = slotOf(Stream);
  if (Slot.stream != Stream || Slot.fd != Fd)
    Slot = {Stream, Fd, Fd >= 0 && isInputFd(Fd)};
  return Slot.isInput;
}

void forgetStream(FILE *Stream) { slotOf(Stream).stream = nullptr; }

void noteOpened(int Fd, const char *Path) {
  if (!G.attached || Fd < 0)
    return;
  if (isInputFd(Fd)) {
    __atomic_fetch_add(&G.header->input_opens, 1, __ATOMIC_RELAXED);
    return;
  }
  uint64_t Size = strlen(Path) + 1;
  uint64_t At = __atomic_load_n(&G.header->opens_len, __ATOMIC_RELAXED);
  if (At + Size > SF_OPENS_BYTES)
    return;
  At = __atomic_fetch_add(&G.header->opens_len, Size, __ATOMIC_RELAXED);
  if (At + Size <= SF_OPENS_BYTES)
    memcpy(G.header->opens + At, Path, Size);
  else
    __atomic_fetch_sub(&G.header->opens_len, Size, __ATOMIC_RELAXED);
}

void deliver(void *Buffer, uint64_t Offset, uint64_t Size, uint64_t Wanted) {
  __atomic_fetch_add(&G.header->progress, 1, __ATOMIC_RELAXED);
  if (!G.recording)
    return;
  TableLock Lock;
  if (!Lock)
    return;
  labelInput((uint64_t)Buffer, Offset, Size);
  __atomic_fetch_add(&G.header->symbolic_bytes, Size, __ATOMIC_RELAXED);
  static uint64_t LastEof;
  if (Size < Wanted && Offset + Wanted > LastEof) {
    LastEof = Offset + Wanted;
    addEvent(SF_EV_EOF, false, 0, 0, 0, LastEof);
  }
}

} // namespace sf
