// Models of what the buffer of std::cin is asked for by std::istreambuf_iterator and
// others: its virtual functions, which the program calls by its table.
#include "input.h"
#include "istream_text.h"
#include "libraries.h"
#include "model.h"

using namespace sf;

namespace {

int standardInputByte(void *Buffer, const VirtualLead &Lead, const void *Caller) {
  const auto Real = (int (*)(void *))Lead.real;
  FILE *Stream = field<FILE *>(Buffer, 64);
  constexpr int InBackup = 0x100;
  // The library's own calls are part of what has a model.
  if (!G.recording || isLibraryCode(Caller) || !isInputStream(Stream) || Stream->_flags & InBackup)
    return Real(Buffer);
  ModelCall Call(Lead.model, 0);
  off_t Offset = -1;
  {
    KeepErrno Keep;
    Offset = ftello(Stream);
  }
  const int Result = Real(Buffer);
  if (Offset < 0)
    return Result;
  KeepErrno Keep;
  uint8_t Byte = (uint8_t)Result;
  if (Result == EOF) {
    deliver(&Byte, (uint64_t)Offset, 0, 1);
    return Result;
  }
  __atomic_fetch_add(&G.header->symbolic_bytes, 1, __ATOMIC_RELAXED);
  if (TableLock Lock; Lock)
    Call.returns(zext(inputBytes((uint64_t)Offset, 8, Byte), 8, 32).label);
  return Result;
}

int standardInputUnderflow(void *Buffer) {
  return standardInputByte(Buffer, StandardInputLeads[0], __builtin_return_address(0));
}
int standardInputUflow(void *Buffer) {
  return standardInputByte(Buffer, StandardInputLeads[1], __builtin_return_address(0));
}

} // namespace

VirtualLead sf::StandardInputLeads[VirtualLeadsMax] = {
    {nullptr, (void *)standardInputUnderflow, nullptr},
    {nullptr, (void *)standardInputUflow, nullptr}};

void sf::findStandardInputLeads() {
  for (unsigned I = 0; SyncFilebufTable && I < VirtualLeadsMax; ++I)
    StandardInputLeads[I].slot = SyncFilebufTable + 11 + I;
}
