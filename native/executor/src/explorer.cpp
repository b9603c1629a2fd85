#include "explorer.h"
#include "monotonic.h"

#include <algorithm>
#include <functional>

namespace sf {

/// One call of `explore` on its way.
struct Explorer::Walk {
  const RunRequest &request;
  Reporter &reporter;
  Done &done;
  RawTable raw; // what was recorded last
  uint64_t deadlineUs = 0;
  uint64_t goals = 0;
  bool timeLimit = false;

  bool isLate() const { return deadlineUs && monotonicUs() >= deadlineUs; }
};

Explorer::Explorer(TargetSpec spec, const Limits &bounds, Keep mode)
    : limits(bounds), keep(mode), input(spec.workFolder, spec.way), table(bounds),
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

  Walk walk{request, reporter, done, std::move(raw)};
  walk.timeLimit = cutShort(recorded.outcome);
  walk.deadlineUs = limits.executionMs ? from + limits.executionMs * 1000 : 0;
  uint64_t turn = keep == Keep::Novel ? request.bound >> TurnShift : 0;
  bool searched = done.run.outcome != Outcome::Refused && done.run.outcome != Outcome::Error;
  if (searched && turn == 0)
    searchQuickly(walk);
  else if (searched)
    searchThoroughly(walk, turn);
  done.symbolicBytes = facts.symbolicBytes;
  done.files = facts.opened;
  done.losses = facts.losses;
  done.rows = facts.rows;
  done.events = facts.events;
  if (facts.degraded & SF_DEGRADED_ROWS)
    done.degraded.push_back("rows");
  if (facts.degraded & SF_DEGRADED_EVENTS)
    done.degraded.push_back("events");
  if (facts.degraded & SF_DEGRADED_BLOBS)
    done.degraded.push_back("blobs");
  if (walk.timeLimit)
    done.degraded.push_back("time");
  if (done.truncated && *done.truncated >> TurnShift == 0 && !walk.timeLimit)
    done.degraded.push_back("goals");
  if (done.run.outcome == Outcome::Flood)
    done.reason = "output_limit"; // with children, too: what comes after is unseen
  else if (done.children == 0)
    done.reason = turn ? "already_covered" : reasonForNothing(done, facts, walk);
  done.executions = candidates.executions;
  done.wallUs = monotonicUs() - from;
  return done;
}

/// Search from what `walk.raw` recorded of `request`. Answers whether a thorough
/// search could do more.
bool Explorer::searchFrom(Walk &walk, const RunRequest &request, bool thorough,
                          const std::function<void(Lead)> &found) {
  Trace trace(std::move(walk.raw), request.input, limits.inputBytes, input.way() == InputWay::Argv);
  Search search(trace, request, limits, keep, ladder, policy, candidates, walk.reporter, walk.done,
                walk.deadlineUs);
  search.thorough = thorough;
  search.found = found;
  search.tick = [&] {
    ++counter;
    tick(request.id, walk.reporter);
  };
  search.run();
  walk.goals += search.goalsSeen();
  walk.timeLimit |= search.metTimeLimit();
  return search.leftSomething();
}

bool Explorer::recordLead(Walk &walk, const Lead &lead, RunRequest &further) {
  Edges ignored;
  RunResult recorded = candidates.runOnce(lead.input, SF_MODE_RECORD, false, ignored);
  further.id = walk.request.id;
  further.input = lead.input;
  further.focus = walk.request.focus;
  walk.raw = table.copy();
  return recorded.outcome == Outcome::Ok;
}

/// The first search from an input: goals whose contexts are common are skipped,
/// and a few leads are followed. Two compares in a row that share their code (a
/// function that matches keywords) give no new edge after the first, so edges
/// alone never get to the second. What is left is for later turns.
void Explorer::searchQuickly(Walk &walk) {
  constexpr size_t NotedMax = 256;
  std::vector<Lead> leads;
  auto note = [&](Lead lead) {
    if (leads.size() < NotedMax)
      leads.push_back(std::move(lead));
  };
  bool more = searchFrom(walk, walk.request, false, note);
  if (keep == Keep::All || walk.done.truncated)
    return;
  // As in the pool: what had to fit in the most bytes first.
  std::ranges::stable_sort(leads, std::greater<>(), &Lead::changed);
  unsigned followed = 0;
  for (const Lead &lead : leads) {
    if (followed == LeadsMax || walk.isLate())
      break;
    if (!policy.admitLead(lead.context))
      continue;
    ++followed;
    RunRequest further;
    if (recordLead(walk, lead, further))
      searchFrom(walk, further, false, [](Lead) {});
    walk.done.truncated.reset(); // it numbers another input's goals
  }
  if (more)
    walk.done.truncated = uint64_t(1) << TurnShift;
}

/// One of the later turns of an input, when the campaign has nothing better to
/// do: the input's goals and then the best leads of this process, whoever left
/// them. It ends after some runs, or with the first find, so that the campaign
/// hears of it; as long as there are leads, there is another turn.
void Explorer::searchThoroughly(Walk &walk, uint64_t turn) {
  RunRequest further = walk.request;
  further.bound = 0;
  auto from = [&](const Digest &digest) {
    searchFrom(walk, further, true, [&](Lead lead) { pool.push(std::move(lead)); });
    if (walk.done.truncated)
      pool.pushAgain({further.input, digest, 0, *walk.done.truncated});
    walk.done.truncated.reset();
  };
  if (pool.enter(walk.done.digest))
    from(walk.done.digest);
  while (walk.done.children == 0 && candidates.executions < RunsPerTurn && !walk.isLate()) {
    std::optional<Lead> lead = pool.pop();
    if (!lead)
      break;
    bool ok = recordLead(walk, *lead, further);
    further.bound = lead->bound;
    if (ok)
      from(lead->digest);
  }
  if (!pool.isExhausted())
    walk.done.truncated = (turn + 1) << TurnShift;
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
                                       const Walk &walk) const {
  if (server.hello().edges == 0)
    return "not_instrumented";
  if (facts.symbolicBytes == 0)
    return "no_symbolic_byte";
  if (walk.goals == 0)
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
