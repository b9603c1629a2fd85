// One target, one execution after another.
#pragma once

#include "campaign_edges.h"
#include "candidates.h"
#include "execution_limits.h"
#include "fork_server.h"
#include "goal_policy.h"
#include "input_file.h"
#include "ladder.h"
#include "lead_pool.h"
#include "report.h"
#include "search.h"
#include "shared_table.h"
#include "trace.h"

namespace sf {

/// Records an input, judges it, and searches its children.
class Explorer {
public:
  /// Starts the target. Throws Failure.
  Explorer(TargetSpec spec, const Limits &bounds, Keep mode);

  /// Edges that the campaign has already; children with nothing else are
  /// dropped.
  void addKnown(std::span<const uint32_t> edges) { campaign.add(edges); }
  Done explore(const RunRequest &request, Reporter &reporter);

  uint32_t edges() const { return server.edges(); }
  uint64_t build() const { return server.hello().build_id; }
  pid_t targetPid() const { return server.pid(); }

private:
  static constexpr uint64_t ProgressEveryUs = 500000;
  static constexpr unsigned LeadsMax = 16; // followed at once after one execution
  static constexpr unsigned RunsPerTurn = 512;

  void judge(const RunRequest &request, const RunResult &recorded, const Edges &recordedEdges,
             const TableFacts &facts, Done &done);
  struct Walk;
  bool searchFrom(Walk &walk, const RunRequest &request, bool thorough,
                  const std::function<void(Lead)> &found);
  void searchQuickly(Walk &walk);
  void searchThoroughly(Walk &walk, uint64_t turn);
  bool recordLead(Walk &walk, const Lead &lead, RunRequest &further);
  void tick(uint64_t id, Reporter &reporter);
  const char *reasonForNothing(const Done &done, const TableFacts &facts, const Walk &walk) const;

  Limits limits;
  Keep keep;
  InputFile input;
  SharedTable table;
  ForkServer server;
  CampaignEdges campaign;
  Candidates candidates;
  GoalPolicy policy;
  LeadPool pool;
  Ladder ladder;

  uint64_t counter = 0; // of progress, over all executions
  uint64_t lastTableProgress = 0, lastReported = 0, lastReportUs = 0;
};

} // namespace sf
