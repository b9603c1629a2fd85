// Models of how much a std::istream reads at once, and of where it stands: both say
// something of the input's length.
#include "input.h"
#include "istream_text.h"
#include "model.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace sf;

namespace {

// So many bytes were wanted: all of them are there, or the stream fails.
void countKnown(ModelCall &Call, Position From, void *Stream, Operand Wanted) {
  const Operand Count = countAfter(From, Wanted);
  if (Count.value != (uint64_t)lastCountOf(Stream))
    return;
  recordBranch(compare(SF_OP_EQ, 64, Count, Wanted), Call.at(0));
  recordGoal(compare(SF_OP_EQ, 64, Wanted, constant(0)), Call.at(1));
  // What was read is there on this path.
  recordFact(compare(SF_OP_ULE, 64, constant(Count.value), Wanted), Call.at(1));
  storeLabel((uint64_t)&lastCountOf(Stream), sizeof(int64_t), Count.label);
}

void bytesRead(ModelCall &Call, const StreamText &Before, Position From, void *Stream, char *To,
               Operand Wanted) {
  KeepErrno Keep;
  const uint64_t Got = (uint64_t)lastCountOf(Stream);
  clearLabels((uint64_t)&lastCountOf(Stream), sizeof(int64_t));
  if (!From) {
    uint8_t Room[Source::FileBytesMax];
    if (!Before.isKnown())
      return;
    const Source Text = Before.source(Room);
    Before.noteRead(Text);
    TableLock Lock;
    for (uint64_t I = 0; Lock && I < Got && Text.isKnown(I); ++I)
      storeLabel((uint64_t)To + I, 1, live(Text.operand(I).label, (uint8_t)To[I]));
    return;
  }
  deliver(To, (uint64_t)From.offset, Got, Wanted.value, Undoubted);
  if (Got == Wanted.value)
    countUpTo(Stream, From.offset + (int64_t)Got);
  if (TableLock Lock; Lock) {
    fixLength(From, Call.atEnd(true));
    countKnown(Call, From, Stream, Wanted);
  }
}

uint64_t fileSizeTold(const void *Self, const char *Path, uint64_t Size) {
  struct stat Facts;
  KeepErrno Keep;
  if (!G.recording)
    return Size;
  ModelCall Call(Self, 0);
  if (isSocketInput() || stat(Path, &Facts) != 0 || Facts.st_dev != G.header->input_dev ||
      Facts.st_ino != G.header->input_ino)
    return Size;
  TableLock Lock;
  const Operand Length = Lock ? inputLength() : constant(0);
  if (!Length.label || Length.value != Size)
    return Size;
  Call.returns(Length.label);
  noteLengthTold(Length);
  return Size;
}

// std::fpos: an offset, and what a conversion of characters has kept.
struct StreamPlace {
  int64_t offset, conversion;
};

} // namespace

SF_STREAM_REAL(void *, _ZNSi4readEPcl, (void *, char *, int64_t))
SF_MODEL_API void *__sf_model__ZNSi4readEPcl(void *Stream, char *To, int64_t Size) {
  if (!G.recording)
    return real_ZNSi4readEPcl(Stream, To, Size);
  ModelCall Call((const void *)__sf_model__ZNSi4readEPcl, 3);
  const Operand Wanted = Call.argument(2, (uint64_t)Size);
  const StreamText Before(Stream);
  const Position From = Size >= 0 ? streamPosition(Stream) : Position();
  void *Result = real_ZNSi4readEPcl(Stream, To, Size);
  bytesRead(Call, Before, From, Stream, To, Wanted);
  Before.finish();
  return Result;
}

// At -O0 it is called.
SF_STREAM_REAL(int64_t, _ZNKSi6gcountEv, (const void *))
SF_MODEL_API int64_t __sf_model__ZNKSi6gcountEv(const void *Stream) {
  const int64_t Result = real_ZNKSi6gcountEv(Stream);
  afterwards((const void *)__sf_model__ZNKSi6gcountEv, [&](ModelCall &Call) {
    const uint64_t At = (uint64_t)&lastCountOf((void *)Stream);
    Call.returns(loadOperand(At, 8, (uint64_t)Result).label);
  });
  return Result;
}

SF_STREAM_REAL(StreamPlace, _ZNSi5tellgEv, (void *))
SF_MODEL_API StreamPlace __sf_model__ZNSi5tellgEv(void *Stream) {
  const StreamPlace Result = real_ZNSi5tellgEv(Stream);
  afterwards((const void *)__sf_model__ZNSi5tellgEv, [&](ModelCall &Call) {
    const Position Now = streamPosition(Stream);
    if (!Now || Now.offset != Result.offset)
      return;
    const Operand Told = offsetOf(Now);
    noteLengthTold(Told);
    Call.returns(Told.label);
    Call.alsoReturns(0);
  });
  return Result;
}

SF_STREAM_REAL(uint64_t, _ZNSt10filesystem9file_sizeERKNS_7__cxx114pathE, (const char *const *))
SF_MODEL_API uint64_t
__sf_model__ZNSt10filesystem9file_sizeERKNS_7__cxx114pathE(const char *const *Path) {
  beginAtPath(AT_FDCWD, *Path);
  return fileSizeTold((const void *)__sf_model__ZNSt10filesystem9file_sizeERKNS_7__cxx114pathE,
                      *Path, real_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathE(Path));
}

SF_STREAM_REAL(uint64_t, _ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code,
               (const char *const *, void *))
SF_MODEL_API uint64_t __sf_model__ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code(
    const char *const *Path, void *Error) {
  beginAtPath(AT_FDCWD, *Path);
  return fileSizeTold(
      (const void *)__sf_model__ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code,
      *Path, real_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code(Path, Error));
}
