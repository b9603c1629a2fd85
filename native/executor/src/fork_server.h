// Starts the target once and has it fork for every run.
#pragma once

#include "execution_limits.h"
#include "file_descriptor.h"
#include "input_file.h"
#include "outcome.h"
#include "shared_table.h"
#include "symfleet/abi.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sf {

struct TargetSpec {
  std::vector<std::string> argv; // "@@" stands for the input's path
  InputWay way = InputWay::File;
  std::map<std::string, std::string> environment; // added
  std::string workFolder;
};

/// The conversation with an instrumented target (see symfleet/abi.h).
///
/// The target gets a session of its own, no address randomisation, limits, and
/// dies with us; each run leads its own process group. A fork server that died
/// is started again, at once for the run that noticed and `RestartsMax` times
/// in a row at most.
class ForkServer {
public:
  /// Throws Failure when the target cannot be served; see `FailureReason`.
  ForkServer(TargetSpec spec, const Limits &limits, SharedTable &table, InputFile &input);
  ~ForkServer();
  ForkServer(const ForkServer &) = delete;
  ForkServer &operator=(const ForkServer &) = delete;

  const sf_hello &hello() const { return greeting; }
  /// Counters of this build that the table has room for.
  uint32_t edges() const;

  /// Run the target on the bytes in the input file. `solitary` doubles the wall
  /// limit and makes reaching it a HANG whatever the CPU time. `prepare` is
  /// called before each attempt, for a fork server that died is started again;
  /// `waiting` every few milliseconds of a long run.
  RunResult run(sf_mode mode, bool solitary, const std::function<void()> &prepare,
                const std::function<void()> &waiting);

  pid_t pid() const { return server; }

private:
  enum class Stop { None, Wall, Cpu, Memory, Processes };
  enum class Read { Done, Timeout, Closed };
  static constexpr int HandshakeMs = 20000;
  static constexpr int KillMs = 10000; // from SIGKILL to the end of a process
  static constexpr int RestartsMax = 3;
  static constexpr unsigned ProcessesMax = 512; // of one run

  void resolveTarget();
  void start();
  void stop();
  [[noreturn]] void become(pid_t executor, int command, int status);
  void handshake();
  [[noreturn]] void explainDeath(bool timedOut);
  bool drainOutput();

  bool begin(sf_mode mode);
  bool attempt(sf_mode mode, bool solitary, const std::function<void()> &waiting,
               RunResult &result);
  Read await(uint64_t wallLimitMs, const std::function<void()> &waiting, Stop &stopped,
             sf_finished &finished);
  Stop overuse(pid_t group, bool thorough) const;
  Outcome classify(const sf_finished &finished, Stop stopped, uint64_t wallUs, bool solitary) const;
  void cleanUp(Outcome outcome);
  Read readExactly(void *buffer, size_t size, int timeoutMs);

  TargetSpec spec;
  Limits limits;
  SharedTable &table;
  InputFile &input;
  std::string executable;
  std::vector<std::string> arguments, environment;
  FileDescriptor output, outputWriter; // what the target prints
  std::string outputHead;              // the beginning of it
  FileDescriptor toServer, fromServer;
  pid_t server = -1;
  pid_t running = -1;
  sf_hello greeting{};
  uint64_t oomKillsBefore = 0;
  unsigned runsSinceSweep = 0;
};

} // namespace sf
