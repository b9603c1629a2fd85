// From one recording to children: which goals, in which order, until when.
#pragma once

#include "candidates.h"
#include "execution_limits.h"
#include "goal_policy.h"
#include "ladder.h"
#include "lead_pool.h"
#include "query.h"
#include "report.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace sf {

/// Walks the events of one execution in the order of the path. Each branch is a
/// goal (go the other way) and then a constraint on later goals.
///
/// With `keep` = all nothing but the input, the build and counted limits
/// decides what is tried; `policy` is not asked.
class Search {
public:
  Search(const Trace &recorded, const RunRequest &wanted, const Limits &bounds, Keep mode,
         Ladder &solvers, GoalPolicy &memory, Candidates &runner, Reporter &out, Done &result,
         uint64_t deadlineUs);

  /// Fills in the counters of `done`.
  void run();

  /// Called for a candidate that brought nothing new; in a thorough search for
  /// every one, because the campaign may refuse what is new here.
  std::function<void(Lead)> found = [](Lead) {};
  /// Try each goal, however often its context was met.
  bool thorough = false;
  /// Whether a thorough search could do more than this one.
  bool leftSomething() const { return more; }

  /// Called between goals.
  std::function<void()> tick = [] {};
  uint64_t goalsSeen() const { return goals; }
  bool metTimeLimit() const { return timeLimit; }

private:
  static constexpr unsigned ResizesMax = 4;
  static constexpr unsigned GuessedLengthsMax = 2;
  static constexpr uint64_t GrowthMax = 4096; // bytes, at once
  static constexpr uint64_t GrownMin = 16;

  bool consider(const sf_event &event);
  bool admitted(uint64_t context);
  bool limitReached();
  bool inFocus(uint32_t label) const;
  uint64_t contextOf(const sf_event &event) const;
  void attempt(const sf_event &event);
  void widen(const Query &query, const sf_event &event, Solution &solution);
  bool attemptKnown(const sf_event &event, const Query &query, uint64_t key);
  void count(const Solution &solution);
  void extend(const sf_event &event);
  void submitReplaced(const Query &query, const sf_event &event);
  void submitRoomFor(const Query &query, const sf_event &event);
  uint32_t lengthIn(const Assignment &assignment) const;
  Assignment withLength(const Assignment &assignment, uint32_t wanted) const;
  void stayNear(const Query &query, Assignment &assignment);
  void limitLengths(const sf_event &event, Solution &solution);
  void grow(const Query &query, const Assignment &assignment, const sf_event &event);
  std::vector<uint8_t> apply(const Assignment &assignment) const;
  void submit(std::vector<uint8_t> bytes, const char *how, const sf_event &event);
  uint32_t changedBytes(const std::vector<uint8_t> &other) const;
  Lead leadTo(const Child &child, const sf_event &event) const;

  const Trace &trace;
  const RunRequest &request;
  const Limits &limits;
  Keep keep;
  Ladder &ladder;
  GoalPolicy &policy;
  Candidates &candidates;
  Reporter &reporter;
  Done &done;
  uint64_t deadline; // 0 = none
  Workbench bench;

  uint64_t goals = 0; // numbered so far
  uint64_t attempts = 0;
  uint64_t childBytes = 0;
  unsigned resizes = 0;
  bool more = false;
  bool timeLimit = false;
  uint64_t recent[2] = {0, 0};                           // last branches, for the context
  std::unordered_map<uint64_t, uint32_t> branches;       // on the path, by site
  std::unordered_map<uint64_t, unsigned> guessedLengths; // by site and direction
  std::unordered_set<uint64_t> asked;
  std::unordered_set<std::string> distinct; // digests of candidates
};

} // namespace sf
