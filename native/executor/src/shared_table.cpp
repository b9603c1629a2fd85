#include "shared_table.h"
#include "failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

namespace sf {
namespace {

constexpr uint64_t PageSize = 4096;
constexpr uint64_t pages(uint64_t bytes) { return (bytes + PageSize - 1) / PageSize * PageSize; }
/// Seconds since the epoch that a target with a pinned clock sees: 2020-01-01.
constexpr uint64_t PinnedTimeS = 1577836800;

} // namespace

SharedTable::SharedTable(const Limits &limits)
    : rowsCap(std::max<uint64_t>(limits.rows, 16)),
      eventsCap(std::max<uint64_t>(limits.events, 16)) {
  rowsOff = pages(sizeof(sf_header));
  eventsOff = pages(rowsOff + rowsCap * sizeof(sf_row));
  blobsOff = pages(eventsOff + eventsCap * sizeof(sf_event));
  edgesOff = pages(blobsOff + BlobsCap);
  total = pages(edgesOff + EdgesCap);

  file = FileDescriptor(::memfd_create("symfleet-table", MFD_CLOEXEC));
  void *map = MAP_FAILED;
  if (file && ::ftruncate(file.get(), off_t(total)) == 0)
    map = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (map == MAP_FAILED)
    throw Failure(FailureReason::NoMemory,
                  "cannot make a shared table of " + std::to_string(total >> 20) +
                      " MiB: " + std::strerror(errno),
                  "lower the limits `rows` and `events`, or allow more memory");
  base = static_cast<uint8_t *>(map);

  sf_header *fresh = reinterpret_cast<sf_header *>(base);
  fresh->magic = SF_TABLE_MAGIC;
  fresh->abi_version = SF_ABI_VERSION;
  fresh->total_size = total;
  fresh->rows_off = rowsOff, fresh->rows_cap = rowsCap;
  fresh->events_off = eventsOff, fresh->events_cap = eventsCap;
  fresh->blobs_off = blobsOff, fresh->blobs_cap = BlobsCap;
  fresh->edges_off = edgesOff, fresh->edges_cap = EdgesCap;
  fresh->next_row = 1;
}

SharedTable::~SharedTable() {
  if (base)
    ::munmap(base, total);
}

void SharedTable::clear(uint64_t offset, uint64_t bytes) {
  bytes = pages(bytes);
  if (bytes < PunchBytesMin || ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                           off_t(offset), off_t(bytes)) != 0)
    std::memset(base + offset, 0, bytes);
}

uint64_t SharedTable::usedRows() const {
  return std::clamp(uint64_t(header()->next_row), uint64_t(1), rowsCap);
}
uint64_t SharedTable::usedEvents() const {
  return std::min(uint64_t(header()->next_event), eventsCap);
}
uint64_t SharedTable::usedBlobs() const {
  return std::min(uint64_t(header()->next_blob), BlobsCap);
}

void SharedTable::describe(const InputFile &input) {
  volatile sf_header *h = header();
  h->input_kind = kindOf(input.way());
  h->input_dev = input.device();
  h->input_ino = input.inode();
  h->input_size = input.size();
}

void SharedTable::reset(uint32_t edgesUsed, const InputFile &input, uint32_t flags) {
  if (usedRows() > 1)
    clear(rowsOff, usedRows() * sizeof(sf_row));
  if (usedEvents())
    clear(eventsOff, usedEvents() * sizeof(sf_event));
  if (usedBlobs() > PunchBytesMin)
    clear(blobsOff, usedBlobs());
  std::memset(base + edgesOff, 0, edgesUsed);

  sf_header *h = const_cast<sf_header *>(header());
  h->next_row = 1;
  h->next_event = h->next_blob = 0;
  h->degraded = h->lost_rows = h->lost_events = h->unmodelled = 0;
  h->symbolic_bytes = h->input_opens = h->progress = h->opens_len = h->input_position = 0;
  if (h->losses_len) {
    std::memset(base + offsetof(sf_header, losses), 0, sizeof(sf_header::losses));
    h->losses_len = 0;
  }
  h->flags = flags;
  h->pinned_time_s = PinnedTimeS;
  describe(input);
}

uint64_t SharedTable::progress() const {
  return header()->progress + header()->next_row + header()->next_event;
}

TableFacts SharedTable::facts() const {
  volatile sf_header *h = header();
  TableFacts facts;
  facts.rows = usedRows() - 1;
  facts.events = usedEvents();
  facts.degraded = h->degraded;
  facts.symbolicBytes = h->symbolic_bytes;
  facts.inputOpens = h->input_opens;
  facts.unmodelled = h->unmodelled;
  size_t length = std::min(uint64_t(h->opens_len), uint64_t(SF_OPENS_BYTES));
  std::string text(length, '\0');
  std::memcpy(text.data(), base + offsetof(sf_header, opens), length);
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\0', at), text.size());
    if (end > at)
      facts.opened.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (uint64_t i = 0; i < std::min(uint64_t(h->losses_len), uint64_t(SF_LOSSES_MAX)); ++i) {
    sf_loss loss; // the target may be writing it
    std::memcpy(&loss, base + offsetof(sf_header, losses) + i * sizeof loss, sizeof loss);
    loss.where[sizeof loss.where - 1] = '\0';
    facts.losses.push_back({loss.where, loss.count});
  }
  return facts;
}

RawTable SharedTable::copy() const {
  RawTable table;
  auto *rows = reinterpret_cast<const sf_row *>(base + rowsOff);
  auto *events = reinterpret_cast<const sf_event *>(base + eventsOff);
  table.rows.assign(rows, rows + usedRows());
  table.events.assign(events, events + usedEvents());
  table.blobs.assign(base + blobsOff, base + blobsOff + usedBlobs());
  return table;
}

} // namespace sf
