#include "position.h"

#include "input.h"
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sf {

namespace {

struct Descriptor {
  int64_t expected; // where it stands if nobody else moved it
  bool fromEnd;
  int64_t onward;
};
constexpr unsigned DescriptorsMax = 1024;
Descriptor Descriptors[DescriptorsMax];

struct StreamState {
  FILE *stream;
  int64_t expected;
  bool fromEnd;
  int64_t buffered; // bytes that macros may take without a call
  int64_t labelled; // up to where the buffer has labels
  int64_t taken;    // of a socket: bytes in the hands of the library
  int64_t reach;    // the end of the farthest read since the end flag was cleared
  int64_t onward;
};
constexpr unsigned StreamsMax = 64;
StreamState KnownPositions[StreamsMax];

uint64_t sizeNow() { return G.header->input_size; }

// Reads at the end say where the position would be, up to here behind it: a
// program that goes on reading there would record without end.
constexpr int64_t OnwardMax = 4096; // bytes

// Position::onward behind a read.
int64_t onwardAfter(Position From, uint64_t Got, uint64_t Wanted, bool IsBlock) {
  const bool MeetsEnd = Got < Wanted && (uint64_t)From.offset + Got >= sizeNow();
  if (!IsBlock || !MeetsEnd)
    return 0;
  if (!From.fromEnd)
    return From.offset + (int64_t)Wanted;
  const bool Far = From.onward > (int64_t)sizeNow() + OnwardMax;
  return From.onward && !Far ? From.onward + (int64_t)Wanted : 0;
}

// Where a read begins if the input goes on there.
uint64_t startOf(Position From) { return (uint64_t)(From.onward ? From.onward : From.offset); }

// Whether the length says nothing of what is read there.
bool movesWithEnd(Position From) { return From.fromEnd && !From.onward; }

// What stands at the end without anybody knowing why moves with it.
bool unexplained(int64_t Offset, bool Fresh) {
  return (uint64_t)Offset == sizeNow() && !(Fresh && Offset == 0);
}

int64_t buffered(FILE *F) { return F->_IO_read_end - F->_IO_read_ptr; }

bool hasPushedBack(FILE *F) {
  constexpr int InBackup = 0x100; // _IO_IN_BACKUP
  return F->_flags & InBackup;
}

StreamState *findStream(FILE *F) {
  for (StreamState &S : KnownPositions)
    if (S.stream == F)
      return &S;
  return nullptr;
}

StreamState *enterStream(FILE *F, int64_t Offset) {
  if (StreamState *S = findStream(F))
    return S;
  StreamState *Free = findStream(nullptr);
  if (!Free) // as if it had never been seen
    Free = &KnownPositions[(uint64_t)F / 64 % StreamsMax];
  *Free = {F, Offset, unexplained(Offset, true), 0, 0, 0, 0, 0};
  if (isSocketInput())
    Free->taken = (int64_t)G.header->input_position;
  return Free;
}

// How much of the input the kernel has given out, -1 where it cannot tell.
int64_t takenFrom(int Fd) {
  int Left = 0;
  if (!areSocketPositionsExact() || ioctl(Fd, FIONREAD, &Left) != 0 || Left < 0)
    return -1;
  return (int64_t)sizeNow() - Left;
}

int64_t socketOffset(int Fd) {
  int64_t Taken = takenFrom(Fd);
  return Taken >= 0 ? Taken : (int64_t)G.header->input_position;
}

int64_t socketOffset(FILE *F) {
  if (hasPushedBack(F))
    return -1;
  int64_t Taken = takenFrom(fileno(F));
  if (Taken < 0)
    Taken = findStream(F) ? findStream(F)->taken : (int64_t)G.header->input_position;
  return Taken - buffered(F);
}

} // namespace

bool areSocketPositionsExact() { return isSocketInput() && hasPeerSentAll(); }

void noteLengthTold(Operand Length) {
  if (Length.label)
    __atomic_fetch_add(&G.header->symbolic_bytes, 1, __ATOMIC_RELAXED);
}

void forgetPositions() {
  memset(Descriptors, 0, sizeof(Descriptors));
  memset(KnownPositions, 0, sizeof(KnownPositions));
}

void forgetPosition(FILE *F) {
  if (StreamState *S = findStream(F))
    *S = {};
}

Position positionOf(int Fd) {
  if (!isInputFd(Fd))
    return {};
  const int Saved = errno;
  int64_t Offset = isSocketInput() ? socketOffset(Fd) : lseek(Fd, 0, SEEK_CUR);
  errno = Saved;
  if (Offset < 0 || (unsigned)Fd >= DescriptorsMax)
    return {Offset, Offset >= 0 && unexplained(Offset, false), 0};
  const Descriptor &D = Descriptors[Fd];
  if (D.expected != Offset)
    return {Offset, unexplained(Offset, false), 0};
  return {Offset, D.fromEnd, D.onward};
}

Position positionOf(FILE *F) {
  if (!isInputStream(F))
    return {};
  const int Saved = errno;
  int64_t Offset = isSocketInput() ? socketOffset(F) : ftello(F);
  errno = Saved;
  if (Offset < 0)
    return {};
  const StreamState *S = enterStream(F, Offset);
  const bool Explained = Offset >= S->expected && Offset <= S->expected + S->buffered;
  const bool AtEnd = feof_unlocked(F) && (uint64_t)Offset == sizeNow();
  if (Offset == S->expected)
    return {Offset, S->fromEnd, S->onward};
  return {Offset, Explained ? S->fromEnd || AtEnd : unexplained(Offset, false), 0};
}

void placeFd(int Fd, int64_t Offset, bool FromEnd, int64_t Onward) {
  if ((unsigned)Fd < DescriptorsMax)
    Descriptors[Fd] = {Offset, FromEnd, Onward};
}

void placeStream(FILE *F, int64_t Offset, bool FromEnd) {
  StreamState *S = enterStream(F, Offset);
  S->expected = Offset;
  S->fromEnd = FromEnd;
  S->buffered = S->labelled = S->reach = S->onward = 0;
}

void sharePosition(int Fd, int With) {
  if ((unsigned)Fd < DescriptorsMax && (unsigned)With < DescriptorsMax)
    Descriptors[Fd] = Descriptors[With];
}

void advance(int Fd, Position From, uint64_t Got, uint64_t Wanted, bool IsBlock) {
  const int64_t To = From.offset + (int64_t)Got;
  if (isSocketInput())
    G.header->input_position = (uint64_t)To;
  placeFd(Fd, To, From.fromEnd || (Got < Wanted && (uint64_t)To >= sizeNow()),
          onwardAfter(From, Got, Wanted, IsBlock));
}

void advance(FILE *F, Position From, uint64_t Got, uint64_t Wanted, bool IsBlock) {
  const int64_t To = From.offset + (int64_t)Got;
  const int64_t Reach = (int64_t)(startOf(From) + Wanted);
  StreamState *S = enterStream(F, From.offset);
  S->expected = To;
  S->fromEnd = From.fromEnd || (Got < Wanted && (uint64_t)To >= sizeNow());
  if (Reach > S->reach && !movesWithEnd(From))
    S->reach = Reach;
  S->onward = onwardAfter(From, Got, Wanted, IsBlock);
  if (isSocketInput() && !hasPushedBack(F)) {
    S->taken = To + buffered(F);
    if ((uint64_t)S->taken > G.header->input_position)
      G.header->input_position = (uint64_t)S->taken;
  }
  // Macros of the library's header read what lies in the buffer by themselves.
  S->buffered = hasPushedBack(F) ? 0 : buffered(F);
  if (S->buffered > 0 && To + S->buffered != S->labelled) {
    S->labelled = To + S->buffered;
    labelDelivered(F->_IO_read_ptr, (uint64_t)To, (uint64_t)S->buffered,
                   isSocketInput() ? DoubtedByCopy : Undoubted);
  }
}

Operand inputLength() {
  const uint64_t Size = sizeNow();
  if (!G.recording || Size > maskOf(32) || G.header->input_kind == SF_INPUT_ARGV)
    return constant(Size);
  sf_row R{};
  R.op = SF_OP_LENGTH;
  R.bits = 32;
  Label L = internRow(R, Meta{Size, maskOf(32), DependsOnMany, RowLength});
  return zext({L, Size}, 32, 64);
}

Operand has(Position From, uint64_t Bytes) {
  Operand Length = inputLength();
  if (movesWithEnd(From) || Bytes == 0)
    return constant((uint64_t)From.offset + Bytes <= Length.value);
  return compare(SF_OP_ULE, 64, constant(startOf(From) + Bytes), Length);
}

Operand countAfter(Position From, Operand Wanted) {
  Operand Length = inputLength();
  const uint64_t At = startOf(From);
  const uint64_t Rest = Length.value > At ? Length.value - At : 0;
  if (movesWithEnd(From))
    return constant(Rest < Wanted.value ? Rest : Wanted.value);
  Operand Left = binary(SF_OP_SUB, 64, Length, constant(At));
  if (At)
    Left = ite(compare(SF_OP_ULT, 64, constant(At), Length), 64, Left, constant(0));
  Operand Full = compare(SF_OP_ULE, 64, Wanted, Left);
  return ite(Full, 64, Wanted, Left);
}

Operand offsetOf(Position At) {
  if (!At.fromEnd)
    return constant((uint64_t)At.offset);
  Operand Length = inputLength();
  if (At.onward) {
    const Operand There = constant((uint64_t)At.onward);
    return ite(compare(SF_OP_ULT, 64, There, Length), 64, There, Length);
  }
  return binary(SF_OP_ADD, 64, Length, constant((uint64_t)At.offset - Length.value));
}

Operand endSeen(FILE *F) {
  const StreamState *S = isInputStream(F) ? findStream(F) : nullptr;
  if (!S || !S->reach)
    return constant(0);
  return compare(SF_OP_ULT, 64, inputLength(), constant((uint64_t)S->reach));
}

void recordCharacter(Position From, Place At) {
  constexpr int64_t AlwaysBelow = 64; // then at powers of two and at the end
  const int64_t Offset = From.offset;
  if (Offset >= AlwaysBelow && (Offset & (Offset - 1)) && (uint64_t)Offset + 2 < sizeNow())
    return;
  recordBranch(has(From, 1), At);
}

void fixLength(Position From, Place At) {
  if (From.fromEnd && (uint64_t)From.offset < sizeNow())
    recordFact(inputLength(), At);
}

} // namespace sf
