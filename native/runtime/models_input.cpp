// Models of functions that read from descriptors, and tell of files.
#include "input.h"
#include "model.h"
#include "pipes.h"
#include "position.h"
#include "reads.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace sf;

namespace {

int opened(int Fd, const char *Path) {
  KeepErrno Keep;
  noteOpened(Fd, Path);
  return Fd;
}

mode_t modeOf(int Flags, va_list Arguments) {
  return Flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(Arguments, int) : 0;
}

// What a read of Wanted bytes at From gave: its length is that of the input in
// disguise. A full one leaves the position where the wanted size says.
void returnsCount(ModelCall &Call, Position From, Operand Wanted, uint64_t Got) {
  TableLock Lock;
  if (!Lock)
    return;
  fixLength(From, Call.atEnd(true));
  Operand Count = countAfter(From, Wanted);
  if (Count.value == Got)
    Call.returns(Count.label);
  if (Got == Wanted.value)
    recordFact(Wanted, Call.atEnd());
}

// Runs Real, which reads into Buffer, and says what it gave.
template <typename Read>
ssize_t readModel(ModelCall &Call, int Fd, void *Buffer, Operand Size, Position From, bool Moves,
                  Read Real) {
  const int64_t Fill = From ? -1 : pipeFill(Fd);
  ssize_t Got = Real();
  KeepErrno Keep;
  if (Got < 0)
    return Got;
  if (!From) {
    if (Fill < 0 || !pipeRead(Fd, Fill, Buffer, (uint64_t)Got))
      clearLabels((uint64_t)Buffer, (uint64_t)Got);
    return Got;
  }
  deliver(Buffer, (uint64_t)From.offset, (uint64_t)Got, Size.value,
          isSocketInput() ? DoubtedByCopy : Undoubted);
  if (Moves)
    advance(Fd, From, (uint64_t)Got, Size.value, !Size.label);
  returnsCount(Call, From, Size, (uint64_t)Got);
  return Got;
}

// The same into several buffers.
template <typename Read>
ssize_t scatterModel(ModelCall &Call, int Fd, const iovec *Parts, size_t Count, Position From,
                     bool Moves, Read Real) {
  ssize_t Got = Real();
  KeepErrno Keep;
  if (Got < 0)
    return Got;
  uint64_t Left = (uint64_t)Got, Wanted = 0;
  for (size_t I = 0; I < Count; ++I) {
    uint64_t Part = Left < Parts[I].iov_len ? Left : Parts[I].iov_len;
    if (From)
      deliver(Parts[I].iov_base, (uint64_t)From.offset + ((uint64_t)Got - Left), Part,
              Parts[I].iov_len, isSocketInput() ? DoubtedByCopy : Undoubted);
    else
      clearLabels((uint64_t)Parts[I].iov_base, Part);
    Left -= Part;
    Wanted += Parts[I].iov_len;
  }
  if (!From)
    return Got;
  if (Moves)
    advance(Fd, From, (uint64_t)Got, Wanted, true);
  returnsCount(Call, From, constant(Wanted), (uint64_t)Got);
  return Got;
}

ssize_t receive(ModelCall &Call, int Fd, void *Buffer, Operand Size, int Flags,
                struct sockaddr *Address, socklen_t *AddressSize) {
  return readModel(Call, Fd, Buffer, Size, positionOf(Fd), !(Flags & MSG_PEEK),
                   [&] { return recvfrom(Fd, Buffer, Size.value, Flags, Address, AddressSize); });
}

// The size of the input's file is the length of the input.
int told(int Result, const struct stat *Facts) {
  if (!G.recording || Result != 0)
    return Result;
  KeepErrno Keep;
  clearLabels((uint64_t)Facts, sizeof(*Facts));
  if (Facts->st_dev != G.header->input_dev || Facts->st_ino != G.header->input_ino ||
      isSocketInput())
    return Result;
  TableLock Lock;
  Operand Size = Lock ? inputLength() : constant(0);
  if (Size.label && Size.value == (uint64_t)Facts->st_size) {
    storeLabel((uint64_t)&Facts->st_size, sizeof(Facts->st_size), Size.label);
    noteLengthTold(Size);
  }
  return Result;
}

int accepted(int Listener, int Fd) {
  KeepErrno Keep;
  if (Fd >= 0)
    noteAccepted(Listener, Fd);
  return Fd;
}

int shared(int Fd, int With) {
  if (Fd >= 0 && G.recording)
    sharePosition(Fd, With);
  return Fd;
}

} // namespace

