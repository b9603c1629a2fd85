#include "scan_format.h"

#include "number.h"

namespace sf {

ByteSet ByteSet::words(bool NulEnds) {
  ByteSet Out;
  for (unsigned I = 0; I < 256; ++I)
    Out.members[I] = !isSpaceByte(I) && !(NulEnds && I == 0);
  return Out;
}

const char *ByteSet::parse(const char *F, bool NulEnds) {
  const bool Negated = *F == '^';
  F += Negated;
  memset(members, Negated, sizeof(members));
  const char *First = F;
  while (*F && (*F != ']' || F == First)) {
    uint8_t Low = (uint8_t)*F, High = Low;
    if (F[1] == '-' && F[2] && F[2] != ']') {
      High = (uint8_t)F[2];
      F += 2;
    }
    ++F;
    for (unsigned C = Low; C <= High; ++C)
      members[C] = !Negated;
  }
  if (NulEnds)
    members[0] = 0;
  return *F ? F + 1 : F;
}

char ByteSet::example() const {
  static const char Preferred[] = "a1A.";
  for (const char *P = Preferred; *P; ++P)
    if (has((uint8_t)*P))
      return *P;
  for (unsigned I = 1; I < 256; ++I)
    if (has(I))
      return (char)I;
  return 'a';
}

void Format::next(Directive &Out) {
  Out = Directive{};
  Out.kind = Directive::End;
  if (!*F)
    return;
  if (isSpaceByte((uint8_t)*F)) {
    while (isSpaceByte((uint8_t)*F))
      ++F;
    Out.kind = Directive::Space;
  } else if (*F != '%') {
    Out.kind = Directive::Literal;
    Out.literal = *F++;
  } else {
    ++F;
    conversion(Out);
  }
}

void Format::length(Directive &Out) {
  for (;; ++F)
    switch (*F) {
    case 'h':
      Out.bytes = Out.bytes == 2 ? 1 : 2;
      break;
    case 'l':
      Out.format = Out.bytes == 8 ? SF_X87 : SF_DOUBLE;
      Out.bytes = 8;
      break;
    case 'q':
    case 'L':
      Out.format = SF_X87;
      Out.bytes = 8;
      break;
    case 'j':
    case 'z':
    case 't':
      Out.bytes = 8;
      break;
    case 'm':
      Out.allocates = true;
      break;
    default:
      return;
    }
}

void Format::conversion(Directive &Out) {
  if (*F == '*') {
    Out.suppressed = true;
    ++F;
  }
  for (; *F >= '0' && *F <= '9'; ++F)
    Out.width = Out.width * 10 + (uint64_t)(*F - '0');
  length(Out);
  const char Letter = *F;
  if (Letter)
    ++F;
  const bool Wide = Out.bytes == 8;
  Out.kind = Directive::Number;
  switch (Letter) {
  case 'd':
  case 'i':
    Out.base = Letter == 'd' ? 10 : 0;
    Out.isSigned = true;
    return;
  case 'u':
    return;
  case 'o':
    Out.base = 8;
    return;
  case 'x':
  case 'X':
    Out.base = 16;
    return;
  case 's':
    Out.kind = Wide ? Directive::Unknown : Directive::Word;
    Out.skipsSpace = true;
    Out.set = ByteSet::words(NulEnds);
    return;
  case '[':
    Out.kind = Wide ? Directive::Unknown : Directive::Word;
    F = Out.set.parse(F, NulEnds);
    return;
  case 'c':
    Out.kind = Wide ? Directive::Unknown : Directive::Characters;
    Out.width = Out.width ? Out.width : 1;
    return;
  case 'n':
    Out.kind = Directive::Count;
    return;
  case '%':
    Out.kind = Directive::Literal;
    Out.literal = '%';
    Out.skipsSpace = true;
    return;
  case 'a':
    if (*F == 's' || *F == 'S' || *F == '[') // an old way to have memory allocated
      break;
    [[fallthrough]];
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    Out.kind = Directive::Float;
    return;
  default: // wide characters, positions
    break;
  }
  Out.kind = Directive::Unknown;
}

namespace {

bool isNumeric(const Directive &D) {
  return D.kind == Directive::Number || D.kind == Directive::Float;
}

bool isField(const Directive &D) {
  return isNumeric(D) || (D.kind == Directive::Word && D.skipsSpace);
}

} // namespace

Example::Example(Directive D, Format Behind, bool IsPacked) {
  for (bool IsOpen = false; D.kind != Directive::End && D.kind != Directive::Unknown;) {
    Directive Next;
    Behind.next(Next);
    const bool IsFull = IsPacked && isNumeric(D) && D.width && isField(Next);
    if (Size + 2 + (D.kind == Directive::Characters || IsFull ? D.width : 0) > SizeMax)
      return;
    if (isField(D) && IsOpen)
      add(' ');
    add(D, IsFull);
    IsOpen = isField(D) && !IsFull;
    D = Next;
  }
}

void Example::add(const Directive &D, bool IsFull) {
  if (D.kind == Directive::Space)
    add(' ');
  else if (D.kind == Directive::Literal)
    add(D.literal);
  else if (IsFull)
    add('0', D.width - 1);
  if (isNumeric(D))
    add('1');
  else if (D.kind == Directive::Word)
    add(D.set.example());
  else if (D.kind == Directive::Characters)
    add('a', D.width);
}

} // namespace sf
