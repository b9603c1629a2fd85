// Labels through pipes of the program.
#ifndef SYMFLEET_RUNTIME_PIPES_H
#define SYMFLEET_RUNTIME_PIPES_H

#include <stdint.h>

namespace sf {

// Bytes in a pipe now, -1 for another descriptor. Asked before a transfer.
int64_t pipeFill(int Fd);

// Size bytes at Buffer went into, or came out of, a pipe that held Before bytes.
void pipeWritten(int Fd, int64_t Before, const void *Buffer, uint64_t Size);
bool pipeRead(int Fd, int64_t Before, void *Buffer, uint64_t Size);

} // namespace sf

#endif
