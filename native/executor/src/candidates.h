// Runs inputs without recording, for their outcome and coverage.
#pragma once

#include "campaign_edges.h"
#include "execution_limits.h"
#include "fork_server.h"

#include <functional>
#include <span>

namespace sf {

struct Observation {
  RunResult run;
  Edges edges;           // stable ones when `repeated`
  uint32_t unstable = 0; // edges that did not repeat
  bool repeated = false;
  bool novel = false; // has a stable edge that nobody has seen in a run that ended alike
};

class Candidates {
public:
  Candidates(ForkServer &target, SharedTable &shared, InputFile &file, CampaignEdges &seen,
             Keep mode)
      : server(target), table(shared), input(file), campaign(seen), keep(mode) {}

  /// Run once in `mode` and read the counters; again when somebody killed it. A
  /// run that ends so each time has ended itself, which is OK with a signal.
  RunResult runOnce(std::span<const uint8_t> bytes, sf_mode mode, bool solitary, Edges &edges);
  /// Run for a verdict: a second time when it would be kept, after which only
  /// edges of both runs count and are added to what is known. A crash or hang
  /// is compared with crashes and hangs alone: the last step into it is often
  /// no new edge, and what it covers must not hide an input that ends well.
  Observation observe(std::span<const uint8_t> bytes, bool solitary);

  /// Called while a long run is under way.
  std::function<void()> waiting = [] {};
  uint32_t executions = 0;

private:
  struct End;

  ForkServer &server;
  SharedTable &table;
  InputFile &input;
  CampaignEdges &knownOf(Outcome outcome) { return isFinding(outcome) ? findings : campaign; }

  CampaignEdges &campaign;
  CampaignEdges findings; // edges of the crashes and hangs that this process found
  Keep keep;
};

} // namespace sf
