// Which bytes are the input.
//
// The input is a file, a socket, an argument, or memory that the program
// declares (abi.h says which). Whatever it is, its bytes have offsets, and what
// arrives in the program's memory is labelled by them.
#ifndef SYMFLEET_RUNTIME_INPUT_H
#define SYMFLEET_RUNTIME_INPUT_H

#include "shadow.h"

#include <stdio.h>
#include <sys/types.h>

namespace sf {

// In the fork server: where the input's bytes can be read; the program's
// arguments.
void attachInput(int Fd, int Count, char **Arguments);

// In the fork server, around each fork. `superviseInput` returns when the run
// has ended or at once: whoever waits for it waits anyway.
void prepareInput();
void superviseInput(pid_t Run);

void enterInput(); // at the start of an execution

bool isInputFd(int Fd);
bool isInputStream(FILE *Stream);
void forgetStream(FILE *Stream); // it was closed, or its number may be reused

// True if the input is a stream of bytes without a place in a file.
bool isSocketInput();

// A connection was accepted: it is the input's if it is the first one.
void noteAccepted(int Listener, int Fd);

// The program is about to touch a descriptor or path. The input may be touched
// by a constructor, before main: then executions begin there.
void beginAt(int Fd);
void beginAt(FILE *Stream);
void beginAtPath(int Directory, const char *Path);

// A file was opened: counts it, and lists its path for a run that reads no
// symbolic byte.
void noteOpened(int Fd, const char *Path);

// What `deliver` is to compare with: nothing, a copy of the input, or a file.
inline constexpr int Undoubted = -1, DoubtedByCopy = -2;

// Size bytes of the input from Offset arrived at Buffer, of Wanted. Bytes that
// may be others are compared with the file at Doubted: only equal ones count.
void deliver(void *Buffer, uint64_t Offset, uint64_t Size, uint64_t Wanted,
             int Doubted = Undoubted);

// Labels without counting: what lies in a buffer of the library.
void labelDelivered(void *Buffer, uint64_t Offset, uint64_t Size, int Doubted);

// The input file's byte at Offset; -1 if there is none.
int genuineByte(int Fd, uint64_t Offset);

} // namespace sf

#endif
