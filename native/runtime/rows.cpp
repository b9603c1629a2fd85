// Interning of rows and blobs, and the event list.
#include "state.h"

#include <string.h>
#include <sys/mman.h>

extern "C" char __libc_single_threaded __attribute__((weak));

namespace sf {

State G;
extern "C" {
__thread sf_tls __sf_tls;
}

namespace {

// Open addressing; the capacities are powers of two.
struct RowIndex {
  Label *slots;
  uint64_t capacity, used;
};

struct BlobSlot {
  uint64_t hash;
  uint32_t offset, size; // size 0: free
};

RowIndex Index;
constexpr uint64_t BlobSlots = 1u << 14;
BlobSlot *Blobs;
uint64_t BlobsUsed;

int LockWord;
__thread bool HoldsLock;

uint64_t mix(uint64_t X) {
  X ^= X >> 32;
  X *= 0xd6e8feb86659fd93ull;
  X ^= X >> 32;
  X *= 0xd6e8feb86659fd93ull;
  return X ^ (X >> 32);
}

uint64_t hashRow(const sf_row &R) {
  uint64_t H = R.op | (uint64_t)R.bits << 8 | (uint64_t)R.aux << 16 | (uint64_t)R.a << 32;
  return mix(mix(H) ^ (R.b | (uint64_t)R.c << 32)) + mix(R.k ^ H);
}

bool sameRow(const sf_row &A, const sf_row &B) {
  return A.op == B.op && A.bits == B.bits && A.aux == B.aux && A.a == B.a && A.b == B.b &&
         A.c == B.c && A.k == B.k;
}

bool growIndex() {
  uint64_t Capacity = Index.capacity ? Index.capacity * 2 : 1u << 12;
  auto *Slots = (Label *)mapZeroed(Capacity * sizeof(Label));
  if (!Slots)
    return false;
  for (uint64_t I = 0; I < Index.capacity; ++I) {
    Label L = Index.slots[I];
    if (!L)
      continue;
    uint64_t At = hashRow(row(L)) & (Capacity - 1);
    while (Slots[At])
      At = (At + 1) & (Capacity - 1);
    Slots[At] = L;
  }
  if (Index.slots)
    munmap(Index.slots, Index.capacity * sizeof(Label));
  Index.slots = Slots;
  Index.capacity = Capacity;
  return true;
}

Label rowsFull() {
  __atomic_fetch_or(&G.header->degraded, SF_DEGRADED_ROWS, __ATOMIC_RELAXED);
  __atomic_fetch_add(&G.header->lost_rows, 1, __ATOMIC_RELAXED);
  return 0;
}

} // namespace

void *mapZeroed(size_t Size) {
  void *P = mmap(nullptr, Size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  return P == MAP_FAILED ? nullptr : P;
}

TableLock::TableLock() : Owned(false) {
  if (HoldsLock)
    return;
  HoldsLock = true;
  bool Alone = &__libc_single_threaded && __libc_single_threaded;
  if (!Alone)
    while (__atomic_exchange_n(&LockWord, 1, __ATOMIC_ACQUIRE))
      __builtin_ia32_pause();
  else
    LockWord = 1;
  Owned = true;
}

TableLock::~TableLock() {
  if (!Owned)
    return;
  __atomic_store_n(&LockWord, 0, __ATOMIC_RELEASE);
  HoldsLock = false;
}

Label findRow(const sf_row &Row) {
  if (!Index.capacity)
    return 0;
  for (uint64_t At = hashRow(Row) & (Index.capacity - 1); Label L = Index.slots[At];
       At = (At + 1) & (Index.capacity - 1))
    if (sameRow(row(L), Row))
      return L;
  return 0;
}

Label internRow(const sf_row &Row, const Meta &Known) {
  if (Index.used * 4 >= Index.capacity * 3 && !growIndex())
    return rowsFull();
  uint64_t At = hashRow(Row) & (Index.capacity - 1);
  while (Label L = Index.slots[At]) {
    if (sameRow(row(L), Row))
      return L;
    At = (At + 1) & (Index.capacity - 1);
  }
  uint64_t Limit = G.header->rows_cap;
  if (Limit > G.metaCapacity)
    Limit = G.metaCapacity;
  uint64_t Next = __atomic_load_n(&G.header->next_row, __ATOMIC_RELAXED);
  if (Next >= Limit)
    return rowsFull();
  Next = __atomic_fetch_add(&G.header->next_row, 1, __ATOMIC_RELAXED);
  if (Next >= Limit) {
    __atomic_fetch_sub(&G.header->next_row, 1, __ATOMIC_RELAXED);
    return rowsFull();
  }
  sf_row &R = G.rows[Next];
  R.bits = Row.bits;
  R.aux = Row.aux;
  R.a = Row.a;
  R.b = Row.b;
  R.c = Row.c;
  R.k = Row.k;
  __atomic_store_n(&R.op, Row.op, __ATOMIC_RELEASE);
  G.meta[Next] = Known;
  Index.slots[At] = (Label)Next;
  ++Index.used;
  return (Label)Next;
}

bool internBlob(const void *Bytes, uint32_t Size, uint32_t &Offset) {
  if (!Blobs) {
    Blobs = (BlobSlot *)mapZeroed(BlobSlots * sizeof(BlobSlot));
    if (!Blobs)
      return false;
  }
  uint64_t Hash = Size;
  for (uint32_t I = 0; I + 8 <= Size; I += 8) {
    uint64_t Word;
    memcpy(&Word, (const char *)Bytes + I, 8);
    Hash = mix(Hash ^ Word) + I;
  }
  uint64_t At = Hash & (BlobSlots - 1);
  while (Blobs[At].size) {
    const BlobSlot &S = Blobs[At];
    if (S.hash == Hash && S.size == Size && memcmp(G.blobs + S.offset, Bytes, Size) == 0) {
      Offset = S.offset;
      return true;
    }
    At = (At + 1) & (BlobSlots - 1);
  }
  uint64_t Reserved = (Size + 7u) & ~7u;
  uint64_t Next = __atomic_fetch_add(&G.header->next_blob, Reserved, __ATOMIC_RELAXED);
  if (Next + Reserved > G.header->blobs_cap || Next + Reserved > UINT32_MAX ||
      BlobsUsed * 4 >= BlobSlots * 3) {
    __atomic_fetch_sub(&G.header->next_blob, Reserved, __ATOMIC_RELAXED);
    __atomic_fetch_or(&G.header->degraded, SF_DEGRADED_BLOBS, __ATOMIC_RELAXED);
    return false;
  }
  memcpy(G.blobs + Next, Bytes, Size);
  Offset = (uint32_t)Next;
  Blobs[At] = {Hash, Offset, Size};
  ++BlobsUsed;
  return true;
}

void addEvent(sf_event_kind Kind, bool Taken, uint16_t Aux, Label L, uint64_t Site,
              uint64_t Value) {
  sf_header *H = G.header;
  uint64_t Next = __atomic_load_n(&H->next_event, __ATOMIC_RELAXED);
  if (Next < H->events_cap)
    Next = __atomic_fetch_add(&H->next_event, 1, __ATOMIC_RELAXED);
  if (Next >= H->events_cap) {
    __atomic_store_n(&H->next_event, H->events_cap, __ATOMIC_RELAXED);
    __atomic_fetch_or(&H->degraded, SF_DEGRADED_EVENTS, __ATOMIC_RELAXED);
    __atomic_fetch_add(&H->lost_events, 1, __ATOMIC_RELAXED);
    return;
  }
  sf_event &E = G.events[Next];
  E.taken = Taken;
  E.aux = Aux;
  E.label = L;
  E.site = Site;
  E.value = Value;
  __atomic_store_n(&E.kind, (uint8_t)Kind, __ATOMIC_RELEASE);
  __atomic_fetch_add(&H->progress, 1, __ATOMIC_RELAXED);
}

void startRecording() {
  G.metaCapacity = G.header->rows_cap;
  if (G.metaCapacity > 1u << 29)
    G.metaCapacity = 1u << 29; // three bits of a shadow entry are an index
  G.meta = (Meta *)mapZeroed(G.metaCapacity * sizeof(Meta));
  G.recording = G.meta && growIndex();
}

} // namespace sf
