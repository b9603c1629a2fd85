// Models of functions that read from streams.
#include "input.h"
#include "memory_stream.h"
#include "model.h"
#include "position.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

using namespace sf;

extern "C" int __uflow(FILE *);

namespace {

// What bytes of a stream may be others than the input's: a socket has no place
// to look them up, and ungetc() may have put in characters of its own.
int doubtsOf(FILE *Stream) {
  constexpr int InBackup = 0x100; // _IO_IN_BACKUP, part of the ABI of getc_unlocked
  KeepErrno Keep;
  if (isSocketInput())
    return DoubtedByCopy;
  return Stream->_flags & InBackup ? fileno(Stream) : Undoubted;
}

// A stream before a read, and what the read took from it.
struct Reading {
  FILE *stream;
  Position from;
  MemoryAhead memory; // of a stream that is not the input
  int doubted;

  explicit Reading(FILE *Stream)
      : stream(Stream), from(positionOf(Stream)), memory(from ? nullptr : Stream),
        doubted(Undoubted) {
    if (from)
      doubted = doubtsOf(Stream);
  }
  explicit operator bool() const { return (bool)from; }

  // Bytes taken; Otherwise where the stream cannot tell.
  uint64_t taken(uint64_t Otherwise) const {
    if (areSocketPositionsExact())
      if (Position Now = positionOf(stream))
        return Now.offset >= from.offset ? (uint64_t)(Now.offset - from.offset) : 0;
    if (isSocketInput())
      return Otherwise;
    KeepErrno Keep;
    off_t Now = ftello(stream); // counts a partial element too
    return Now >= from.offset ? (uint64_t)(Now - from.offset) : 0;
  }
  // Got bytes arrived at Buffer.
  void give(void *Buffer, uint64_t Got, uint64_t Wanted, bool IsBlock = false) const {
    deliver(Buffer, (uint64_t)from.offset, Got, Wanted, doubted);
    advance(stream, from, Got, Wanted, IsBlock);
  }
};

// A character from a stream: its label, and whether there is one.
int characterModel(ModelCall &Call, const Reading &Before, int Character) {
  KeepErrno Keep;
  if (!Before) {
    TableLock Lock;
    Operand Byte = Lock && Before.memory.size ? byteAt(Before.memory.bytes) : constant(0);
    if (Character != EOF && Byte.value == (uint64_t)Character)
      Call.returns(zext(Byte, 8, 32).label);
    return Character;
  }
  unsigned char Byte = (unsigned char)Character;
  if (Character == EOF)
    Before.give(&Byte, 0, 1, true);
  else
    advance(Before.stream, Before.from, 1, 1, true);
  const uint64_t At = (uint64_t)Before.from.offset;
  if (Character != EOF && Before.doubted != Undoubted && genuineByte(Before.doubted, At) != Byte)
    return Character;
  TableLock Lock;
  if (!Lock)
    return Character;
  recordCharacter(Before.from, Call.atEnd());
  fixLength(Before.from, Call.atEnd(true));
  if (Character == EOF)
    return Character;
  Operand In = inputBytes(At, 8, Byte);
  __atomic_fetch_add(&G.header->symbolic_bytes, 1, __ATOMIC_RELAXED);
  if (In.label && meta(In.label).value == Byte)
    Call.returns(zext(In, 8, 32).label);
  return Character;
}

// Elements from a stream: their bytes, and how many there are.
size_t elementsModel(ModelCall &Call, const Reading &Before, void *Buffer, Operand Size,
                     Operand Count, size_t Got) {
  KeepErrno Keep;
  const uint64_t Wanted = Size.value * Count.value;
  const uint64_t Rest = G.header->input_size - (uint64_t)Before.from.offset;
  const uint64_t Taken =
      Before.taken(Got == Count.value || Rest > Wanted ? Got * Size.value : Rest);
  Before.give(Buffer, Taken, Wanted, !Size.label && !Count.label);
  TableLock Lock;
  if (!Lock || !Size.value)
    return Got;
  recordFact(Size, Call.atEnd(true));
  fixLength(Before.from, Call.atEnd(true));
  Operand Bytes = countAfter(
      Before.from, binary(SF_OP_MUL, 64, Operand{Count.label, Count.value}, constant(Size.value)));
  Operand Elements = binary(SF_OP_UDIV, 64, Bytes, constant(Size.value));
  recordGoal(compare(SF_OP_EQ, 64, Operand{Count.label, Count.value}, constant(0)), Call.at(0));
  if (Bytes.value == Taken && Elements.value == Got)
    Call.returns(Elements.label);
  if (Taken == Wanted)
    recordFact(Count, Call.atEnd());
  return Got;
}

// A line ends where its delimiter is.
void delimiterEvents(const ModelCall &Call, const char *Line, uint64_t Size, int Delimiter) {
  for (uint64_t I = 0; I < Size; ++I)
    recordBranch(compare(SF_OP_EQ, 8, byteAt(Line + I), constant((uint8_t)Delimiter)), Call.at(I));
}

// The same line of a stream that is not the input, which may be over memory.
void otherLine(const ModelCall &Call, const Reading &Before, char *Line, uint64_t Size,
               int Delimiter) {
  clearLabels((uint64_t)Line, Size + 1);
  if (!Before.memory)
    return;
  Before.memory.give(Line, Size);
  if (TableLock Lock; Lock)
    delimiterEvents(Call, Line, Size, Delimiter);
}

// A line is there if the input goes on; it ends where its delimiter is, or with
// the input.
void lineEvents(const ModelCall &Call, const Reading &Before, const char *Line, uint64_t Size,
                int Delimiter, bool AtEnd) {
  TableLock Lock;
  if (!Lock)
    return;
  recordCharacter(Before.from, Call.atEnd());
  fixLength(Before.from, Call.atEnd(true));
  delimiterEvents(Call, Line, Size, Delimiter);
  if (Size && AtEnd)
    recordBranch(has(Before.from, Size + 1), Call.atEnd());
}

ssize_t delimitedModel(ModelCall &Call, const Reading &Before, ssize_t Got, char **Line,
                       int Delimiter) {
  KeepErrno Keep;
  if (!Before) {
    if (Got > 0)
      otherLine(Call, Before, *Line, (uint64_t)Got, Delimiter);
    return Got;
  }
  const uint64_t Size = Got > 0 ? (uint64_t)Got : 0;
  const bool AtEnd = !Size || (unsigned char)(*Line)[Size - 1] != (unsigned char)Delimiter;
  Before.give(Size ? *Line : nullptr, Size, Size + AtEnd);
  if (Size)
    clearLabels((uint64_t)*Line + Size, 1);
  lineEvents(Call, Before, Size ? *Line : nullptr, Size, Delimiter, AtEnd);
  if (!Size || !AtEnd)
    return Got;
  TableLock Lock;
  Operand Rest = Lock ? countAfter(Before.from, constant(Size + 1)) : constant(Size);
  if (Rest.value == Size)
    Call.returns(Rest.label);
  return Got;
}

FILE *openedStream(FILE *Stream, const char *Path) {
  if (!Stream)
    return nullptr;
  KeepErrno Keep;
  forgetStream(Stream);
  forgetMemoryStream(Stream);
  if (Path)
    noteOpened(fileno(Stream), Path);
  return Stream;
}

// Runs Seek, which moves a stream of the input.
template <typename Seek>
int seekModel(ModelCall &Call, FILE *Stream, Operand Offset, int Whence, Seek Real) {
  const Position Before = positionOf(Stream);
  if (Before) {
    TableLock Lock;
    if (Lock)
      concretise(Offset, Call.at(0));
  }
  int Result = Real();
  if (!Before || Result != 0)
    return Result;
  KeepErrno Keep;
  off_t At = ftello(Stream);
  if (At >= 0)
    placeStream(Stream, At, Whence == SEEK_END || (Whence == SEEK_CUR && Before.fromEnd));
  return Result;
}

off_t tellModel(ModelCall &Call, FILE *Stream, off_t At) {
  KeepErrno Keep;
  const Position Now = At >= 0 ? positionOf(Stream) : Position();
  TableLock Lock;
  if (!Now || !Lock || Now.offset != At)
    return At;
  Operand Told = offsetOf(Now);
  noteLengthTold(Told);
  Call.returns(Told.label);
  return At;
}

int endModel(ModelCall &Call, FILE *Stream, int Result) {
  TableLock Lock;
  if (!Lock)
    return Result;
  Operand Seen = endSeen(Stream);
  if (Seen.value == (uint64_t)Result)
    Call.returns(zext(Seen, 1, 32).label);
  return Result;
}

} // namespace

