// Models of functions that read.
#include "input.h"
#include "model.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace sf;

extern "C" int __uflow(FILE *);

namespace {

// Bytes that came from elsewhere than the input take old labels away.
void received(void *Buffer, ssize_t Size) {
  if (Size > 0)
    clearLabels((uint64_t)Buffer, (uint64_t)Size);
}

// The descriptor of a stream into which ungetc() put characters that are not
// those of the file, else -1.
int pushedBack(FILE *Stream) {
  constexpr int InBackup = 0x100; // _IO_IN_BACKUP, part of the ABI of getc_unlocked
  KeepErrno Keep;
  return Stream->_flags & InBackup ? fileno(Stream) : -1;
}

// ftello() for ourselves: it may fail, behind a character pushed back at the
// start, where the program would not have asked.
off_t positionOf(FILE *Stream) {
  KeepErrno Keep;
  return ftello(Stream);
}

// What a stream function delivered: Size bytes that ended at the position now.
void receivedFrom(FILE *Stream, void *Buffer, uint64_t Size, uint64_t Wanted, int Doubted) {
  KeepErrno Keep;
  off_t End = isInputStream(Stream) ? ftello(Stream) : -1;
  if (End < 0 || (uint64_t)End < Size) {
    clearLabels((uint64_t)Buffer, Size);
    return;
  }
  deliver(Buffer, (uint64_t)End - Size, Size, Wanted, Doubted);
}

ssize_t readModel(ssize_t Got, void *Buffer, uint64_t Size, off_t Offset) {
  KeepErrno Keep;
  if (Got < 0)
    return Got;
  if (Offset >= 0)
    deliver(Buffer, (uint64_t)Offset, (uint64_t)Got, Size);
  else
    received(Buffer, Got);
  return Got;
}

off_t offsetOf(int Fd) { return isInputFd(Fd) ? lseek(Fd, 0, SEEK_CUR) : -1; }

// A character from a stream: its label, and an event at the end of the input.
int characterModel(ModelCall &Call, FILE *Stream, int Character, int Doubted) {
  KeepErrno Keep;
  if (!isInputStream(Stream))
    return Character;
  off_t End = ftello(Stream);
  if (End < 0)
    return Character;
  unsigned char Byte = (unsigned char)Character;
  if (Character == EOF) {
    deliver(&Byte, (uint64_t)End, 0, 1);
    return Character;
  }
  if (Doubted >= 0 && End > 0 && genuineByte(Doubted, (uint64_t)End - 1) != Byte)
    return Character;
  TableLock Lock;
  if (Lock && End > 0) {
    Operand In = inputBytes((uint64_t)End - 1, 8, Byte);
    __atomic_fetch_add(&G.header->symbolic_bytes, 1, __ATOMIC_RELAXED);
    if (In.label && meta(In.label).value == Byte)
      Call.returns(zext(In, 8, 32).label);
  }
  return Character;
}

// A line ends where its delimiter is.
void lineEvents(const ModelCall &Call, const char *Line, uint64_t Size, int Delimiter) {
  TableLock Lock;
  for (uint64_t I = 0; Lock && I < Size; ++I)
    recordBranch(compare(SF_OP_EQ, 8, byteAt(Line + I), constant((uint8_t)Delimiter)), Call.at(I));
}

ssize_t delimitedModel(ModelCall &Call, ssize_t Got, char **Line, int Delimiter, FILE *Stream,
                       int Doubted) {
  if (Got <= 0) {
    if (Line && isInputStream(Stream))
      receivedFrom(Stream, nullptr, 0, 1, -1);
    return Got;
  }
  receivedFrom(Stream, *Line, (uint64_t)Got, (uint64_t)Got, Doubted);
  clearLabels((uint64_t)*Line + (uint64_t)Got, 1);
  lineEvents(Call, *Line, (uint64_t)Got, Delimiter);
  return Got;
}

int opened(int Fd, const char *Path) {
  KeepErrno Keep;
  noteOpened(Fd, Path);
  return Fd;
}

FILE *openedStream(FILE *Stream, const char *Path) {
  if (!Stream)
    return nullptr;
  KeepErrno Keep;
  forgetStream(Stream);
  if (Path)
    noteOpened(fileno(Stream), Path);
  return Stream;
}

mode_t modeOf(int Flags, va_list Arguments) {
  return Flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(Arguments, int) : 0;
}

} // namespace

