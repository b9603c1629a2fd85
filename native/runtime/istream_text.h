// The text that a std::istream of libstdc++ is about to read.
//
// It is found in the buffer of the stream, or in the input's file behind std::cin
// as long as that shares the buffer of stdin. The layouts are those of the ABI that
// libstdc++ has kept since GCC 5.
#ifndef SYMFLEET_RUNTIME_ISTREAM_TEXT_H
#define SYMFLEET_RUNTIME_ISTREAM_TEXT_H

#include "position.h"
#include "source.h"

// A member of libstdc++, as a model calls it.
#define SF_STREAM_REAL(type, name, parameters)                                                     \
  extern "C" __attribute__((weak)) type real##name parameters asm(#name);

// The model of a member that takes one thing from a stream and stores it. Taken: what
// that means, said of Call, Stream, Before and To.
#define SF_STREAM_TAKES(name, type, taken)                                                         \
  SF_STREAM_REAL(void *, name, (void *, type *))                                                   \
  SF_MODEL_API void *__sf_model_##name(void *Stream, type *To) {                                   \
    if (!G.recording)                                                                              \
      return real##name(Stream, To);                                                               \
    const StreamText Before(Stream);                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    void *Result = real##name(Stream, To);                                                         \
    taken;                                                                                         \
    Before.finish();                                                                               \
    return Result;                                                                                 \
  }

extern "C" {
// The table of the class behind a std::cin that shares the buffer of stdin.
extern const uint64_t
    SyncFilebufTable[] asm("_ZTVN9__gnu_cxx18stdio_sync_filebufIcSt11char_traitsIcEEE")
        __attribute__((weak));
extern const uint64_t
    StringbufTable[] asm("_ZTVNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEE")
        __attribute__((weak));
}

namespace sf {

// A member of an object of libstdc++.
template <typename T> T &field(void *Object, uint64_t Offset) {
  return *(T *)((char *)Object + Offset);
}

// Bits of std::ios::iostate and std::ios::fmtflags.
enum IosState : int { IsBad = 1 << 0, EndOfFile = 1 << 1, HasFailed = 1 << 2 };
enum IosFlags : int {
  Decimal = 1 << 1,
  Hexadecimal = 1 << 3,
  PadsInside = 1 << 4,
  PadsBehind = 1 << 5,
  Octal = 1 << 6,
  PadsBefore = 1 << 7,
  ShowsBase = 1 << 9,
  ShowsPlus = 1 << 11,
  SkipsSpace = 1 << 12,
  Uppercase = 1 << 14
};

// Parts of a std::istream; all but the last are in a std::ostream, too.
inline void *iosOf(void *Stream) { return (char *)Stream + (*(int64_t **)Stream)[-3]; }
inline int &stateOf(void *Stream) { return field<int>(iosOf(Stream), 32); }
inline bool failedOf(void *Stream) { return stateOf(Stream) & (IsBad | HasFailed); }
inline void *bufferOf(void *Stream) { return field<void *>(iosOf(Stream), 232); }
inline const uint64_t *tableOf(void *Buffer) { return field<const uint64_t *>(Buffer, 0) - 2; }
// How many bytes the last read that was not formatted has given.
inline int64_t &lastCountOf(void *Stream) { return field<int64_t>(Stream, 8); }

// Where a std::istream of the input's file stands. Its position is a number if the
// program has counted up to there, as it is for descriptors.
Position streamPosition(void *Stream);
void countUpTo(void *Stream, int64_t Offset);

// A std::istream before it is read from.
//
// The program may have asked for exceptions. One that leaves the real function would
// pass by what has to be recorded, so none is asked for until finish(), which then
// does what the real function would have done.
class StreamText {
public:
  explicit StreamText(void *Stream);

  // When all is recorded: throws if the stream's state is one to be thrown for.
  void finish() const;

  bool isKnown() const { return memory || file; }

  Source source(uint8_t *Room) const;
  NumberForm form(NumberRange Range) const;
  bool skipsSpace() const;
  // Most characters of a word, of which there is room for Room.
  uint64_t wordMost(uint64_t Room) const;

  // What the program has read now counts as delivered.
  void noteRead(const Source &From) const;

private:
  void find(void *Buffer);

  const uint8_t *memory = nullptr;
  uint64_t size = 0;
  FILE *file = nullptr;
  off_t offset = -1;
  bool ofInput = false; // the memory is a buffer of the input's file
  int64_t width = 0;
  int flags = 0;
  void *ios = nullptr;
  int thrown = 0; // the states that the program wants an exception for
};

} // namespace sf

#endif
