#include "candidates.h"

#include <optional>

namespace sf {

/// A signal from outside says nothing about the input, and what the run did
/// until then is no coverage of it: the run is made again. What ends this often
/// in a row by the same signal at the same point ends itself, by code that we
/// do not see: nobody else hits one point each time.
constexpr unsigned KilledAttempts = 4;

/// Where a run was when it ended.
struct Candidates::End {
  int signal = 0;
  uint64_t rows = 0, events = 0;
  Edges edges;
  bool operator==(const End &) const = default;
};

RunResult Candidates::runOnce(std::span<const uint8_t> bytes, sf_mode mode, bool solitary,
                              Edges &edges) {
  // A real clock in `novel`: a program that waits for time to pass would hang.
  uint32_t flags = SF_PIN_PID | SF_PIN_RANDOM;
  if (keep == Keep::All)
    flags |= SF_PIN_TIME;
  // Before every attempt: one that was cut off has left its traces.
  auto prepare = [&] {
    input.write(bytes);
    table.reset(server.edges(), input, flags);
    ++executions;
  };
  std::optional<End> first;
  bool alike = true;
  for (unsigned attempt = 1;; ++attempt) {
    RunResult result = server.run(mode, solitary, prepare, waiting);
    edges = edgesOf(table.edges(server.edges()));
    if (result.outcome != Outcome::Killed)
      return result;
    TableFacts facts = table.facts();
    End end{result.signal, facts.rows, facts.events, edges};
    if (!first)
      first = std::move(end);
    else if (end != *first)
      alike = false;
    if (attempt < KilledAttempts)
      continue;
    if (alike)
      result.outcome = Outcome::Ok;
    return result;
  }
}

Observation Candidates::observe(std::span<const uint8_t> bytes, bool solitary) {
  Observation seen;
  seen.run = runOnce(bytes, SF_MODE_COVER, solitary, seen.edges);
  // Known edges have repeated before, so that a second run would tell nothing.
  const bool isVerdict = keep == Keep::Novel || seen.run.outcome == Outcome::Ok;
  if (isVerdict && !knownOf(seen.run.outcome).hasNew(seen.edges))
    return seen;
  Edges again;
  RunResult second = runOnce(bytes, SF_MODE_COVER, solitary, again);
  bool noVerdict = seen.run.outcome == Outcome::Stalled || seen.run.outcome == Outcome::Killed;
  if (noVerdict)
    seen.run = second;
  seen.edges = stableEdges(seen.edges, again, seen.unstable);
  seen.repeated = true;
  seen.novel = knownOf(seen.run.outcome).add(seen.edges);
  return seen;
}

} // namespace sf