SF_MODEL_API int __sf_model_open(const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  return opened(open(Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_openat(int Directory, const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  return opened(openat(Directory, Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_open64(const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  return opened(open64(Path, Flags, Mode), Path);
}

SF_MODEL_API int __sf_model_openat64(int Directory, const char *Path, int Flags, ...) {
  va_list Arguments;
  va_start(Arguments, Flags);
  mode_t Mode = modeOf(Flags, Arguments);
  va_end(Arguments);
  return opened(openat64(Directory, Path, Flags, Mode), Path);
}

SF_MODEL_API FILE *__sf_model_fopen(const char *Path, const char *Mode) {
  return openedStream(fopen(Path, Mode), Path);
}

SF_MODEL_API FILE *__sf_model_fopen64(const char *Path, const char *Mode) {
  return openedStream(fopen64(Path, Mode), Path);
}

SF_MODEL_API FILE *__sf_model_freopen(const char *Path, const char *Mode, FILE *Stream) {
  forgetStream(Stream);
  return openedStream(freopen(Path, Mode, Stream), Path);
}

SF_MODEL_API FILE *__sf_model_fdopen(int Fd, const char *Mode) {
  return openedStream(fdopen(Fd, Mode), nullptr);
}

SF_MODEL_API int __sf_model_fclose(FILE *Stream) {
  forgetStream(Stream);
  return fclose(Stream);
}

SF_MODEL_API ssize_t __sf_model_read(int Fd, void *Buffer, size_t Size) {
  if (!G.recording)
    return read(Fd, Buffer, Size);
  ModelCall Call((const void *)__sf_model_read, 0);
  off_t Offset = offsetOf(Fd);
  return readModel(read(Fd, Buffer, Size), Buffer, Size, Offset);
}

SF_MODEL_API ssize_t __sf_model_pread(int Fd, void *Buffer, size_t Size, off_t Offset) {
  if (!G.recording)
    return pread(Fd, Buffer, Size, Offset);
  ModelCall Call((const void *)__sf_model_pread, 0);
  return readModel(pread(Fd, Buffer, Size, Offset), Buffer, Size, isInputFd(Fd) ? Offset : -1);
}

SF_MODEL_API ssize_t __sf_model_pread64(int Fd, void *Buffer, size_t Size, off64_t Offset) {
  ssize_t Got = __sf_model_pread(Fd, Buffer, Size, Offset);
  return Got;
}

SF_MODEL_API ssize_t __sf_model_readv(int Fd, const iovec *Parts, int Count) {
  if (!G.recording)
    return readv(Fd, Parts, Count);
  ModelCall Call((const void *)__sf_model_readv, 0);
  off_t Offset = offsetOf(Fd);
  ssize_t Got = readv(Fd, Parts, Count);
  uint64_t Left = Got > 0 ? (uint64_t)Got : 0;
  for (int I = 0; I < Count && Got >= 0; ++I) {
    uint64_t Part = Left < Parts[I].iov_len ? Left : Parts[I].iov_len;
    readModel((ssize_t)Part, Parts[I].iov_base, Parts[I].iov_len, Offset);
    Left -= Part;
    Offset = Offset < 0 ? Offset : Offset + (off_t)Part;
  }
  return Got;
}

SF_MODEL_API ssize_t __sf_model_recv(int Fd, void *Buffer, size_t Size, int Flags) {
  ssize_t Got = recv(Fd, Buffer, Size, Flags);
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_recv, 0);
    received(Buffer, Got);
  }
  return Got;
}

// How many elements a read gives that asks for an input value of them: as many,
// or what there is. None at all is worth a try of its own.
static Label countRead(const ModelCall &Call, Operand Wanted, uint64_t Got) {
  TableLock Lock;
  if (!Wanted.label || !Lock)
    return 0;
  const Operand There = constant(Got);
  recordGoal(compare(SF_OP_EQ, 64, Wanted, constant(0)), Call.at(0));
  if (Got == Wanted.value)
    return Wanted.label;
  Operand Fits = compare(SF_OP_ULE, 64, Wanted, There);
  recordBranch(Fits, Call.at(1));
  return ite(Fits, 64, Wanted, There).label;
}

SF_MODEL_API size_t __sf_model_fread(void *Buffer, size_t Size, size_t Count, FILE *Stream) {
  if (!G.recording)
    return fread(Buffer, Size, Count, Stream);
  ModelCall Call((const void *)__sf_model_fread, 3);
  bool Input = isInputStream(Stream);
  off_t Before = Input ? positionOf(Stream) : -1;
  const int Doubted = Input ? pushedBack(Stream) : -1;
  size_t Got = fread(Buffer, Size, Count, Stream);
  KeepErrno Keep;
  off_t After = Input ? ftello(Stream) : -1; // counts a partial element too
  if (Before < 0 || After < Before)
    received(Buffer, (ssize_t)(Got * Size));
  else
    deliver(Buffer, (uint64_t)Before, (uint64_t)(After - Before), Size * Count, Doubted);
  if (Input)
    Call.returns(countRead(Call, Call.argument(2, Count), Got));
  return Got;
}

SF_MODEL_API size_t __sf_model_fread_unlocked(void *Buffer, size_t Size, size_t Count,
                                              FILE *Stream) {
  size_t Got = __sf_model_fread(Buffer, Size, Count, Stream);
  return Got;
}

SF_MODEL_API char *__sf_model_fgets(char *Buffer, int Size, FILE *Stream) {
  if (!G.recording)
    return fgets(Buffer, Size, Stream);
  ModelCall Call((const void *)__sf_model_fgets, 0);
  bool Input = isInputStream(Stream);
  off_t Before = Input ? positionOf(Stream) : -1;
  const int Doubted = Input ? pushedBack(Stream) : -1;
  char *Line = fgets(Buffer, Size, Stream);
  KeepErrno Keep;
  off_t After = Input ? ftello(Stream) : -1;
  if (Before < 0 || After < Before) {
    if (Line)
      received(Buffer, (ssize_t)strlen(Line) + 1);
    return Line;
  }
  uint64_t Got = (uint64_t)(After - Before);
  bool Short = !Line || (Got + 1 < (uint64_t)Size && Got && Buffer[Got - 1] != '\n');
  deliver(Buffer, (uint64_t)Before, Line ? Got : 0, Line && !Short ? Got : Got + 1, Doubted);
  if (Line) {
    clearLabels((uint64_t)Buffer + Got, 1);
    lineEvents(Call, Line, Got, '\n');
  }
  return Line;
}

SF_MODEL_API char *__sf_model_fgets_unlocked(char *Buffer, int Size, FILE *Stream) {
  return __sf_model_fgets(Buffer, Size, Stream);
}

#define SF_CHARACTER_MODEL(name, parameters, stream, real)                                         \
  SF_MODEL_API int __sf_model_##name parameters {                                                  \
    if (!G.recording)                                                                              \
      return real;                                                                                 \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    const int Doubted = pushedBack(stream);                                                        \
    int Character = real;                                                                          \
    return characterModel(Call, stream, Character, Doubted);                                       \
  }
SF_CHARACTER_MODEL(fgetc, (FILE * Stream), Stream, fgetc(Stream))
SF_CHARACTER_MODEL(fgetc_unlocked, (FILE * Stream), Stream, fgetc_unlocked(Stream))
SF_CHARACTER_MODEL(getc, (FILE * Stream), Stream, fgetc(Stream))
SF_CHARACTER_MODEL(_IO_getc, (FILE * Stream), Stream, fgetc(Stream))
SF_CHARACTER_MODEL(getc_unlocked, (FILE * Stream), Stream, fgetc_unlocked(Stream))
SF_CHARACTER_MODEL(getchar, (), stdin, fgetc(stdin))
SF_CHARACTER_MODEL(getchar_unlocked, (), stdin, fgetc_unlocked(stdin))

// The refill behind an inlined getc_unlocked: later characters are read from
// the stream's buffer by the program itself.
SF_MODEL_API int __sf_model___uflow(FILE *Stream) {
  if (!G.recording)
    return __uflow(Stream);
  const int Doubted = pushedBack(Stream);
  int Character = __uflow(Stream);
  ModelCall Call((const void *)__sf_model___uflow, 0);
  if (Character != EOF && isInputStream(Stream) && pushedBack(Stream) < 0) {
    KeepErrno Keep;
    off_t At = ftello(Stream);
    uint64_t Rest = (uint64_t)(Stream->_IO_read_end - Stream->_IO_read_ptr);
    if (At >= 0)
      deliver(Stream->_IO_read_ptr, (uint64_t)At, Rest, Rest);
  }
  return characterModel(Call, Stream, Character, Doubted);
}

SF_MODEL_API ssize_t __sf_model_getdelim(char **Line, size_t *Size, int Delimiter, FILE *Stream) {
  if (!G.recording)
    return getdelim(Line, Size, Delimiter, Stream);
  const int Doubted = pushedBack(Stream);
  ssize_t Got = getdelim(Line, Size, Delimiter, Stream);
  ModelCall Call((const void *)__sf_model_getdelim, 0);
  if (Line && Size) {
    clearLabels((uint64_t)Line, sizeof(*Line));
    clearLabels((uint64_t)Size, sizeof(*Size));
  }
  return delimitedModel(Call, Got, Line, Delimiter, Stream, Doubted);
}

SF_MODEL_API ssize_t __sf_model___getdelim(char **Line, size_t *Size, int Delimiter, FILE *Stream) {
  return __sf_model_getdelim(Line, Size, Delimiter, Stream);
}

SF_MODEL_API ssize_t __sf_model_getline(char **Line, size_t *Size, FILE *Stream) {
  return __sf_model_getdelim(Line, Size, '\n', Stream);
}

SF_MODEL_API void *__sf_model_mmap(void *Hint, size_t Size, int Protection, int Flags, int Fd,
                                   off_t Offset) {
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
