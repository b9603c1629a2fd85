// The state of one recording: the shared table, and what the target alone
// knows about each row.
//
// The runtime is linked into other people's programs. It uses no C++ library,
// allocates with mmap only, and never takes a decision from a label whose value
// differs from the concrete one: every row remembers the value it had in this
// run, so labels that memory writes of uninstrumented code made stale are
// recognised and dropped. What is recorded is therefore always true.
#ifndef SYMFLEET_RUNTIME_STATE_H
#define SYMFLEET_RUNTIME_STATE_H

#include "symfleet/abi.h"
#include "symfleet/calls.h"

#include <stddef.h>
#include <stdint.h>

#define SF_API extern "C" __attribute__((visibility("default"), used))
#define SF_LIKELY(x) __builtin_expect(!!(x), 1)
#define SF_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace sf {

using Label = uint32_t;

inline constexpr uint32_t DependsOnNothing = 0xffffffffu;
inline constexpr uint32_t DependsOnMany = 0xfffffffeu;

enum RowFlags : uint32_t {
  RowBranched = 1u << 0, // has a branch event
  RowGoal = 1u << 1,     // has a goal event
  RowFact = 1u << 2,     // was made concrete
  RowLength = 1u << 3,   // depends on the length of the input
};

// What the target knows about a row, index by index.
struct Meta {
  uint64_t value;      // in this run
  uint64_t mask;       // bits that can be other than zero
  uint32_t dependence; // the only input byte it depends on, or DependsOn*
  uint32_t flags;      // RowFlags
};

struct State {
  bool recording; // rows and events are wanted; false in cover mode
  bool attached;  // under an executor
  bool early;     // attached, and no execution has begun
  sf_header *header;
  sf_row *rows;
  sf_event *events;
  uint8_t *blobs;
  uint8_t *edges;
  Meta *meta;
  uint64_t metaCapacity;
  uint64_t edgesUsed;
  uint64_t buildId;
};

extern State G;

// Executions begin here, unless they have begun.
SF_API void __sf_start();

extern "C" __thread __attribute__((visibility("default"))) sf_tls __sf_tls;

inline uint64_t maskOf(unsigned Bits) { return Bits >= 64 ? ~0ull : (1ull << Bits) - 1; }

inline int64_t signExtend(uint64_t Value, unsigned Bits) {
  return (int64_t)(Value << (64 - Bits)) >> (64 - Bits);
}

// ---- Rows (rows.cpp)

// Serialises the creation of rows. Not taken twice by one thread: a signal
// handler that interrupts its own thread's critical section gets no lock and
// works concretely.
class TableLock {
public:
  TableLock();
  ~TableLock();
  TableLock(const TableLock &) = delete;
  TableLock &operator=(const TableLock &) = delete;
  explicit operator bool() const { return Owned; }

private:
  bool Owned;
};

// Returns the row's label, an existing one if an equal row exists, or 0 when
// the table is full.
Label internRow(const sf_row &Row, const Meta &Known);
// The row, if there is one already; else label 0.
Label findRow(const sf_row &Row);

// Copies Size bytes into the blob area, or finds them there. Returns false when
// it is full.
bool internBlob(const void *Bytes, uint32_t Size, uint32_t &Offset);

void addEvent(sf_event_kind Kind, bool Taken, uint16_t Aux, Label L, uint64_t Site, uint64_t Value);

void startRecording();

void *mapZeroed(size_t Size);

inline const sf_row &row(Label L) { return G.rows[L]; }
inline Meta &meta(Label L) { return G.meta[L]; }

} // namespace sf

#endif
