// Reads and writes of descriptors, under whatever name the program calls them.
#ifndef SYMFLEET_RUNTIME_READS_H
#define SYMFLEET_RUNTIME_READS_H

#include "model.h"

#include <sys/types.h>

namespace sf {

ssize_t readDescriptor(ModelCall &Call, int Fd, void *Buffer, Operand Size);
ssize_t readDescriptorAt(ModelCall &Call, int Fd, void *Buffer, Operand Size, off_t Offset);
ssize_t writeDescriptor(int Fd, const void *Buffer, size_t Size);
off_t seekDescriptor(ModelCall &Call, int Fd, Operand Offset, int Whence);

} // namespace sf

#endif
