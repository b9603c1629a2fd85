// The memory that the target writes its recording to.
#pragma once

#include "execution_limits.h"
#include "file_descriptor.h"
#include "input_file.h"
#include "report.h"
#include "symfleet/abi.h"
#include "trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sf {

/// Facts from the header after a run.
struct TableFacts {
  uint64_t rows = 0, events = 0; // used
  uint64_t degraded = 0;         // enum sf_degraded
  uint64_t symbolicBytes = 0;
  uint64_t inputOpens = 0;
  uint64_t unmodelled = 0;
  std::vector<std::string> opened;
  std::vector<Loss> losses;
};

/// One memfd, laid out by us. Offsets and capacities are kept here as well:
/// those in the header are for the target, which may overwrite them.
class SharedTable {
public:
  /// Throws Failure(NoMemory).
  explicit SharedTable(const Limits &limits);
  ~SharedTable();
  SharedTable(const SharedTable &) = delete;
  SharedTable &operator=(const SharedTable &) = delete;

  int descriptor() const { return file.get(); }
  uint64_t edgesCap() const { return EdgesCap; }

  /// Tell the target how its input comes and what it is.
  void describe(const InputFile &input);
  /// Clear what the last run wrote and describe the next one's input.
  void reset(uint32_t edgesUsed, const InputFile &input, uint32_t flags);
  /// Grows while the target records.
  uint64_t progress() const;
  TableFacts facts() const;
  /// Copy the used part; see Trace for why.
  RawTable copy() const;
  std::span<const uint8_t> edges(uint32_t used) const { return {base + edgesOff, used}; }

private:
  static constexpr uint64_t EdgesCap = 4u << 20;
  static constexpr uint64_t BlobsCap = 64u << 20;
  /// Used parts larger than this are given back to the system, not zeroed.
  static constexpr uint64_t PunchBytesMin = 1u << 20;

  volatile sf_header *header() const { return reinterpret_cast<volatile sf_header *>(base); }
  void clear(uint64_t offset, uint64_t bytes);
  uint64_t usedRows() const;
  uint64_t usedEvents() const;
  uint64_t usedBlobs() const;

  FileDescriptor file;
  uint8_t *base = nullptr;
  uint64_t total = 0;
  uint64_t rowsOff = 0, rowsCap = 0, eventsOff = 0, eventsCap = 0, blobsOff = 0, edgesOff = 0;
};

} // namespace sf
