#include "candidates.h"

namespace sf {

/// A signal from outside says nothing about the input, and what the run did
/// until then is no coverage of it. What is killed this often kills itself.
constexpr unsigned KilledAttempts = 4;

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
  RunResult result;
  for (unsigned attempt = 0; attempt < KilledAttempts; ++attempt) {
    result = server.run(mode, solitary, prepare, waiting);
    if (result.outcome != Outcome::Killed)
      break;
  }
  edges = edgesOf(table.edges(server.edges()));
  return result;
}

Observation Candidates::observe(std::span<const uint8_t> bytes, bool solitary) {
  Observation seen;
  seen.run = runOnce(bytes, SF_MODE_COVER, solitary, seen.edges);
  if (keep == Keep::Novel && !knownOf(seen.run.outcome).hasNew(seen.edges))
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
