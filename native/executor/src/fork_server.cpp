#include "fork_server.h"
#include "failure.h"
#include "monotonic.h"
#include "process_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

namespace sf {
namespace {

/// Tell whether a file holds the name of a runtime symbol. Only a hint: an
/// instrumented library can hide behind a plain program, or a script.
bool hasRuntimeMarker(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_size == 0)
    return false;
  size_t size = size_t(status.st_size);
  void *map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (map == MAP_FAILED)
    return false;
  std::string_view bytes(static_cast<const char *>(map), size);
  bool found = bytes.find("__sf_") != bytes.npos || bytes.find(SF_CHANNEL_ENV) != bytes.npos;
  ::munmap(map, size);
  return found;
}

void limitResource(__rlimit_resource resource, rlim_t value) {
  rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

std::string describeStatus(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) +
           ")";
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

/// Tell whether somebody asks a program to end by this signal: a person, a batch
/// system, the memory killer, or the program itself. No fault of a program
/// raises it.
bool isRequest(int signal) {
  switch (signal) {
  case SIGKILL:
  case SIGTERM:
  case SIGINT:
  case SIGHUP:
  case SIGQUIT:
  case SIGUSR1:
  case SIGUSR2:
    return true;
  default:
    return false;
  }
}

/// Look a program up as a shell does.
std::string searchPath(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return name;
  const char *path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0)
      return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return name;
}

} // namespace

ForkServer::ForkServer(TargetSpec wanted, const Limits &bounds, SharedTable &shared,
                       InputFile &file)
    : spec(std::move(wanted)), limits(bounds), table(shared), input(file) {
  resolveTarget();
  // A pipe, which has no size that a limit could end the target for. We keep both
  // ends: no writer is ever told that nobody reads.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(FailureReason::Internal,
                  "no pipe for the target's output: " + std::string(std::strerror(errno)),
                  "raise the limit of open files");
  output = FileDescriptor(ends[0]);
  outputWriter = FileDescriptor(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);    // of the reader alone
  ::fcntl(output.get(), F_SETPIPE_SZ, 16 << 16); // quicker; it works without
  adoptOrphans();
  oomKillsBefore = kernelOomKills();
  start();
}

ForkServer::~ForkServer() { stop(); }

uint32_t ForkServer::edges() const {
  return uint32_t(std::min<uint64_t>(greeting.edges, table.edgesCap()));
}

void ForkServer::resolveTarget() {
  executable = searchPath(spec.argv.at(0));
  struct stat status;
  if (::stat(executable.c_str(), &status) != 0)
    throw Failure(FailureReason::TargetMissing, executable + ": " + std::strerror(errno),
                  "check the path of the target");
  if (!S_ISREG(status.st_mode) || ::access(executable.c_str(), X_OK) != 0)
    throw Failure(FailureReason::TargetNotExecutable, executable + " is not an executable file",
                  "chmod +x it, or name the program instead of a folder or a source file");
  for (std::string argument : spec.argv) {
    for (size_t at; spec.way != InputWay::Argv && (at = argument.find("@@")) != std::string::npos;)
      argument.replace(at, 2, input.path());
    arguments.push_back(std::move(argument));
  }
  auto given = [&](const std::string &name) {
    return spec.environment.contains(name) || std::getenv(name.c_str());
  };
  // A sanitizer's report has to end in a signal to be seen as a crash.
  if (!given("ASAN_OPTIONS"))
    spec.environment["ASAN_OPTIONS"] =
        "abort_on_error=1:detect_leaks=0:symbolize=0:allocator_may_return_null=1";
  if (!given("UBSAN_OPTIONS"))
    spec.environment["UBSAN_OPTIONS"] = "abort_on_error=1:halt_on_error=1:print_stacktrace=0";
  for (char **entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    if (!spec.environment.contains(name) && name != SF_CHANNEL_ENV)
      environment.emplace_back(text);
  }
  for (const auto &[name, value] : spec.environment)
    environment.push_back(name + "=" + value);
}