SF_MODEL_API FILE *__sf_model_fopen(const char *Path, const char *Mode) {
  beginAtPath(AT_FDCWD, Path);
  return openedStream(fopen(Path, Mode), Path);
}

SF_MODEL_API FILE *__sf_model_fopen64(const char *Path, const char *Mode) {
  beginAtPath(AT_FDCWD, Path);
  return openedStream(fopen64(Path, Mode), Path);
}

SF_MODEL_API FILE *__sf_model_freopen(const char *Path, const char *Mode, FILE *Stream) {
  if (Path)
    beginAtPath(AT_FDCWD, Path);
  forgetStream(Stream);
  return openedStream(freopen(Path, Mode, Stream), Path);
}

SF_MODEL_API FILE *__sf_model_fdopen(int Fd, const char *Mode) {
  return openedStream(fdopen(Fd, Mode), nullptr);
}

SF_MODEL_API FILE *__sf_model_fmemopen(void *Bytes, size_t Size, const char *Mode) {
  if (!G.recording)
    return fmemopen(Bytes, Size, Mode);
  ModelCall Call((const void *)__sf_model_fmemopen, 2);
  FILE *Stream = openedStream(fmemopen(Bytes, Size, Mode), nullptr);
  if (!Stream || !Bytes)
    return Stream;
  KeepErrno Keep;
  if (TableLock Lock; Lock)
    concretise(Call.argument(1, Size), Call.at(0));
  noteMemoryStream(Stream, Bytes, Size);
  return Stream;
}

