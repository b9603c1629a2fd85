#include "explorer.h"
#include "monotonic.h"

#include <algorithm>

namespace sf {

Explorer::Explorer(TargetSpec spec, const Limits &bounds, Keep mode)
    : limits(bounds), keep(mode), input(spec.workFolder), table(bounds),
      server(std::move(spec), limits, table, input),
      candidates(server, table, input, campaign, mode) {}

/// Report progress when there was some, at most twice a second.
void Explorer::tick(uint64_t id, Reporter &reporter) {
  if (uint64_t now = table.progress(); now != lastTableProgress) {
    lastTableProgress = now;
    ++counter;
  }
  uint64_t us = monotonicUs();
  if (counter == lastReported || us - lastReportUs < ProgressEveryUs)
    return;
  lastReported = counter;
  lastReportUs = us;
  reporter.progress(id, counter);
}

Done Explorer::explore(const RunRequest &request, Reporter &reporter) {
  const uint64_t from = monotonicUs();
  lastReportUs = from;
  Done done;
  done.id = request.id;
  done.digest = sha256(request.input);
  candidates.executions = 0;
  candidates.waiting = [&] { tick(request.id, reporter); };

  Edges recordedEdges;
  RunResult recorded =
      candidates.runOnce(request.input, SF_MODE_RECORD, request.solitary, recordedEdges);
  TableFacts facts = table.facts();
  RawTable raw = table.copy();
  judge(request, recorded, recordedEdges, facts, done);

  uint64_t goals = 0;
  bool timeLimit = cutShort(recorded.outcome);
  if (done.run.outcome != Outcome::Refused && done.run.outcome != Outcome::Error) {
    Trace trace(std::move(raw), request.input);
    uint64_t deadline = limits.executionMs ? from + limits.executionMs * 1000 : 0;
    Search search(trace, request, limits, keep, ladder, policy, candidates, reporter, done,
                  deadline);
    search.tick = [&] {
      ++counter;
      tick(request.id, reporter);
    };
    search.run();
    goals = search.goalsSeen();
    timeLimit |= search.metTimeLimit();
    if (keep == Keep::Novel && !done.truncated)
      followLeads(request, search.leads(), deadline, reporter, done);
  }
  done.rows = facts.rows;
  done.events = facts.events;
  if (facts.degraded & SF_DEGRADED_ROWS)
    done.degraded.push_back("rows");
  if (facts.degraded & SF_DEGRADED_EVENTS)
    done.degraded.push_back("events");
  if (facts.degraded & SF_DEGRADED_BLOBS)
    done.degraded.push_back("blobs");
  if (timeLimit)
    done.degraded.push_back("time");
  if (done.truncated && !timeLimit)
    done.degraded.push_back("goals");
  if (done.children == 0)
    done.reason = reasonForNothing(done, facts, goals);
  done.executions = candidates.executions;
  done.wallUs = monotonicUs() - from;
  return done;
}

/// Look one branch further. Two compares in a row that share their code (a
/// function that matches keywords) give no new edge after the first, so edges
/// alone never get to the second. Candidates that met a goal and showed nothing
/// new are recorded as well, a few for each context, and *their* children count.
void Explorer::followLeads(const RunRequest &request, const std::vector<Search::Lead> &leads,
                           uint64_t deadlineUs, Reporter &reporter, Done &done) {
  unsigned followed = 0;
  for (const Search::Lead &lead : leads) {
    bool late = deadlineUs && monotonicUs() >= deadlineUs;
    if (late || followed == LeadsMax)
      return;
    if (!policy.admitLead(lead.context))
      continue;
    ++followed;
    Edges ignored;
    RunResult recorded = candidates.runOnce(lead.input, SF_MODE_RECORD, false, ignored);
    if (recorded.outcome != Outcome::Ok)
      continue;
    RunRequest further;
    further.id = request.id;
    further.input = lead.input;
    Trace trace(table.copy(), further.input);
    Search search(trace, further, limits, keep, ladder, policy, candidates, reporter, done,
                  deadlineUs);
    search.tick = [&] {
      ++counter;
      tick(request.id, reporter);
    };
    search.run();
    done.truncated.reset(); // it numbers another input's goals
  }
}

/// The verdict and stable edges of the input itself. A run without recording
/// decides, because recording is slower and uses more memory; it is spared when
/// the recording saw nothing that would need one.
void Explorer::judge(const RunRequest &request, const RunResult &recorded,
                     const Edges &recordedEdges, const TableFacts &facts, Done &done) {
  done.run = recorded;
  done.edges = recordedEdges;
  bool plain =
      recorded.outcome == Outcome::Ok && keep == Keep::Novel && !campaign.hasNew(recordedEdges);
  if (!plain) {
    Edges again;
    done.run = candidates.runOnce(request.input, SF_MODE_COVER, request.solitary, again);
    done.edges =
        cutShort(recorded.outcome) ? again : stableEdges(recordedEdges, again, done.unstable);
    campaign.add(done.edges);
  }
  done.cpuUs = recorded.cpuUs;
  done.rssKibMax = std::max(recorded.rssKibMax, done.run.rssKibMax);
  bool unread = facts.symbolicBytes == 0 && (facts.inputOpens == 0 || !request.input.empty());
  if (done.run.outcome == Outcome::Ok && recorded.outcome == Outcome::Ok && unread) {
    done.run.outcome = Outcome::Refused;
    done.opened = facts.opened;
  }
}

const char *Explorer::reasonForNothing(const Done &done, const TableFacts &facts,
                                       uint64_t goals) const {
  if (server.hello().edges == 0)
    return "not_instrumented";
  if (facts.symbolicBytes == 0)
    return "no_symbolic_byte";
  if (goals == 0)
    return done.degraded.empty() ? "branches_concrete" : "degraded";
  if (done.generated > 0 || done.flips.skipped + done.flips.sat > 0)
    return "already_covered";
  if (done.flips.timeout > 0)
    return "solver_time";
  if (done.flips.unsat + done.flips.unknown > 0)
    return "all_unsat";
  return "degraded"; // a limit ended the search before the first goal
}

} // namespace sf
