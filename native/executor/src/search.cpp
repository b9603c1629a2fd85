#include "search.h"
#include "inversion.h"
#include "mix.h"
#include "monotonic.h"
#include "text_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>

namespace sf {

Search::Search(const Trace &recorded, const RunRequest &wanted, const Limits &bounds, Keep mode,
               Ladder &solvers, GoalPolicy &memory, Candidates &runner, Reporter &out, Done &result,
               uint64_t deadlineUs)
    : trace(recorded), request(wanted), limits(bounds), keep(mode), ladder(solvers), policy(memory),
      candidates(runner), reporter(out), done(result), deadline(deadlineUs),
      bench(recorded, bounds) {
  for (const sf_event &event : trace.events)
    if (event.kind == SF_EV_BRANCH)
      ++branches[event.site];
  if (trace.lengthBound)
    bench.path.add({trace.lengthBound, 1});
}

void Search::run() {
  for (const sf_event &event : trace.events) {
    if (event.kind == SF_EV_EOF) {
      extend(event);
      continue;
    }
    bool isGoal = event.kind == SF_EV_BRANCH || event.kind == SF_EV_GOAL;
    if (isGoal && !consider(event))
      return;
    if (event.kind == SF_EV_BRANCH)
      bench.path.add({event.label, event.taken, false, branches[event.site] > 1, event.site});
    else if (event.kind == SF_EV_FACT)
      bench.path.add({event.label, event.value, true});
    if (event.kind == SF_EV_BRANCH) {
      recent[1] = recent[0];
      recent[0] = mix(event.site, uint64_t(event.aux) << 1 | event.taken);
    }
  }
}

/// Number a goal and try it. Answers false when a limit ends the search.
bool Search::consider(const sf_event &event) {
  uint64_t number = goals++;
  if (number < request.bound)
    return true;
  if (limitReached()) {
    done.truncated = number;
    return false;
  }
  // A label that the path has fixed cannot have the other value.
  bool pointless = bench.path.isSaid(event.label) || !inFocus(event.label);
  if (pointless || !admitted(contextOf(event)))
    ++done.flips.skipped;
  else
    attempt(event);
  tick();
  return true;
}

bool Search::admitted(uint64_t context) {
  if (keep == Keep::All || thorough || policy.admit(context))
    return true;
  more = true;
  return false;
}

bool Search::limitReached() {
  if (deadline && monotonicUs() >= deadline)
    timeLimit = true;
  return timeLimit || attempts >= limits.goals || done.children >= limits.children ||
         childBytes >= limits.resultMib << 20;
}

bool Search::inFocus(uint32_t label) const {
  if (keep == Keep::All || request.focus.empty())
    return true;
  for (const auto &interval : trace.sets.intervals(trace.bytes[label]))
    for (auto [first, last] : request.focus)
      if (interval.first <= last && first <= interval.last)
        return true;
  return false;
}

/// Where the path stands: the goal's branch, direction, and what came before.
uint64_t Search::contextOf(const sf_event &event) const {
  uint64_t goal = mix(event.site, uint64_t(event.aux) << 1 | event.taken);
  return mix(mix(goal, recent[0]), recent[1]);
}

void Search::attempt(const sf_event &event) {
  Query query{{event.label, uint64_t(!event.taken)}, bench.path.slice(event.label)};
  uint64_t key =
      mix(mix(trace.hash[event.label], query.goal.value), bench.path.sliceHash(query.slice));
  // Equal goal and slice: equal answer, equal child.
  if (!asked.insert(key).second) {
    ++done.flips.skipped;
    return;
  }
  if (keep == Keep::Novel && attemptKnown(event, query, key))
    return;
  ++attempts;
  uint64_t from = monotonicUs();
  // With `all`, what is refuted stays so: it would only add inputs that go
  // elsewhere. Facts are not refutations, they are what we made concrete.
  bool hasFact = std::ranges::any_of(query.slice, &Condition::fact);
  Solution solution = ladder.solve(query, bench, keep == Keep::Novel || hasFact);
  if (solution.verdict == Verdict::Unsat)
    widen(query, event, solution);
  if (solution.verdict == Verdict::Sat && solution.assignment)
    stayNear(query, *solution.assignment);
  else if (solution.assignment && lengthIn(*solution.assignment) != trace.length)
    limitLengths(event, solution);
  done.solverUs += monotonicUs() - from;
  count(solution);
  if (keep == Keep::Novel && solution.verdict == Verdict::Sat)
    policy.remember(key, {solution.how, *solution.assignment});
  if (keep == Keep::Novel && solution.verdict == Verdict::Unsat)
    policy.remember(key, {nullptr, solution.assignment.value_or(Assignment{})});
  if (keep == Keep::Novel && solution.verdict == Verdict::Timeout && !solution.byTime)
    policy.rememberTimeout(key, limits.solverRlimit);
  if (solution.verdict != Verdict::Sat)
    submitReplaced(query, event);
  if (!solution.assignment)
    return;
  submit(apply(*solution.assignment), solution.how, event);
  if (solution.verdict == Verdict::Sat)
    submitRoomFor(query, event);
  if (solution.verdict == Verdict::Sat && event.aux == SF_AUX_END)
    grow(query, *solution.assignment, event);
}

/// A number that needs another size than its text has now.
void Search::submitReplaced(const Query &query, const sf_event &event) {
  std::vector<std::vector<uint8_t>> inputs = withNumbersReplaced(query.goal, trace);
  if (auto input = withTextsReplaced(query, bench))
    inputs.push_back(std::move(*input));
  for (std::vector<uint8_t> &bytes : inputs)
    if (bytes.size() <= limits.inputBytes)
      submit(std::move(bytes), "optimistic", event);
}

/// A number with more digits was written over what stands behind it, which the path
/// has not come to yet. Have that in its place behind the number, too.
void Search::submitRoomFor(const Query &query, const sf_event &event) {
  std::vector<uint8_t> bytes = withRoomForNumber(query.goal, trace);
  if (!bytes.empty() && bytes.size() <= limits.inputBytes)
    submit(std::move(bytes), "optimistic", event);
}

/// The length that an assignment wants; the input's own if it says nothing of it.
uint32_t Search::lengthIn(const Assignment &assignment) const {
  uint32_t wanted = trace.length;
  for (const ByteChange &change : assignment)
    if (change.offset >= trace.lengthAt) {
      unsigned shift = 8 * (change.offset - trace.lengthAt);
      wanted = (wanted & ~(0xffu << shift)) | uint32_t(change.value) << shift;
    }
  return wanted;
}

Assignment Search::withLength(const Assignment &assignment, uint32_t wanted) const {
  Assignment changed;
  for (const ByteChange &change : assignment)
    if (change.offset < trace.lengthAt)
      changed.push_back(change);
  addLength(trace, wanted, changed);
  return changed;
}

/// Solvers take any length that fits. Take one near the input's, if one fits too.
void Search::stayNear(const Query &query, Assignment &assignment) {
  const uint32_t wanted = lengthIn(assignment);
  const bool longer = wanted > trace.length;
  const uint32_t far = longer ? wanted - trace.length : trace.length - wanted;
  for (uint32_t near = 1; near < far; near *= 2) {
    Assignment nearer = withLength(assignment, longer ? trace.length + near : trace.length - near);
    if (bench.accepts(query, nearer)) {
      assignment = std::move(nearer);
      return;
    }
    if (near > far / 2)
      return;
  }
}

/// A loop over the input asks at each turn whether it ends there, and what was
/// made concrete refutes each of the answers: the first few lengths that ignore
/// the path say as much as all of them.
void Search::limitLengths(const sf_event &event, Solution &solution) {
  const uint64_t goal = mix(event.site, uint64_t(event.aux) << 1 | event.taken);
  if (++guessedLengths[goal] <= GuessedLengthsMax)
    return;
  solution.assignment.reset();
  solution.how = nullptr;
}

/// One byte more is seldom what a program waits for that reads until the end: a
/// much longer input is tried too.
void Search::grow(const Query &query, const Assignment &assignment, const sf_event &event) {
  const uint32_t wanted = lengthIn(assignment);
  const uint64_t grown =
      std::min<uint64_t>({std::max<uint64_t>(2 * uint64_t(trace.length), GrownMin),
                          trace.length + GrowthMax, limits.inputBytes});
  if (wanted <= trace.length || grown <= wanted || resizes >= ResizesMax || limitReached())
    return;
  Assignment longer = withLength(assignment, uint32_t(grown));
  if (!bench.accepts(query, longer))
    return;
  ++resizes;
  ++done.how.resize;
  submit(apply(longer), "resize", event);
}

/// A refutation that rests on how often loops turned on this path: a text was
/// scanned for its end before it is compared. Such an input is as good as a
/// solution more often than not, and better than one that ignores the slice.
void Search::widen(const Query &query, const sf_event &event, Solution &solution) {
  std::optional<Assignment> wider = ladder.widen(query, event.site, bench);
  if (!wider)
    return;
  solution.assignment = std::move(wider);
  solution.how = "widen";
}

/// Use the answer to an equal query of an earlier execution.
bool Search::attemptKnown(const sf_event &event, const Query &query, uint64_t key) {
  const GoalPolicy::Known *known = policy.recall(key);
  if (!known && policy.isBeyond(key, limits.solverRlimit)) {
    ++done.flips.skipped;
    return true;
  }
  if (!known)
    return false;
  if (!known->how) {
    ++done.flips.skipped;
    if (thorough && !known->assignment.empty())
      submit(apply(known->assignment), "optimistic", event);
    return true;
  }
  if (!bench.accepts(query, known->assignment))
    return false; // hashes collided
  ++done.flips.sat;
  submit(apply(known->assignment), known->how, event);
  return true;
}

void Search::count(const Solution &solution) {
  switch (solution.verdict) {
  case Verdict::Sat:
    ++done.flips.sat;
    break;
  case Verdict::Unsat:
    ++done.flips.unsat;
    break;
  case Verdict::Timeout:
    ++done.flips.timeout;
    break;
  case Verdict::Unknown:
    ++done.flips.unknown;
    break;
  }
  timeLimit |= solution.byTime && keep == Keep::All;
  if (!solution.how)
    return;
  std::string_view how = solution.how;
  (how == "inversion" ? done.how.inversion
   : how == "scan"    ? done.how.scan
   : how == "linear"  ? done.how.linear
   : how == "meet"    ? done.how.meet
   : how == "search"  ? done.how.search
   : how == "smt"     ? done.how.smt
   : how == "widen"   ? done.how.widen
                      : done.how.optimistic) += 1;
}

/// Give the target the bytes that it asked for past the end. Not with `all`:
/// a program that reads until the end of file would never be exhausted.
void Search::extend(const sf_event &event) {
  uint64_t size = request.input.size();
  if (keep == Keep::All || resizes >= ResizesMax || event.value <= size || limitReached())
    return;
  uint64_t wanted = std::min({event.value, limits.inputBytes, size + GrowthMax});
  if (wanted <= size || !admitted(mix(mix(event.site, SF_EV_EOF), wanted)))
    return;
  ++resizes;
  ++done.how.resize;
  std::vector<uint8_t> bytes = request.input;
  bytes.resize(wanted);
  submit(std::move(bytes), "resize", event);
}

std::vector<uint8_t> Search::apply(const Assignment &assignment) const {
  std::vector<uint8_t> bytes = request.input;
  // A solution without its path may ask for any length.
  uint64_t wanted =
      std::min<uint64_t>(lengthIn(assignment), std::max<uint64_t>(limits.inputBytes, trace.length));
  for (const ByteChange &change : assignment)
    if (change.offset < trace.length)
      bytes[change.offset] = change.value;
    else if (change.offset < trace.lengthAt && change.value && wanted < limits.inputBytes) {
      bytes.push_back(change.value); // in the place of the terminator
      ++wanted;
    }
  bytes.resize(wanted);
  return bytes;
}

/// How many bytes of an input another one has instead; of one with another size, how
/// long the part is that they do not share.
uint32_t Search::changedBytes(const std::vector<uint8_t> &other) const {
  const std::vector<uint8_t> &input = request.input;
  auto [from, otherFrom] = std::mismatch(input.begin(), input.end(), other.begin(), other.end());
  if (input.size() == other.size())
    return uint32_t(
        std::inner_product(from, input.end(), otherFrom, 0, std::plus<>(), std::not_equal_to<>()));
  auto [to, otherTo] = std::mismatch(input.rbegin(), std::make_reverse_iterator(from),
                                     other.rbegin(), std::make_reverse_iterator(otherFrom));
  return uint32_t(std::max(to.base() - from, otherTo.base() - otherFrom));
}

/// The candidate as a place to search from.
Lead Search::leadTo(const Child &child, const sf_event &event) const {
  // A candidate that ignored the slice may leave the path anywhere.
  bool samePath =
      std::string_view(child.how) != "optimistic" && std::string_view(child.how) != "widen";
  bool isGuess = !samePath || std::string_view(child.how) == "resize";
  return {child.input, child.digest, contextOf(event), samePath ? goals : 0,
          isGuess ? 1 : changedBytes(child.input)};
}

/// Run a candidate and report it if it is to be kept.
void Search::submit(std::vector<uint8_t> bytes, const char *how, const sf_event &event) {
  if (bytes == request.input)
    return;
  Child child;
  child.digest = sha256(bytes);
  if (!distinct.emplace(reinterpret_cast<const char *>(child.digest.data()), 32).second)
    return;
  more = true;
  child.input = std::move(bytes);
  child.how = how;
  if (keep == Keep::Novel && !policy.firstTime(child.digest)) {
    if (thorough)
      found(leadTo(child, event));
    return;
  }
  Observation seen = candidates.observe(child.input, false);
  done.cpuUs += seen.run.cpuUs;
  ++done.generated;
  bool dropped = keep == Keep::Novel && !seen.novel;
  if ((dropped || thorough) && seen.run.outcome == Outcome::Ok)
    found(leadTo(child, event));
  if (dropped) {
    ++done.dropped;
    return;
  }
  child.id = request.id;
  child.site = event.site;
  child.direction = event.kind == SF_EV_EOF ? 0 : !event.taken;
  child.run = seen.run;
  child.edges = std::move(seen.edges);
  child.unstable = seen.unstable;
  ++done.children;
  childBytes += child.input.size();
  reporter.child(child);
}

} // namespace sf