SF_MODEL_API int __sf_model_fclose(FILE *Stream) {
  forgetStream(Stream);
  forgetMemoryStream(Stream);
  return fclose(Stream);
}

SF_MODEL_API size_t __sf_model_fread(void *Buffer, size_t Size, size_t Count, FILE *Stream) {
  beginAt(Stream);
  if (!G.recording)
    return fread(Buffer, Size, Count, Stream);
  ModelCall Call((const void *)__sf_model_fread, 3);
  const Reading Before(Stream);
  size_t Got = fread(Buffer, Size, Count, Stream);
  if (Before)
    return elementsModel(Call, Before, Buffer, Call.argument(1, Size), Call.argument(2, Count),
                         Got);
  Before.memory.give(Buffer, Got * Size);
  return Got;
}

SF_MODEL_API size_t __sf_model_fread_unlocked(void *Buffer, size_t Size, size_t Count,
                                              FILE *Stream) {
  beginAt(Stream);
  if (!G.recording)
    return fread_unlocked(Buffer, Size, Count, Stream);
  ModelCall Call((const void *)__sf_model_fread_unlocked, 3);
  const Reading Before(Stream);
  size_t Got = fread_unlocked(Buffer, Size, Count, Stream);
  if (Before)
    return elementsModel(Call, Before, Buffer, Call.argument(1, Size), Call.argument(2, Count),
                         Got);
  Before.memory.give(Buffer, Got * Size);
  return Got;
}

SF_MODEL_API char *__sf_model_fgets(char *Buffer, int Size, FILE *Stream) {
  beginAt(Stream);
  if (!G.recording)
    return fgets(Buffer, Size, Stream);
  ModelCall Call((const void *)__sf_model_fgets, 0);
  const Reading Before(Stream);
  char *Line = fgets(Buffer, Size, Stream);
  KeepErrno Keep;
  if (!Before) {
    if (Line)
      otherLine(Call, Before, Line, strlen(Line), '\n');
    return Line;
  }
  const uint64_t Got = Line ? Before.taken(strlen(Line)) : 0;
  const bool AtEnd = !Line || (Got + 1 < (uint64_t)Size && Got && Buffer[Got - 1] != '\n');
  Before.give(Buffer, Got, Got + AtEnd);
  if (Line)
    clearLabels((uint64_t)Buffer + Got, 1);
  lineEvents(Call, Before, Line, Got, '\n', AtEnd);
  return Line;
}