void ForkServer::start() {
  outputHead.clear();
  int command[2], status[2];
  if (::pipe2(command, O_CLOEXEC) != 0)
    throw Failure(FailureReason::Internal, "no pipe: " + std::string(std::strerror(errno)),
                  "raise the limit of open files");
  FileDescriptor commandRead(command[0]);
  toServer = FileDescriptor(command[1]);
  if (::pipe2(status, O_CLOEXEC) != 0)
    throw Failure(FailureReason::Internal, "no pipe: " + std::string(std::strerror(errno)),
                  "raise the limit of open files");
  fromServer = FileDescriptor(status[0]);
  FileDescriptor statusWrite(status[1]);

  table.describe(input); // constructors may read it
  const pid_t executor = ::getpid();
  server = ::fork();
  if (server < 0)
    throw Failure(FailureReason::NoMemory, "cannot fork: " + std::string(std::strerror(errno)),
                  "free memory or processes on this host");
  if (server == 0)
    become(executor, commandRead.get(), statusWrite.get());
  commandRead.reset();
  statusWrite.reset();
  handshake();
}

/// In the new process: limits, descriptors, exec.
void ForkServer::become(pid_t executor, int command, int status) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != executor) // the signal would never come
    ::_exit(127);
  ::personality(ADDR_NO_RANDOMIZE);
  limitResource(RLIMIT_CORE, 0);
  limitResource(RLIMIT_FSIZE, limits.outputKib * 1024); // of files; what it prints has none
  // High numbers: programs may count on 3 being the first free one.
  rlim_t files = std::clamp<uint64_t>(limits.openFiles, 16, 1u << 20);
  int base = int(files) - 4;
  int reader = input.standardInput();
  if (spec.way != InputWay::Stdin)
    reader = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  bool ready = ::dup2(reader, 0) == 0 && ::dup2(outputWriter.get(), 1) == 1 &&
               ::dup2(outputWriter.get(), 2) == 2 && ::dup2(command, base) == base &&
               ::dup2(status, base + 1) == base + 1 &&
               ::dup2(table.descriptor(), base + 2) == base + 2 &&
               ::dup2(input.standardInput(), base + 3) == base + 3;
  limitResource(RLIMIT_NOFILE, files);
  // What a run does must not depend on who started us: nohup leaves SIGHUP ignored.
  for (int number = 1; number < NSIG; ++number)
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  environment.push_back(std::string(SF_CHANNEL_ENV) + "=" + std::to_string(base) + "," +
                        std::to_string(base + 1) + "," + std::to_string(base + 2) + "," +
                        std::to_string(base + 3));
  std::vector<char *> argv, envp;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  for (std::string &entry : environment)
    envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  if (ready)
    ::execve(executable.c_str(), argv.data(), envp.data());
  ::dprintf(2, "cannot execute %s: %s\n", executable.c_str(), std::strerror(errno));
  ::_exit(127);
}

void ForkServer::handshake() {
  Read read = readExactly(&greeting, sizeof greeting, HandshakeMs);
  if (read != Read::Done)
    explainDeath(read == Read::Timeout);
  if (greeting.magic != SF_HELLO_MAGIC || greeting.abi_version != SF_ABI_VERSION) {
    stop();
    throw Failure(FailureReason::AbiMismatch,
                  executable + " speaks version " + std::to_string(greeting.abi_version) +
                      " of the table, this executor speaks " + std::to_string(SF_ABI_VERSION),
                  "build the target again with this release's `symfleet cc`");
  }
}

/// There was no handshake: find out why, and throw that.
void ForkServer::explainDeath(bool timedOut) {
  int status = 0;
  bool exited = false;
  if (!timedOut) {
    exited = ::waitpid(server, &status, 0) == server;
    server = -1;
  }
  stop();
  drainOutput();
  std::string head = outputHead;
  while (!head.empty() && head.back() == '\n')
    head.pop_back();
  if (!hasRuntimeMarker(executable))
    throw Failure(FailureReason::NotInstrumented,
                  executable + " was not built by `symfleet cc` (no handshake" +
                      (exited ? ", " + describeStatus(status) : "") + ")",
                  "build the target with CC='symfleet cc' CXX='symfleet c++'");
  if (head.find("another version") != head.npos)
    throw Failure(FailureReason::AbiMismatch, executable + ": " + head,
                  "build the target again with this release's `symfleet cc`");
  if (head.find("reserv") != head.npos && head.find("symfleet") != head.npos)
    throw Failure(FailureReason::NoMemory, executable + ": " + head,
                  "lift limits on address space (ulimit -v) and overcommit");
  throw Failure(FailureReason::TargetDies,
                executable +
                    (timedOut
                         ? " did not reach main in " + std::to_string(HandshakeMs / 1000) + " s"
                         : " ended before main: " + describeStatus(status)) +
                    (head.empty() ? "" : "; it printed: " + head),
                "run it by hand; libraries, arguments and constructors must work here");
}

