#include "memory_stream.h"

#include "model.h"

namespace sf {

namespace {

struct MemoryStream {
  FILE *stream;
  const uint8_t *bytes;
  uint64_t size;
};
constexpr unsigned MemoryStreamsMax = 64;
MemoryStream Known[MemoryStreamsMax]; // under the table lock
unsigned KnownCount;

MemoryStream *find(FILE *Stream) {
  for (unsigned I = 0; I < KnownCount; ++I)
    if (Known[I].stream == Stream)
      return &Known[I];
  return nullptr;
}

} // namespace

void noteMemoryStream(FILE *Stream, const void *Bytes, uint64_t Size) {
  TableLock Lock;
  if (!Lock)
    return;
  MemoryStream *Slot = find(Stream);
  if (!Slot)
    Slot = find(nullptr);
  if (!Slot && KnownCount < MemoryStreamsMax)
    Slot = &Known[KnownCount++];
  if (Slot)
    *Slot = {Stream, (const uint8_t *)Bytes, Size};
}

void forgetMemoryStream(FILE *Stream) {
  if (!KnownCount)
    return;
  TableLock Lock;
  if (MemoryStream *Slot = Lock ? find(Stream) : nullptr)
    *Slot = {};
}

MemoryAhead::MemoryAhead(FILE *Stream) {
  if (!KnownCount || !Stream)
    return;
  constexpr int InBackup = 0x100; // characters that ungetc() put back
  KeepErrno Keep;
  TableLock Lock;
  const MemoryStream *Slot = Lock ? find(Stream) : nullptr;
  if (!Slot || Stream->_flags & InBackup)
    return;
  const off_t At = ftello(Stream);
  if (At < 0 || (uint64_t)At > Slot->size)
    return;
  bytes = Slot->bytes + At;
  size = Slot->size - (uint64_t)At;
}

void MemoryAhead::give(void *Buffer, uint64_t Got) const {
  TableLock Lock;
  clearLabels((uint64_t)Buffer, Got);
  if (Lock && bytes)
    copyLabels((uint64_t)Buffer, (uint64_t)bytes, Got < size ? Got : size);
}

} // namespace sf
