// Where libstdc++ keeps what a stream reads next.
#include "istream_text.h"

#include "input.h"
#include "model.h"

using namespace sf;

extern "C" {
// The class behind a std::cin that has a buffer of its own is not exported, but it
// inherits this.
int filebufUnderflow(void *) asm("_ZNSt13basic_filebufIcSt11char_traitsIcEE9underflowEv")
    __attribute__((weak));
void setState(void *Ios,
              int State) asm("_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate")
    __attribute__((weak));
}

namespace {

uint64_t underflowOf(void *Buffer) { return tableOf(Buffer)[2 + 9]; }
bool isFileBuffer(void *Buffer) { return underflowOf(Buffer) == (uint64_t)filebufUnderflow; }

// What programs have counted; more streams than that are as if never seen.
struct Counted {
  void *buffer;
  int64_t upTo;
};
constexpr unsigned CountedMax = 16;
Counted LastCounted[CountedMax];

Counted &countedOf(void *Buffer) { return LastCounted[(uint64_t)Buffer / 64 % CountedMax]; }

} // namespace

Position sf::streamPosition(void *Stream) {
  void *Buffer = bufferOf(Stream);
  if (!G.recording || !Buffer || stateOf(Stream) != 0)
    return {};
  KeepErrno Keep;
  if (tableOf(Buffer) == SyncFilebufTable)
    return positionOf(field<FILE *>(Buffer, 64));
  FILE *Behind = isFileBuffer(Buffer) ? field<FILE *>(Buffer, 104) : nullptr;
  if (!Behind || !isInputFd(fileno(Behind)))
    return {};
  const off_t Taken = lseek(fileno(Behind), 0, SEEK_CUR);
  const int64_t Held = field<char *>(Buffer, 24) - field<char *>(Buffer, 16);
  if (Taken < Held)
    return {};
  const int64_t At = Taken - Held;
  const Counted &Known = countedOf(Buffer);
  const bool IsCounted = At == 0 || (Known.buffer == Buffer && Known.upTo == At);
  return {At, !IsCounted && (uint64_t)At == G.header->input_size, 0};
}

void sf::countUpTo(void *Stream, int64_t Offset) {
  void *Buffer = bufferOf(Stream);
  countedOf(Buffer) = {Buffer, Offset};
}

StreamText::StreamText(void *Stream) {
  if (!G.recording)
    return;
  KeepErrno Keep;
  void *Ios = iosOf(Stream);
  width = field<int64_t>(Ios, 16);
  flags = field<int>(Ios, 24);
  if (void *Buffer = bufferOf(Stream); Buffer && stateOf(Stream) == 0)
    find(Buffer);
  if (!isKnown() || !setState)
    return;
  ios = Ios;
  ofInput = !file && streamPosition(Stream);
  thrown = field<int>(Ios, 28);
  field<int>(Ios, 28) = 0;
}

void StreamText::finish() const {
  if (!ios)
    return;
  field<int>(ios, 28) = thrown;
  const int State = field<int>(ios, 32);
  if (State & thrown)
    setState(ios, State);
}

Source StreamText::source(uint8_t *Room) const {
  return file ? Source::file(fileno(file), (uint64_t)offset, Room) : Source::memory(memory, size);
}

NumberForm StreamText::form(NumberRange Range) const {
  const int Base = flags & (Decimal | Hexadecimal | Octal);
  NumberForm Form;
  Form.base = Base == Decimal ? 10 : Base == Hexadecimal ? 16 : Base == Octal ? 8 : 0;
  Form.range = Range;
  Form.skipsSpace = flags & SkipsSpace;
  Form.eatsPrefix = true;
  return Form;
}

bool StreamText::skipsSpace() const { return flags & SkipsSpace; }

uint64_t StreamText::wordMost(uint64_t Room) const {
  return width > 0 && (uint64_t)width < Room ? (uint64_t)width : Room;
}

void StreamText::noteRead(const Source &From) const {
  uint8_t Byte;
  if (ofInput && field<int>(ios, 32) & EndOfFile) // in a buffer of its own
    sf::deliver(&Byte, G.header->input_size, 0, 1);
  if (!file)
    return;
  __atomic_fetch_add(&G.header->symbolic_bytes, From.size() ? 1 : 0, __ATOMIC_RELAXED);
  if (feof(file) && From.size() < Source::FileBytesMax)
    sf::deliver(&Byte, (uint64_t)offset + From.size(), 0, 1);
}

void StreamText::find(void *Buffer) {
  const uint64_t *Table = tableOf(Buffer);
  const bool IsFile = isFileBuffer(Buffer);
  if (Table == SyncFilebufTable) {
    FILE *Stream = field<FILE *>(Buffer, 64);
    constexpr int InBackup = 0x100;
    if (isInputStream(Stream) && !(Stream->_flags & InBackup) && (offset = ftello(Stream)) >= 0)
      file = Stream;
    return;
  }
  // An empty buffer is filled as the real function would do at once; where
  // that could fail, it is left alone.
  if (field<char *>(Buffer, 16) == field<char *>(Buffer, 24)) {
    FILE *Behind = IsFile ? field<FILE *>(Buffer, 104) : nullptr;
    if (Behind ? !isInputFd(fileno(Behind)) : Table != StringbufTable)
      return;
    ((int (*)(void *))underflowOf(Buffer))(Buffer);
  }
  memory = field<const uint8_t *>(Buffer, 16);
  size = (uint64_t)(field<const uint8_t *>(Buffer, 24) - memory);
}