/// Take what was printed, keep its beginning and drop the rest. The target goes
/// on, however much it prints. Answers whether there was anything.
bool ForkServer::drainOutput() {
  constexpr size_t HeadMax = 512;
  constexpr unsigned PiecesMax = 16;
  char buffer[1 << 16];
  for (unsigned piece = 0; piece < PiecesMax; ++piece) {
    ssize_t n = ::read(output.get(), buffer, sizeof buffer);
    if (n <= 0)
      return piece > 0;
    if (outputHead.size() < HeadMax)
      outputHead.append(buffer, std::min(size_t(n), HeadMax - outputHead.size()));
  }
  return true;
}

void ForkServer::stop() {
  toServer.reset();
  fromServer.reset();
  if (server > 0) {
    ::kill(server, SIGKILL);
    ::waitpid(server, nullptr, 0);
    server = -1;
  }
  endDescendantsExcept(-1);
}

ForkServer::Read ForkServer::readExactly(void *buffer, size_t size, int timeoutMs) {
  char *at = static_cast<char *>(buffer);
  const uint64_t deadline = monotonicUs() + uint64_t(timeoutMs) * 1000;
  // Each line of a target that prints would wake us: it is read now and then
  // instead, and that of a short run with a later one's.
  constexpr int PauseMs = 1;
  bool printing = true;
  while (size > 0) {
    uint64_t now = monotonicUs();
    if (now >= deadline)
      return Read::Timeout;
    pollfd ready[] = {{fromServer.get(), POLLIN, 0}, {output.get(), POLLIN, 0}};
    int leftMs = int((deadline - now + 999) / 1000);
    int n = printing ? ::poll(ready, 1, std::min(leftMs, PauseMs)) : ::poll(ready, 2, leftMs);
    if (n < 0)
      continue;
    if (n == 0 || ready[1].revents)
      printing = drainOutput();
    if (!ready[0].revents)
      continue;
    ssize_t got = ::read(fromServer.get(), at, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Read::Closed;
    at += got;
    size -= size_t(got);
  }
  return Read::Done;
}

RunResult ForkServer::run(sf_mode mode, bool solitary, const std::function<void()> &prepare,
                          const std::function<void()> &waiting) {
  RunResult result;
  for (int restart = 0; restart <= RestartsMax; ++restart) {
    if (server < 0)
      start();
    prepare();
    if (attempt(mode, solitary, waiting, result))
      return result;
    stop(); // it died, or could not fork; whatever ran has gone with it
    if (restart > 0)
      break; // twice on the same input: the target kills its parent
  }
  result.outcome = Outcome::Error;
  return result;
}

bool ForkServer::begin(sf_mode mode) {
  sf_command command{SF_CMD_RUN, uint32_t(mode)};
  sf_started started{};
  if (::write(toServer.get(), &command, sizeof command) != ssize_t(sizeof command) ||
      readExactly(&started, sizeof started, KillMs) != Read::Done || started.error != 0)
    return false;
  running = started.pid;
  return true;
}

/// One run. Answers false when the fork server failed us.
bool ForkServer::attempt(sf_mode mode, bool solitary, const std::function<void()> &waiting,
                         RunResult &result) {
  const uint64_t from = monotonicUs();
  if (!begin(mode))
    return false;
  Stop stopped = Stop::None;
  sf_finished finished{};
  uint64_t wallLimitMs = limits.wallMs * (solitary ? 2 : 1);
  Read read = await(wallLimitMs, waiting, stopped, finished);
  running = -1;
  if (read != Read::Done)
    return false;
  result.wallUs = monotonicUs() - from;
  result.cpuUs = finished.user_us + finished.system_us;
  result.rssKibMax = finished.rss_kib_max;
  result.exitCode = WIFEXITED(finished.status) ? WEXITSTATUS(finished.status) : 0;
  result.signal = WIFSIGNALED(finished.status) ? WTERMSIG(finished.status) : 0;
  result.outcome = classify(finished, stopped, result.wallUs, solitary);
  cleanUp(result.outcome);
  return true;
}

ForkServer::Read ForkServer::await(uint64_t wallLimitMs, const std::function<void()> &waiting,
                                   Stop &stopped, sf_finished &finished) {
  const uint64_t from = monotonicUs();
  const uint64_t deadline = from + wallLimitMs * 1000;
  int pauseMs = 4;
  for (unsigned sample = 0;; ++sample) {
    uint64_t now = monotonicUs();
    if (stopped == Stop::None && now >= deadline)
      stopped = Stop::Wall;
    if (stopped != Stop::None)
      break;
    int untilDeadline = int(std::min<uint64_t>((deadline - now + 999) / 1000, 1u << 30));
    Read read = readExactly(&finished, sizeof finished, std::min(pauseMs, untilDeadline));
    if (read != Read::Timeout)
      return read;
    if (sample == 0) { // most runs never get here
      rlim_t seconds = (limits.cpuMs + 999) / 1000 + 1;
      rlimit cpu{seconds, seconds + 1};
      ::prlimit(running, RLIMIT_CPU, &cpu, nullptr);
    }
    waiting();
    stopped = overuse(running, sample % 8 == 7);
    pauseMs = std::min(pauseMs * 2, 25);
  }
  ::kill(-running, SIGKILL);
  ::kill(running, SIGKILL);
  return readExactly(&finished, sizeof finished, KillMs);
}

/// Which limit a running group is beyond; `thorough` looks at all its members.
ForkServer::Stop ForkServer::overuse(pid_t group, bool thorough) const {
  ProcessUse use = thorough ? useOfGroup(group) : useOf(group);
  if (use.rssKib > limits.rssMib * 1024)
    return Stop::Memory;
  // A run that forks without end would take the host down before its time is up.
  if (std::max(use.processes, countDescendants(ProcessesMax + 1)) > ProcessesMax)
    return Stop::Processes;
  if (use.cpuUs > limits.cpuMs * 1000)
    return Stop::Cpu;
  return Stop::None;
}

Outcome ForkServer::classify(const sf_finished &finished, Stop stopped, uint64_t wallUs,
                             bool solitary) const {
  const uint64_t cpuUs = finished.user_us + finished.system_us;
  const int signal = WIFSIGNALED(finished.status) ? WTERMSIG(finished.status) : 0;
  // It chose to end so; no limit of ours and nobody else had a part in it.
  if (isRequest(signal) && stopped == Stop::None && finished.own_signals >> signal & 1)
    return Outcome::Ok;
  // Only what died by our hand died of a limit; it may have ended just before.
  if (signal == SIGKILL) {
    switch (stopped) {
    case Stop::Wall:
      return solitary || cpuUs * 2 >= std::min(wallUs, limits.wallMs * 1000) ? Outcome::Hang
                                                                             : Outcome::Stalled;
    case Stop::Cpu:
      return Outcome::Cpu;
    case Stop::Memory:
    case Stop::Processes:
      return Outcome::Oom;
    case Stop::None:
      break;
    }
    bool nearLimit = finished.rss_kib_max * 10 >= limits.rssMib * 1024 * 9;
    if (nearLimit || kernelOomKills() > oomKillsBefore)
      return Outcome::Oom;
    return cpuUs >= limits.cpuMs * 1000 ? Outcome::Cpu : Outcome::Killed;
  }
  switch (signal) {
  case 0:
    return Outcome::Ok;
  case SIGXCPU:
    return Outcome::Cpu;
  case SIGXFSZ:
    return Outcome::Flood;
  default:
    return isRequest(signal) ? Outcome::Killed : Outcome::Crash;
  }
}

/// The fork server ended the group. Members that left it became our children;
/// looking for them costs as much as a run, so it is done when there is reason.
void ForkServer::cleanUp(Outcome outcome) {
  constexpr unsigned SweepEvery = 256;
  if (outcome == Outcome::Oom || outcome == Outcome::Killed)
    oomKillsBefore = kernelOomKills();
  const bool wasCut =
      outcome == Outcome::Hang || outcome == Outcome::Stalled || outcome == Outcome::Oom;
  if (++runsSinceSweep < SweepEvery && !wasCut)
    return;
  runsSinceSweep = 0;
  endDescendantsExcept(server);
}

} // namespace sf
