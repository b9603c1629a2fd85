// Models of sscanf() and its relatives.
//
// The real function does the work; then its format is followed over the text that it
// read (scanner.h).
#include "input.h"
#include "memory_stream.h"
#include "model.h"
#include "scanner.h"

#include <stdarg.h>

using namespace sf;

namespace {

int scannedString(const ModelCall &Call, const char *S, const char *FormatText, va_list Arguments,
                  bool KnowsBinary, int Assigned) {
  KeepErrno Keep;
  TableLock Lock;
  if (Lock)
    Scanner(Call, Source::string(S), FormatText, KnowsBinary).follow(Arguments, Assigned);
  return Assigned;
}

// Where a stream stood before the real function read from it.
struct StreamBefore {
  explicit StreamBefore(FILE *Stream) : stream(Stream), memory(Stream) {
    KeepErrno Keep;
    constexpr int InBackup = 0x100; // characters that ungetc() put back
    if (G.recording && isInputStream(Stream) && !(Stream->_flags & InBackup))
      offset = ftello(Stream);
  }

  FILE *stream;
  MemoryAhead memory;
  off_t offset = -1;
};

int scannedStream(const ModelCall &Call, const StreamBefore &Before, const char *FormatText,
                  va_list Arguments, bool KnowsBinary, int Assigned) {
  KeepErrno Keep;
  if (Before.memory)
    if (TableLock Lock; Lock)
      Scanner(Call, Source::memory(Before.memory.bytes, Before.memory.size), FormatText,
              KnowsBinary)
          .follow(Arguments, Assigned);
  if (Before.offset < 0)
    return Assigned;
  uint8_t Room[Source::FileBytesMax];
  Source From = Source::file(fileno(Before.stream), (uint64_t)Before.offset, Room);
  uint64_t End = 0;
  if (TableLock Lock; Lock)
    End = Scanner(Call, From, FormatText, KnowsBinary).follow(Arguments, Assigned);
  __atomic_fetch_add(&G.header->symbolic_bytes, End + (End < From.size()), __ATOMIC_RELAXED);
  if (feof(Before.stream) && From.size() < Source::FileBytesMax)
    sf::deliver(Room, (uint64_t)Before.offset + From.size(), 0, 1);
  return Assigned;
}

} // namespace

#define SF_REAL_SCAN(prefix, weakness)                                                             \
  extern "C" weakness int real_##prefix##vsscanf(const char *, const char *,                       \
                                                 va_list) asm(#prefix "vsscanf");                  \
  extern "C" weakness int real_##prefix##vfscanf(FILE *, const char *,                             \
                                                 va_list) asm(#prefix "vfscanf");
SF_REAL_SCAN(, )
SF_REAL_SCAN(__isoc99_, )
SF_REAL_SCAN(__isoc23_, __attribute__((weak)))

#define SF_SCAN_MODELS(prefix, binary)                                                             \
  SF_MODEL_API int __sf_model_##prefix##vsscanf(const char *S, const char *F, va_list List) {      \
    if (!G.recording)                                                                              \
      return real_##prefix##vsscanf(S, F, List);                                                   \
    ModelCall Call((const void *)__sf_model_##prefix##vsscanf, 0);                                 \
    va_list Copy;                                                                                  \
    va_copy(Copy, List);                                                                           \
    int Assigned = real_##prefix##vsscanf(S, F, List);                                             \
    scannedString(Call, S, F, Copy, binary, Assigned);                                             \
    va_end(Copy);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##vfscanf(FILE *S, const char *F, va_list List) {            \
    beginAt(S);                                                                                    \
    if (!G.recording)                                                                              \
      return real_##prefix##vfscanf(S, F, List);                                                   \
    ModelCall Call((const void *)__sf_model_##prefix##vfscanf, 0);                                 \
    const StreamBefore Before(S);                                                                  \
    va_list Copy;                                                                                  \
    va_copy(Copy, List);                                                                           \
    int Assigned = real_##prefix##vfscanf(S, F, List);                                             \
    scannedStream(Call, Before, F, Copy, binary, Assigned);                                        \
    va_end(Copy);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##vscanf(const char *F, va_list List) {                      \
    int Assigned = __sf_model_##prefix##vfscanf(stdin, F, List);                                   \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##sscanf(const char *S, const char *F, ...) {                \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vsscanf(S, F, List);                                       \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##fscanf(FILE *S, const char *F, ...) {                      \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vfscanf(S, F, List);                                       \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##scanf(const char *F, ...) {                                \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vfscanf(stdin, F, List);                                   \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }
SF_SCAN_MODELS(, false)
SF_SCAN_MODELS(__isoc99_, false)
SF_SCAN_MODELS(__isoc23_, true)