SF_MODEL_API char *__sf_model_fgets_unlocked(char *Buffer, int Size, FILE *Stream) {
  return __sf_model_fgets(Buffer, Size, Stream);
}

#define SF_CHARACTER_MODEL(name, parameters, stream, real)                                         \
  SF_MODEL_API int __sf_model_##name parameters {                                                  \
    beginAt(stream);                                                                               \
    if (!G.recording)                                                                              \
      return real;                                                                                 \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    const Reading Before(stream);                                                                  \
    return characterModel(Call, Before, real);                                                     \
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
SF_CHARACTER_MODEL(__uflow, (FILE * Stream), Stream, __uflow(Stream))

SF_MODEL_API ssize_t __sf_model_getdelim(char **Line, size_t *Size, int Delimiter, FILE *Stream) {
  beginAt(Stream);
  if (!G.recording)
    return getdelim(Line, Size, Delimiter, Stream);
  ModelCall Call((const void *)__sf_model_getdelim, 0);
  const Reading Before(Stream);
  ssize_t Got = getdelim(Line, Size, Delimiter, Stream);
  if (Line && Size) {
    clearLabels((uint64_t)Line, sizeof(*Line));
    clearLabels((uint64_t)Size, sizeof(*Size));
  }
  return delimitedModel(Call, Before, Got, Line, Delimiter);
}

SF_MODEL_API ssize_t __sf_model___getdelim(char **Line, size_t *Size, int Delimiter, FILE *Stream) {
  return __sf_model_getdelim(Line, Size, Delimiter, Stream);
}

SF_MODEL_API ssize_t __sf_model_getline(char **Line, size_t *Size, FILE *Stream) {
  return __sf_model_getdelim(Line, Size, '\n', Stream);
}

// ---- Positions and ends

#define SF_SEEK_MODEL(name, type)                                                                  \
  SF_MODEL_API int __sf_model_##name(FILE *Stream, type Offset, int Whence) {                      \
    beginAt(Stream);                                                                               \
    if (!G.recording)                                                                              \
      return name(Stream, Offset, Whence);                                                         \
    ModelCall Call((const void *)__sf_model_##name, 2);                                            \
    return seekModel(Call, Stream, Call.argument(1, (uint64_t)Offset), Whence,                     \
                     [&] { return name(Stream, Offset, Whence); });                                \
  }
SF_SEEK_MODEL(fseek, long)
SF_SEEK_MODEL(fseeko, off_t)
SF_SEEK_MODEL(fseeko64, off64_t)

SF_MODEL_API void __sf_model_rewind(FILE *Stream) {
  beginAt(Stream);
  rewind(Stream);
  if (!G.recording)
    return;
  ModelCall Call((const void *)__sf_model_rewind, 0);
  if (isInputStream(Stream))
    placeStream(Stream, 0, false);
}

#define SF_TELL_MODEL(name, type)                                                                  \
  SF_MODEL_API type __sf_model_##name(FILE *Stream) {                                              \
    beginAt(Stream);                                                                               \
    if (!G.recording)                                                                              \
      return name(Stream);                                                                         \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    return tellModel(Call, Stream, name(Stream));                                                  \
  }
SF_TELL_MODEL(ftell, long)
SF_TELL_MODEL(ftello, off_t)
SF_TELL_MODEL(ftello64, off64_t)

#define SF_END_MODEL(name)                                                                         \
  SF_MODEL_API int __sf_model_##name(FILE *Stream) {                                               \
    if (!G.recording)                                                                              \
      return name(Stream);                                                                         \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    return endModel(Call, Stream, name(Stream));                                                   \
  }
SF_END_MODEL(feof)
SF_END_MODEL(feof_unlocked)

SF_MODEL_API void __sf_model_clearerr(FILE *Stream) {
  clearerr(Stream);
  if (!G.recording)
    return;
  ModelCall Call((const void *)__sf_model_clearerr, 0);
  const Position Now = positionOf(Stream);
  if (Now)
    placeStream(Stream, Now.offset, Now.fromEnd);
}
