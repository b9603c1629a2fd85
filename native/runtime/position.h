// Where reads of the input stand, and what the input's length says about them.
//
// Theory of operation. How many bytes a read gives, whether a stream is at its
// end, where a descriptor stands after a seek to the end: all this depends on
// the length of the input, which is a value like any other (SF_OP_LENGTH). A
// position is either a number that the program has chosen or counted, or it
// moves with the end; the two look alike when a read stops exactly at the end,
// so what was done last is remembered for each descriptor and stream. After a
// read that met the end it is the smaller one of the end and the place where a
// longer input would have left it, so that a loop that reads until nothing comes
// can be told to turn once more. Whoever
// else moved it is noticed by the place where it stands, and what cannot be told
// apart then counts as moving with the end, which claims nothing.
#ifndef SYMFLEET_RUNTIME_POSITION_H
#define SYMFLEET_RUNTIME_POSITION_H

#include "model.h"

#include <stdint.h>
#include <stdio.h>

namespace sf {

struct Position {
  int64_t offset = -1;  // negative: not in the input
  bool fromEnd = false; // another length would move it
  // At the end, behind a read that wanted more: where it would stand if the input
  // went on. 0: that cannot be told.
  int64_t onward = 0;
  explicit operator bool() const { return offset >= 0; }
};

void forgetPositions();
void forgetPosition(FILE *Stream);

// Where a read would begin now.
Position positionOf(int Fd);
Position positionOf(FILE *Stream);

// A read of Wanted bytes at From gave Got; the position went on. IsBlock: it would
// have taken all of them, whatever they are, from an input that had them.
void advance(int Fd, Position From, uint64_t Got, uint64_t Wanted, bool IsBlock);
void advance(FILE *Stream, Position From, uint64_t Got, uint64_t Wanted, bool IsBlock);

// Positions in a socket are counted by what the models see, unless the kernel
// knows them.
bool areSocketPositionsExact();

// It was put somewhere.
void placeFd(int Fd, int64_t Offset, bool FromEnd, int64_t Onward = 0);
void placeStream(FILE *Stream, int64_t Offset, bool FromEnd);

// A descriptor shares the position of another one.
void sharePosition(int Fd, int With);

// ---- Expressions; the caller holds the table lock.

Operand inputLength(); // 64 bits

// How many bytes a read of Wanted bytes (64 bits) at From gives.
Operand countAfter(Position From, Operand Wanted);

// One bit: the input has Bytes more bytes behind From.
Operand has(Position From, uint64_t Bytes);

// The position itself, 64 bits.
Operand offsetOf(Position At);

// The program was told of the length, and so of the input.
void noteLengthTold(Operand Length);

// One bit: the stream has met the end.
Operand endSeen(FILE *Stream);

// Whether a character was there decides what the program does next.
void recordCharacter(Position From, Place At);

// What was read from a position that moves with the end holds for this length.
void fixLength(Position From, Place At);

} // namespace sf

#endif
