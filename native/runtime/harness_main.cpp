// The main of a program that has LLVMFuzzerTestOneInput and no main.
//
// Linked only where nobody else defines main. Alone it runs the files that are
// named on its command line, else standard input, as libFuzzer's runner does.
// Under an executor each input is a fork of a process in which
// LLVMFuzzerInitialize has been called: what a harness leaves behind in global
// state can never reach another input.
#include "input.h"
#include "position.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace sf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int *Count, char ***Arguments);

extern "C" __attribute__((visibility("default"))) const char __sf_main_is_instrumented = 1;

namespace {

[[noreturn]] void fail(const char *Path, const char *What) {
  dprintf(2, "%s: %s\n", Path, What);
  _exit(66);
}

struct Bytes {
  uint8_t *data;
  size_t size;
};

Bytes readAll(int Fd, const char *Path) {
  Bytes All = {nullptr, 0};
  for (size_t Room = 0;;) {
    if (All.size == Room) {
      Room = Room ? 2 * Room : 4096;
      All.data = (uint8_t *)realloc(All.data, Room);
      if (!All.data)
        fail(Path, "out of memory");
    }
    ssize_t Got = read(Fd, All.data + All.size, Room - All.size);
    if (Got < 0)
      fail(Path, strerror(errno));
    if (Got == 0)
      return All;
    All.size += (size_t)Got;
  }
}

// Labels the copy that the harness gets, and passes its size as the input's.
void passLabels(Position From, uint8_t *Data, size_t Size) {
  if (!From)
    return;
  deliver(Data, (uint64_t)From.offset, Size, Size, isSocketInput() ? DoubtedByCopy : Undoubted);
  TableLock Lock;
  if (!Lock)
    return;
  Operand Length = inputLength();
  if (Length.value != Size || !Length.label)
    return;
  __sf_tls.arg_token = (const void *)LLVMFuzzerTestOneInput;
  __sf_tls.arg_count = 2;
  __sf_tls.args[0] = 0;
  __sf_tls.args[1] = Length.label;
}

void runOne(int Fd, const char *Path) {
  const Position From = G.recording ? positionOf(Fd) : Position();
  Bytes All = readAll(Fd, Path);
  // Exactly as large as the input: a sanitizer sees a read past its end.
  auto *Data = (uint8_t *)malloc(All.size ? All.size : 1);
  if (!Data)
    fail(Path, "out of memory");
  memcpy(Data, All.data, All.size);
  free(All.data);
  __sf_tls.arg_token = nullptr;
  passLabels(From, Data, All.size);
  // What it returns is for a fuzzer's corpus, and no exit code.
  LLVMFuzzerTestOneInput(Data, All.size);
  free(Data);
}

} // namespace

int main(int Count, char **Arguments) {
  if (LLVMFuzzerInitialize)
    LLVMFuzzerInitialize(&Count, &Arguments);
  __sf_start();
  bool Files = false;
  for (int I = 1; I < Count; ++I) {
    if (Arguments[I][0] == '-')
      continue; // an option of libFuzzer
    Files = true;
    int Fd = open(Arguments[I], O_RDONLY | O_CLOEXEC);
    if (Fd < 0)
      fail(Arguments[I], strerror(errno));
    noteOpened(Fd, Arguments[I]);
    runOne(Fd, Arguments[I]);
    close(Fd);
  }
  if (!Files)
    runOne(0, "standard input");
  return 0;
}
