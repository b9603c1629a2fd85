#include "input.h"

#include "peer.h"
#include "position.h"

#include <errno.h>
#include <fcntl.h>
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

// A copy of the input, for what has no file to look it up in.
constexpr uint64_t CopyBytesMax = 64u << 20;
struct Copy {
  uint8_t *bytes;
  uint64_t size, room;
};
Copy InputCopy;
int InputFile = -1;
int ArgumentCount;
char **Arguments;
uint64_t ListenerDevice, ListenerNode;
uint64_t Declared; // bytes that the program declared to be the input

KnownStream &slotOf(FILE *Stream) { return Streams[(uint64_t)Stream / 64 % StreamSlots]; }

bool matches(int Fd) {
  struct stat S;
  return fstat(Fd, &S) == 0 && S.st_dev == G.header->input_dev && S.st_ino == G.header->input_ino;
}

void copyInput() {
  InputCopy.size = 0;
  struct stat S;
  if (InputFile < 0 || fstat(InputFile, &S) != 0 || (uint64_t)S.st_size > CopyBytesMax)
    return;
  if ((uint64_t)S.st_size > InputCopy.room) {
    InputCopy.room = ((uint64_t)S.st_size + 4095) & ~4095ull;
    InputCopy.bytes = (uint8_t *)mapZeroed(InputCopy.room);
    InputCopy.room = InputCopy.bytes ? InputCopy.room : 0;
  }
  while (InputCopy.size < (uint64_t)S.st_size && InputCopy.size < InputCopy.room) {
    ssize_t Got = pread(InputFile, InputCopy.bytes + InputCopy.size,
                        (uint64_t)S.st_size - InputCopy.size, (off_t)InputCopy.size);
    if (Got <= 0)
      break;
    InputCopy.size += (uint64_t)Got;
  }
}

uint64_t genuineBytes(int Fd, uint64_t Offset, uint8_t *Out, uint64_t Size) {
  if (Fd != DoubtedByCopy) {
    ssize_t Got = pread(Fd, Out, Size, (off_t)Offset);
    return Got > 0 ? (uint64_t)Got : 0;
  }
  if (Offset >= InputCopy.size)
    return 0;
  uint64_t Part = Size < InputCopy.size - Offset ? Size : InputCopy.size - Offset;
  memcpy(Out, InputCopy.bytes + Offset, Part);
  return Part;
}

uint64_t labelGenuine(uint64_t Address, uint64_t Offset, uint64_t Size, int Fd) {
  uint8_t Genuine[512];
  uint64_t Labelled = 0;
  while (Size) {
    uint64_t Got =
        genuineBytes(Fd, Offset, Genuine, Size < sizeof(Genuine) ? Size : sizeof(Genuine));
    if (Got == 0) {
      clearLabels(Address, Size);
      break;
    }
    for (uint64_t I = 0; I < Got; ++I)
      if (Genuine[I] == *(const uint8_t *)(Address + I)) {
        labelInput(Address + I, Offset + I, 1);
        ++Labelled;
      } else {
        clearLabels(Address + I, 1);
      }
    Address += Got;
    Offset += Got;
    Size -= Got;
  }
  return Labelled;
}

uint64_t label(void *Buffer, uint64_t Offset, uint64_t Size, int Doubted) {
  if (Doubted != Undoubted)
    return labelGenuine((uint64_t)Buffer, Offset, Size, Doubted);
  labelInput((uint64_t)Buffer, Offset, Size);
  return Size;
}

void countOpen() { __atomic_fetch_add(&G.header->input_opens, 1, __ATOMIC_RELAXED); }

// An argument with the input in the place of its mark.
char *fillIn(const char *Argument, uint64_t Size) {
  const char *Mark = strstr(Argument, SF_ARGUMENT_MARK);
  if (!Mark)
    return nullptr;
  const uint64_t Before = (uint64_t)(Mark - Argument);
  const char *Rest = Mark + strlen(SF_ARGUMENT_MARK);
  auto *Filled = (char *)mapZeroed(Before + Size + strlen(Rest) + 1);
  if (!Filled)
    return nullptr;
  memcpy(Filled, Argument, Before);
  memcpy(Filled + Before, InputCopy.bytes, Size);
  strcpy(Filled + Before + Size, Rest);
  // Where the argument ends with the input, another byte than zero makes it longer.
  const uint64_t Labelled = Size + (*Rest == '\0');
  deliver(Filled + Before, 0, Labelled, Labelled);
  return Filled;
}

void enterArguments() {
  const uint64_t Size = InputCopy.size ? strnlen((const char *)InputCopy.bytes, InputCopy.size) : 0;
  for (int I = 1; I < ArgumentCount; ++I)
    if (char *Filled = fillIn(Arguments[I], Size)) {
      Arguments[I] = Filled;
      countOpen();
    }
}