namespace sf {

ssize_t readDescriptor(ModelCall &Call, int Fd, void *Buffer, Operand Size) {
  return readModel(Call, Fd, Buffer, Size, positionOf(Fd), true,
                   [&] { return read(Fd, Buffer, Size.value); });
}

ssize_t readDescriptorAt(ModelCall &Call, int Fd, void *Buffer, Operand Size, off_t Offset) {
  Position From;
  if (isInputFd(Fd) && !isSocketInput())
    From.offset = Offset;
  return readModel(Call, Fd, Buffer, Size, From, false,
                   [&] { return pread(Fd, Buffer, Size.value, Offset); });
}

ssize_t writeDescriptor(int Fd, const void *Buffer, size_t Size) {
  const int64_t Fill = pipeFill(Fd);
  ssize_t Done = write(Fd, Buffer, Size);
  KeepErrno Keep;
  if (Fill >= 0 && Done > 0)
    pipeWritten(Fd, Fill, Buffer, (uint64_t)Done);
  return Done;
}

off_t seekDescriptor(ModelCall &Call, int Fd, Operand Offset, int Whence) {
  const Position Before = positionOf(Fd);
  if (Before) {
    TableLock Lock;
    if (Lock)
      concretise(Offset, Call.at(0));
  }
  off_t At = lseek(Fd, (off_t)Offset.value, Whence);
  if (!Before || At < 0)
    return At;
  KeepErrno Keep;
  Position Now;
  Now.offset = At;
  Now.fromEnd = Whence == SEEK_END || (Whence == SEEK_CUR && Before.fromEnd);
  Now.onward = Whence == SEEK_CUR && At == Before.offset ? Before.onward : 0;
  placeFd(Fd, At, Now.fromEnd, Now.onward);
  TableLock Lock;
  Operand Told = Lock ? offsetOf(Now) : constant(0);
  noteLengthTold(Told);
  Call.returns(Told.label);
  return At;
}

} // namespace sf

