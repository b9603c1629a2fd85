// Which bytes are the input.
#ifndef SYMFLEET_RUNTIME_INPUT_H
#define SYMFLEET_RUNTIME_INPUT_H

#include "shadow.h"

#include <stdio.h>

namespace sf {

void enterInput(); // at the start of an execution

bool isInputFd(int Fd);
bool isInputStream(FILE *Stream);
void forgetStream(FILE *Stream); // it was closed, or its number may be reused

// A file was opened: counts it, and lists its path for a run that reads no
// symbolic byte.
void noteOpened(int Fd, const char *Path);

// Size bytes of the input from Offset arrived at Buffer, of Wanted. Bytes that
// may be others are compared with the file at Doubted: only equal ones count.
void deliver(void *Buffer, uint64_t Offset, uint64_t Size, uint64_t Wanted, int Doubted = -1);

// The input file's byte at Offset; -1 if there is none.
int genuineByte(int Fd, uint64_t Offset);

} // namespace sf

#endif