void enterSocket() {
  takePeerAsInput();
  struct stat S;
  if (fstat(0, &S) != 0)
    return;
  if (G.header->input_kind == SF_INPUT_LISTENER) {
    ListenerDevice = S.st_dev;
    ListenerNode = S.st_ino;
    G.header->input_dev = G.header->input_ino = 0;
    return;
  }
  G.header->input_dev = S.st_dev;
  G.header->input_ino = S.st_ino;
  countOpen();
}

} // namespace

void attachInput(int Fd, int Count, char **Given) {
  InputFile = Fd;
  ArgumentCount = Count;
  Arguments = Given;
}

bool isSocketInput() {
  return G.header->input_kind == SF_INPUT_SOCKET || G.header->input_kind == SF_INPUT_LISTENER;
}

void prepareInput() {
  if (!isSocketInput())
    return;
  copyInput();
  openPeer(G.header->input_kind == SF_INPUT_LISTENER, InputCopy.bytes, InputCopy.size);
}

void superviseInput(pid_t Run) {
  if (isSocketInput())
    servePeer(Run);
}

void enterInput() {
  memset(Streams, 0, sizeof(Streams));
  forgetPositions();
  Declared = 0;
  if (G.header->input_kind == SF_INPUT_ARGV || (G.recording && !isSocketInput()))
    copyInput();
  close(InputFile);
  switch (G.header->input_kind) {
  case SF_INPUT_FILE:
    if (!matches(0))
      return;
    // All executions share the server's descriptor and so its offset.
    lseek(0, 0, SEEK_SET);
    countOpen();
    return;
  case SF_INPUT_SOCKET:
  case SF_INPUT_LISTENER:
    enterSocket();
    return;
  case SF_INPUT_ARGV:
    enterArguments();
    return;
  default:
    return;
  }
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

void forgetStream(FILE *Stream) {
  slotOf(Stream).stream = nullptr;
  forgetPosition(Stream);
}

void noteAccepted(int Listener, int Fd) {
  struct stat S;
  if (!G.attached || G.header->input_kind != SF_INPUT_LISTENER || G.header->input_ino != 0 ||
      fstat(Listener, &S) != 0 || S.st_dev != ListenerDevice || S.st_ino != ListenerNode ||
      fstat(Fd, &S) != 0)
    return;
  G.header->input_dev = S.st_dev;
  G.header->input_ino = S.st_ino;
  countOpen();
}

void beginAt(int Fd) {
  if (SF_LIKELY(!G.early))
    return;
  const int Saved = errno;
  const bool Touches = isSocketInput() ? Fd == 0 : matches(Fd);
  if (Touches)
    __sf_start();
  errno = Saved;
}

void beginAt(FILE *Stream) {
  if (SF_UNLIKELY(G.early))
    beginAt(fileno(Stream));
}

void beginAtPath(int Directory, const char *Path) {
  if (SF_LIKELY(!G.early) || !Path)
    return;
  const int Saved = errno;
  struct stat S;
  if (fstatat(Directory, Path, &S, 0) == 0 && S.st_dev == G.header->input_dev &&
      S.st_ino == G.header->input_ino)
    __sf_start();
  errno = Saved;
}

void noteOpened(int Fd, const char *Path) {
  if (!G.attached || Fd < 0)
    return;
  if (isInputFd(Fd)) {
    placeFd(Fd, 0, false);
    countOpen();
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
  return genuineBytes(Fd, Offset, &Byte, 1) == 1 ? Byte : -1;
}

void labelDelivered(void *Buffer, uint64_t Offset, uint64_t Size, int Doubted) {
  TableLock Lock;
  if (Lock)
    label(Buffer, Offset, Size, Doubted);
}

void deliver(void *Buffer, uint64_t Offset, uint64_t Size, uint64_t Wanted, int Doubted) {
  __atomic_fetch_add(&G.header->progress, 1, __ATOMIC_RELAXED);
  if (!G.recording)
    return;
  TableLock Lock;
  if (!Lock)
    return;
  uint64_t Labelled = label(Buffer, Offset, Size, Doubted);
  __atomic_fetch_add(&G.header->symbolic_bytes, Labelled, __ATOMIC_RELAXED);
  static uint64_t LastEof;
  if (Size < Wanted && Offset + Wanted > LastEof) {
    LastEof = Offset + Wanted;
    addEvent(SF_EV_EOF, false, 0, 0, 0, LastEof);
  }
}

} // namespace sf

using namespace sf;

SF_API void symfleet_make_symbolic(void *Address, size_t Size) {
  if (!G.attached)
    return;
  __sf_start();
  uint64_t Offset = __atomic_fetch_add(&Declared, Size, __ATOMIC_RELAXED);
  if (Offset == 0)
    countOpen();
  deliver(Address, Offset, Size, Size, DoubtedByCopy);
}
