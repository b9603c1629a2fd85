// Streams over memory of the program: fmemopen().
#ifndef SYMFLEET_RUNTIME_MEMORY_STREAM_H
#define SYMFLEET_RUNTIME_MEMORY_STREAM_H

#include "shadow.h"

#include <stdio.h>

namespace sf {

// The stream reads Size bytes at Bytes; what it was before is forgotten.
void noteMemoryStream(FILE *Stream, const void *Bytes, uint64_t Size);
void forgetMemoryStream(FILE *Stream);

// The memory that a stream reads next, before it does.
struct MemoryAhead {
  explicit MemoryAhead(FILE *Stream);
  explicit operator bool() const { return bytes; }

  // Got bytes arrived at Buffer. Those that are others than in the memory by now
  // have no label: loads see to that.
  void give(void *Buffer, uint64_t Got) const;

  const uint8_t *bytes = nullptr;
  uint64_t size = 0;
};

} // namespace sf

#endif
