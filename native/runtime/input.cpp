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

void labelGenuine(uint64_t Address, uint64_t Offset, uint64_t Size, int Fd) {
  uint8_t Genuine[512];
  while (Size) {
    ssize_t Got = pread(Fd, Genuine, Size < sizeof(Genuine) ? Size : sizeof(Genuine), Offset);
    if (Got <= 0) {
      clearLabels(Address, Size);
      return;
    }
    for (ssize_t I = 0; I < Got; ++I)
      if (Genuine[I] == *(const uint8_t *)(Address + I))
        labelInput(Address + I, Offset + I, 1);
      else
        clearLabels(Address + I, 1);
    Address += Got;
    Offset += Got;
    Size -= Got;
  }
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
  const int Saved = errno;
  int Fd = fileno(Stream); // none behind memory
  errno = Saved;
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

int genuineByte(int Fd, uint64_t Offset) {
  uint8_t Byte;
  return pread(Fd, &Byte, 1, (off_t)Offset) == 1 ? Byte : -1;
}

void deliver(void *Buffer, uint64_t Offset, uint64_t Size, uint64_t Wanted, int Doubted) {
  __atomic_fetch_add(&G.header->progress, 1, __ATOMIC_RELAXED);
  if (!G.recording)
    return;
  TableLock Lock;
  if (!Lock)
    return;
  if (Doubted < 0)
    labelInput((uint64_t)Buffer, Offset, Size);
  else
    labelGenuine((uint64_t)Buffer, Offset, Size, Doubted);
  __atomic_fetch_add(&G.header->symbolic_bytes, Size, __ATOMIC_RELAXED);
  static uint64_t LastEof;
  if (Size < Wanted && Offset + Wanted > LastEof) {
    LastEof = Offset + Wanted;
    addEvent(SF_EV_EOF, false, 0, 0, 0, LastEof);
  }
}

} // namespace sf
