#include "shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sf {

namespace {

using Entry = uint32_t;
constexpr unsigned LabelBits = 29;
constexpr Entry LabelMask = (1u << LabelBits) - 1;
constexpr uint64_t PageSize = 1ull << SF_SHADOW_PAGE_BITS;
constexpr uint64_t ShadowBytes = 8ull << SF_SHADOW_SLOT_BITS;

Entry **slotOf(uint64_t Address) {
  // Addresses above the user half fault in the target's own access.
  uint64_t Index = Address >> SF_SHADOW_PAGE_BITS & ((1ull << SF_SHADOW_SLOT_BITS) - 1);
  return (Entry **)SF_SHADOW_BASE + Index;
}

Entry *pageOf(uint64_t Address) { return __atomic_load_n(slotOf(Address), __ATOMIC_ACQUIRE); }

// Pages come from chunks that are never given back: a child lives shortly. The
// caller holds the table lock.
Entry *createPage(uint64_t Address) {
  static char *Chunk, *ChunkEnd;
  constexpr size_t Size = PageSize * sizeof(Entry), ChunkSize = Size * 64;
  if (Chunk == ChunkEnd) {
    Chunk = (char *)mapZeroed(ChunkSize);
    ChunkEnd = Chunk ? Chunk + ChunkSize : nullptr;
    if (!Chunk)
      return nullptr;
  }
  auto *Page = (Entry *)Chunk;
  Chunk += Size;
  __atomic_store_n(slotOf(Address), Page, __ATOMIC_RELEASE);
  return Page;
}

Entry entryAt(uint64_t Address) {
  Entry *Page = pageOf(Address);
  return Page ? Page[Address % PageSize] : 0;
}

void setEntry(uint64_t Address, Entry E) {
  Entry *Page = pageOf(Address);
  if (!Page && (!E || !(Page = createPage(Address))))
    return;
  Page[Address % PageSize] = E;
}

// Calls Do(address, size) for the part of the range on each page.
template <typename F> void forEachPage(uint64_t Address, uint64_t Size, F Do) {
  while (Size) {
    uint64_t Part = PageSize - Address % PageSize;
    if (Part > Size)
      Part = Size;
    Do(Address, Part);
    Address += Part;
    Size -= Part;
  }
}

Operand byteOperand(Entry E, uint64_t Value) {
  Label L = E & LabelMask;
  if (!L)
    return constant(Value);
  Operand Whole = known(L);
  unsigned Low = 8 * (E >> LabelBits);
  if ((Whole.value >> Low & 0xff) != Value)
    return constant(Value); // memory was written behind our back
  unsigned Bits = row(L).bits;
  if (Low >= Bits)
    return constant(Value);
  unsigned Width = Bits - Low < 8 ? Bits - Low : 8;
  return zext(extract(Whole, Bits, Low, Width), Width, 8);
}

// Consecutive bytes of one labelled value.
bool isRun(const Entry *Entries, unsigned Count) {
  if (!(Entries[0] & LabelMask))
    return false;
  for (unsigned I = 1; I < Count; ++I)
    if (Entries[I] != Entries[0] + (I << LabelBits))
      return false;
  return true;
}

bool runOperand(Entry First, unsigned Bytes, uint64_t Value, Operand &Out) {
  Operand Whole = known(First & LabelMask);
  unsigned Low = 8 * (First >> LabelBits), Bits = row(Whole.label).bits;
  if (Low + 8 * Bytes > Bits || (Whole.value >> Low & maskOf(8 * Bytes)) != Value)
    return false;
  Out = extract(Whole, Bits, Low, 8 * Bytes);
  return true;
}

} // namespace

