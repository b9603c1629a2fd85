// Theory of operation. What a process writes into a pipe and reads back keeps
// its labels in a queue for each pipe, beside the bytes in the kernel. The two
// are in step as long as both hold equally many bytes; where they are not, some
// other process or an uninstrumented library took part, and the queue starts
// anew. A byte that is not the one that was written has no label in any case.
#include "pipes.h"

#include "shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace sf {

namespace {

constexpr uint32_t PipeBytesMax = 1u << 20; // the largest pipe without privilege
struct Item {
  Label label;
  uint8_t value;
};
struct Pipe {
  uint64_t device, node;
  Item *items; // a ring
  uint32_t first, count;
};
constexpr unsigned PipesMax = 16;
Pipe Pipes[PipesMax];

Pipe *pipeOf(int Fd, bool Create) {
  struct stat S;
  if (fstat(Fd, &S) != 0 || !S_ISFIFO(S.st_mode))
    return nullptr;
  Pipe *Free = nullptr;
  for (Pipe &P : Pipes) {
    if (P.items && P.device == S.st_dev && P.node == S.st_ino)
      return &P;
    if (!P.items || P.count == 0)
      Free = &P;
  }
  if (!Create || !Free)
    return nullptr;
  if (!Free->items)
    Free->items = (Item *)mapZeroed(PipeBytesMax * sizeof(Item));
  if (!Free->items)
    return nullptr;
  Free->device = S.st_dev;
  Free->node = S.st_ino;
  Free->first = Free->count = 0;
  return Free;
}

void put(Pipe &P, Item New) {
  if (P.count == PipeBytesMax)
    P.count = 0; // out of step: the next transfer sees it
  P.items[(P.first + P.count++) % PipeBytesMax] = New;
}

} // namespace

int64_t pipeFill(int Fd) {
  const int Saved = errno;
  struct stat S;
  int Bytes = 0;
  bool Is =
      fstat(Fd, &S) == 0 && S_ISFIFO(S.st_mode) && ioctl(Fd, FIONREAD, &Bytes) == 0 && Bytes >= 0;
  errno = Saved;
  return Is ? Bytes : -1;
}

void pipeWritten(int Fd, int64_t Before, const void *Buffer, uint64_t Size) {
  const uint64_t Address = (uint64_t)Buffer;
  TableLock Lock;
  if (!Lock)
    return;
  Pipe *P = pipeOf(Fd, !isConcrete(Address, Size));
  if (!P)
    return;
  if ((int64_t)P->count != Before) {
    P->count = 0;
    for (int64_t I = 0; I < Before && I < (int64_t)PipeBytesMax; ++I)
      put(*P, {0, 0});
  }
  for (uint64_t I = 0; I < Size; ++I) {
    Operand Byte = byteAt((const void *)(Address + I));
    put(*P, {Byte.label, (uint8_t)Byte.value});
  }
}

bool pipeRead(int Fd, int64_t Before, void *Buffer, uint64_t Size) {
  const uint64_t Address = (uint64_t)Buffer;
  TableLock Lock;
  Pipe *P = Lock ? pipeOf(Fd, false) : nullptr;
  if (!P)
    return false;
  if ((int64_t)P->count != Before || Size > P->count) {
    P->count = 0;
    return false;
  }
  for (uint64_t I = 0; I < Size; ++I) {
    const Item &From = P->items[P->first];
    const bool Same = From.value == *(const uint8_t *)(Address + I);
    storeLabel(Address + I, 1, Same ? From.label : 0);
    P->first = (P->first + 1) % PipeBytesMax;
  }
  P->count -= (uint32_t)Size;
  return true;
}

} // namespace sf