SF_MODEL_API int __sf_model_open(const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  beginAtPath(AT_FDCWD, Path);
  return opened(open(Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_openat(int Directory, const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  beginAtPath(Directory, Path);
  return opened(openat(Directory, Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_open64(const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  beginAtPath(AT_FDCWD, Path);
  return opened(open64(Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_openat64(int Directory, const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  beginAtPath(Directory, Path);
  return opened(openat64(Directory, Path, Flags, Mode), Path);
}

SF_MODEL_API ssize_t __sf_model_read(int Fd, void *Buffer, size_t Size) {
  beginAt(Fd);
  if (!G.recording)
    return read(Fd, Buffer, Size);
  ModelCall Call((const void *)__sf_model_read, 3);
  return readDescriptor(Call, Fd, Buffer, Call.argument(2, Size));
}

SF_MODEL_API ssize_t __sf_model_pread(int Fd, void *Buffer, size_t Size, off_t Offset) {
  beginAt(Fd);
  if (!G.recording)
    return pread(Fd, Buffer, Size, Offset);
  ModelCall Call((const void *)__sf_model_pread, 3);
  return readDescriptorAt(Call, Fd, Buffer, Call.argument(2, Size), Offset);
}

SF_MODEL_API ssize_t __sf_model_pread64(int Fd, void *Buffer, size_t Size, off64_t Offset) {
  beginAt(Fd);
  if (!G.recording)
    return pread64(Fd, Buffer, Size, Offset);
  ModelCall Call((const void *)__sf_model_pread64, 3);
  return readDescriptorAt(Call, Fd, Buffer, Call.argument(2, Size), Offset);
}

SF_MODEL_API ssize_t __sf_model_readv(int Fd, const iovec *Parts, int Count) {
  beginAt(Fd);
  if (!G.recording)
    return readv(Fd, Parts, Count);
  ModelCall Call((const void *)__sf_model_readv, 0);
  return scatterModel(Call, Fd, Parts, Count < 0 ? 0 : (size_t)Count, positionOf(Fd), true,
                      [&] { return readv(Fd, Parts, Count); });
}

SF_MODEL_API ssize_t __sf_model_recv(int Fd, void *Buffer, size_t Size, int Flags) {
  beginAt(Fd);
  if (!G.recording)
    return recv(Fd, Buffer, Size, Flags);
  ModelCall Call((const void *)__sf_model_recv, 3);
  return receive(Call, Fd, Buffer, Call.argument(2, Size), Flags, nullptr, nullptr);
}

SF_MODEL_API ssize_t __sf_model_recvfrom(int Fd, void *Buffer, size_t Size, int Flags,
                                         struct sockaddr *Address, socklen_t *AddressSize) {
  beginAt(Fd);
  if (!G.recording)
    return recvfrom(Fd, Buffer, Size, Flags, Address, AddressSize);
  ModelCall Call((const void *)__sf_model_recvfrom, 3);
  return receive(Call, Fd, Buffer, Call.argument(2, Size), Flags, Address, AddressSize);
}

SF_MODEL_API ssize_t __sf_model_recvmsg(int Fd, struct msghdr *Message, int Flags) {
  beginAt(Fd);
  if (!G.recording)
    return recvmsg(Fd, Message, Flags);
  ModelCall Call((const void *)__sf_model_recvmsg, 0);
  return scatterModel(Call, Fd, Message->msg_iov, Message->msg_iovlen, positionOf(Fd),
                      !(Flags & MSG_PEEK), [&] { return recvmsg(Fd, Message, Flags); });
}

SF_MODEL_API ssize_t __sf_model_write(int Fd, const void *Buffer, size_t Size) {
  if (!G.recording)
    return write(Fd, Buffer, Size);
  ModelCall Call((const void *)__sf_model_write, 0);
  return writeDescriptor(Fd, Buffer, Size);
}

// ---- Positions and sizes

SF_MODEL_API off_t __sf_model_lseek(int Fd, off_t Offset, int Whence) {
  beginAt(Fd);
  if (!G.recording)
    return lseek(Fd, Offset, Whence);
  ModelCall Call((const void *)__sf_model_lseek, 2);
  return seekDescriptor(Call, Fd, Call.argument(1, (uint64_t)Offset), Whence);
}

SF_MODEL_API off64_t __sf_model_lseek64(int Fd, off64_t Offset, int Whence) {
  beginAt(Fd);
  if (!G.recording)
    return lseek64(Fd, Offset, Whence);
  ModelCall Call((const void *)__sf_model_lseek64, 2);
  return seekDescriptor(Call, Fd, Call.argument(1, (uint64_t)Offset), Whence);
}

#define SF_STAT_MODEL(name, parameters, touch, real)                                               \
  SF_MODEL_API int __sf_model_##name parameters {                                                  \
    touch;                                                                                         \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    return told(real, (const struct stat *)Facts);                                                 \
  }
SF_STAT_MODEL(stat, (const char *Path, struct stat *Facts), beginAtPath(AT_FDCWD, Path),
              stat(Path, Facts))
SF_STAT_MODEL(lstat, (const char *Path, struct stat *Facts), beginAtPath(AT_FDCWD, Path),
              lstat(Path, Facts))
SF_STAT_MODEL(fstat, (int Fd, struct stat *Facts), beginAt(Fd), fstat(Fd, Facts))
SF_STAT_MODEL(fstatat, (int Directory, const char *Path, struct stat *Facts, int Flags),
              beginAtPath(Directory, Path), fstatat(Directory, Path, Facts, Flags))
SF_STAT_MODEL(stat64, (const char *Path, struct stat64 *Facts), beginAtPath(AT_FDCWD, Path),
              stat64(Path, Facts))
SF_STAT_MODEL(lstat64, (const char *Path, struct stat64 *Facts), beginAtPath(AT_FDCWD, Path),
              lstat64(Path, Facts))
SF_STAT_MODEL(fstat64, (int Fd, struct stat64 *Facts), beginAt(Fd), fstat64(Fd, Facts))
SF_STAT_MODEL(fstatat64, (int Directory, const char *Path, struct stat64 *Facts, int Flags),
              beginAtPath(Directory, Path), fstatat64(Directory, Path, Facts, Flags))

// ---- Other descriptors for the same input

SF_MODEL_API int __sf_model_accept(int Listener, struct sockaddr *Address, socklen_t *Size) {
  beginAt(Listener);
  return accepted(Listener, accept(Listener, Address, Size));
}

SF_MODEL_API int __sf_model_accept4(int Listener, struct sockaddr *Address, socklen_t *Size,
                                    int Flags) {
  beginAt(Listener);
  return accepted(Listener, accept4(Listener, Address, Size, Flags));
}

SF_MODEL_API int __sf_model_dup(int Fd) { return shared(dup(Fd), Fd); }

SF_MODEL_API int __sf_model_dup2(int Fd, int To) { return shared(dup2(Fd, To), Fd); }

SF_MODEL_API int __sf_model_dup3(int Fd, int To, int Flags) {
  return shared(dup3(Fd, To, Flags), Fd);
}

// ---- Mappings

SF_MODEL_API void *__sf_model_mmap(void *Hint, size_t Size, int Protection, int Flags, int Fd,
                                   off_t Offset) {
  beginAt(Flags & MAP_ANONYMOUS ? -1 : Fd);
  void *P = mmap(Hint, Size, Protection, Flags, Fd, Offset);
  if (!G.recording || P == MAP_FAILED)
    return P;
  ModelCall Call((const void *)__sf_model_mmap, 0);
  KeepErrno Keep;
  clearLabels((uint64_t)P, Size);
  struct stat S;
  if (Flags & MAP_ANONYMOUS || !(Protection & PROT_READ) || !isInputFd(Fd) || fstat(Fd, &S) != 0)
    return P;
  uint64_t Available = Offset < S.st_size ? (uint64_t)(S.st_size - Offset) : 0;
  deliver(P, (uint64_t)Offset, Size < Available ? Size : Available, Size);
  return P;
}

SF_MODEL_API void *__sf_model_mmap64(void *Hint, size_t Size, int Protection, int Flags, int Fd,
                                     off64_t Offset) {
  return __sf_model_mmap(Hint, Size, Protection, Flags, Fd, Offset);
}

SF_MODEL_API int __sf_model_munmap(void *Address, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_munmap, 0);
    clearLabels((uint64_t)Address, Size);
  }
  return munmap(Address, Size);
}