void reserveShadow() {
  void *P = mmap((void *)SF_SHADOW_BASE, ShadowBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (P == (void *)SF_SHADOW_BASE) {
    madvise(P, ShadowBytes, MADV_NOHUGEPAGE);
    madvise(P, ShadowBytes, MADV_DONTDUMP);
    return;
  }
  static const char Message[] =
      "symfleet: cannot start this program: the shadow page table (256 GiB of address space, "
      "not of memory)\n  was refused at 0x300000000000.\n"
      "  why: a limit on the address space (ulimit -v, RLIMIT_AS), vm.overcommit_memory=2, or "
      "other memory there.\n"
      "  do: remove `ulimit -v` and limit memory by cgroup or symfleet's own limits.\n";
  (void)!write(2, Message, sizeof(Message) - 1);
  _exit(69);
}

void clearLabels(uint64_t Address, uint64_t Size) {
  forEachPage(Address, Size, [](uint64_t At, uint64_t Part) {
    if (Entry *Page = pageOf(At))
      memset(Page + At % PageSize, 0, Part * sizeof(Entry));
  });
}

bool isConcrete(uint64_t Address, uint64_t Size) {
  bool Concrete = true;
  forEachPage(Address, Size, [&](uint64_t At, uint64_t Part) {
    Entry *Page = Concrete ? pageOf(At) : nullptr;
    for (uint64_t I = 0; Page && I < Part; ++I)
      if (Page[At % PageSize + I]) {
        Concrete = false;
        break;
      }
  });
  return Concrete;
}

void copyLabels(uint64_t To, uint64_t From, uint64_t Size) {
  if (To == From)
    return;
  if (To < From || To - From >= Size) {
    while (Size) {
      uint64_t Part = PageSize - From % PageSize;
      if (PageSize - To % PageSize < Part)
        Part = PageSize - To % PageSize;
      if (Size < Part)
        Part = Size;
      Entry *Source = pageOf(From), *Target = pageOf(To);
      if (Source && !Target)
        Target = createPage(To);
      if (Source && Target)
        memmove(Target + To % PageSize, Source + From % PageSize, Part * sizeof(Entry));
      else if (Target)
        memset(Target + To % PageSize, 0, Part * sizeof(Entry));
      To += Part;
      From += Part;
      Size -= Part;
    }
    return;
  }
  for (uint64_t I = Size; I--;)
    setEntry(To + I, entryAt(From + I));
}

void storeLabel(uint64_t Address, unsigned Bytes, Label L) {
  if (!L) {
    clearLabels(Address, Bytes);
    return;
  }
  unsigned Bits = row(L).bits;
  for (unsigned I = 0; I < Bytes; ++I)
    setEntry(Address + I, I * 8 < Bits ? L | I << LabelBits : 0);
}

void labelInput(uint64_t Address, uint64_t Offset, uint64_t Size) {
  for (uint64_t I = 0; I < Size; ++I)
    setEntry(Address + I, inputBytes(Offset + I, 8, *(const uint8_t *)(Address + I)).label);
}

Operand loadOperand(uint64_t Address, unsigned Bytes, uint64_t Value) {
  Entry Entries[8];
  Entry Any = 0;
  for (unsigned I = 0; I < Bytes; ++I)
    Any |= Entries[I] = entryAt(Address + I);
  if (!Any)
    return constant(Value);
  if (Operand Run; isRun(Entries, Bytes) && runOperand(Entries[0], Bytes, Value, Run))
    return Run;
  // Runs of one value stay whole; single bytes may form numbers of either order.
  Operand Parts[8];
  bool SingleBytes = true;
  for (unsigned I = 0; I < Bytes; ++I) {
    Parts[I] = byteOperand(Entries[I], Value >> (8 * I) & 0xff);
    SingleBytes &= !Parts[I].label || row(Parts[I].label).op == SF_OP_INPUT;
  }
  if (SingleBytes)
    return joinBytes(Parts, Bytes);
  Operand Out;
  for (unsigned I = 0; I < Bytes;) {
    unsigned End = Bytes;
    while (End > I + 1 && !isRun(Entries + I, End - I))
      --End;
    uint64_t Part = Value >> (8 * I) & maskOf(8 * (End - I));
    Operand Run = Parts[I];
    if (End > I + 1 && !runOperand(Entries[I], End - I, Part, Run)) {
      End = I + 1;
      Run = Parts[I];
    }
    Out = I ? concat(Run, 8 * (End - I), Out, 8 * I) : Run;
    I = End;
  }
  return Out;
}

bool isLabelled(uint64_t Address) {
  const Entry E = entryAt(Address);
  const Label L = E & LabelMask;
  return L && (known(L).value >> 8 * (E >> LabelBits) & 0xff) == *(const uint8_t *)Address;
}

Operand byteAt(const void *Address) {
  uint64_t At = (uint64_t)Address;
  return byteOperand(entryAt(At), *(const uint8_t *)At);
}

void readMemory(void *To, uint64_t From, unsigned Bytes) {
  for (unsigned I = 0; I < Bytes; ++I)
    ((uint8_t *)To)[I] = ((const volatile uint8_t *)From)[I];
}

bool isReadable(uint64_t Address) {
  // rt_sigprocmask reads the new mask before it refuses the operation.
  const int Saved = errno;
  bool Readable =
      syscall(SYS_rt_sigprocmask, ~0, Address & ~7ull, nullptr, 8) == -1 && errno == EINVAL;
  errno = Saved;
  return Readable;
}

} // namespace sf
