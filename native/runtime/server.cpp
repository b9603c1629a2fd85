// Start of the process, registration of modules, and the fork server.
//
// The program's constructors run once, in the server; each execution is a fork
// of it at the entry to main, or where a constructor touches the input first.
// Without SYMFLEET_CHANNEL nothing here has an effect beyond reserving the
// (untouched) shadow.
#include "shadow.h"

#include "input.h"
#include "libraries.h"
#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sf;

// Defined by the object file whose main() calls __sf_start.
extern "C" __attribute__((weak)) char __sf_main_is_instrumented;

namespace {

constexpr unsigned ModulesMax = 1u << 16;
const sf_module **Modules;
unsigned ModuleCount;
uint64_t EdgeCount;
bool Started;

struct Channel {
  int command, status, table, input;
};
Channel Control;

// Parses "command_fd,status_fd,table_fd,input_fd".
bool parseChannel(const char *Text, Channel &C) {
  int *Fields[] = {&C.command, &C.status, &C.table, &C.input};
  for (int I = 0; I < 4; ++I) {
    char *End;
    long Value = strtol(Text, &End, 10);
    if (End == Text || Value < 0 || Value > 1 << 20 || *End != (I < 3 ? ',' : '\0'))
      return false;
    *Fields[I] = (int)Value;
    Text = End + 1;
  }
  return true;
}

[[noreturn]] void fail(const char *What) {
  static const char Prefix[] = "symfleet: this program cannot serve executions: ";
  (void)!write(2, Prefix, sizeof(Prefix) - 1);
  (void)!write(2, What, strlen(What));
  (void)!write(2, "\n", 1);
  _exit(70);
}

bool transfer(int Fd, void *Buffer, size_t Size, bool Write) {
  char *At = (char *)Buffer;
  while (Size) {
    ssize_t N = Write ? write(Fd, At, Size) : read(Fd, At, Size);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return false;
    At += N;
    Size -= (size_t)N;
  }
  return true;
}

void attachTable(int Fd) {
  sf_header Probe;
  if (syscall(SYS_pread64, Fd, &Probe, sizeof(Probe), 0) != (long)sizeof(Probe))
    fail("the table cannot be read");
  if (Probe.magic != SF_TABLE_MAGIC || Probe.abi_version != SF_ABI_VERSION)
    fail("it was built for another version of the executor; build it again");
  void *P = mmap(nullptr, Probe.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, Fd, 0);
  if (P == MAP_FAILED)
    fail("the table cannot be mapped");
  auto *Base = (uint8_t *)P;
  G.header = (sf_header *)P;
  G.rows = (sf_row *)(Base + Probe.rows_off);
  G.events = (sf_event *)(Base + Probe.events_off);
  G.blobs = Base + Probe.blobs_off;
  G.edges = Base + Probe.edges_off;
  G.attached = true;
}

void assignEdges() {
  uint64_t Next = 0;
  for (unsigned I = 0; I < ModuleCount; ++I) {
    const sf_module *M = Modules[I];
    G.buildId = (G.buildId ^ M->hash) * 0x100000001b3ull + M->edges;
    if (Next + M->edges <= G.header->edges_cap)
      *M->edge_base = G.edges + Next;
    Next += M->edges;
  }
  EdgeCount = Next;
}

// From here on the module tells what it hands to functions without labels.
void watchCalls(const sf_module &M) { memset(M.watch, 1, M.watch_count); }

// In the child: becomes the leader of its group and begins to record.
void enterExecution(const Channel &C, uint32_t Mode, pid_t Server) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != Server)
    _exit(70);
  close(C.command);
  close(C.status);
  close(C.table);
  enterProcess();
  G.recording = false;
  G.early = false;
  if (Mode == SF_MODE_RECORD && G.header->input_kind != SF_INPUT_NONE)
    startRecording();
  for (unsigned I = 0; G.recording && I < ModuleCount; ++I)
    watchCalls(*Modules[I]);
  enterInput();
}

sf_finished await(pid_t Child) {
  siginfo_t Info;
  while (waitid(P_PID, (id_t)Child, &Info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
  // The group's number cannot be reused while its leader is not reaped.
  kill(-Child, SIGKILL);
  int Status = 0;
  rusage Usage{};
  while (wait4(Child, &Status, 0, &Usage) < 0 && errno == EINTR)
    ;
  auto Microseconds = [](const timeval &T) {
    return (uint64_t)T.tv_sec * 1000000u + (uint64_t)T.tv_usec;
  };
  sf_finished Done{};
  Done.status = Status;
  Done.own_signals = ownSignals();
  Done.user_us = Microseconds(Usage.ru_utime);
  Done.system_us = Microseconds(Usage.ru_stime);
  Done.rss_kib_max = (uint64_t)Usage.ru_maxrss;
  return Done;
}

// Returns in each execution; the server itself never does.
void serve(const Channel &C) {
  const pid_t Server = getpid();
  prepareProcesses();
  for (;;) {
    sf_command Command;
    if (!transfer(C.command, &Command, sizeof(Command), false) || Command.op != SF_CMD_RUN)
      _exit(0);
    forgetOwnSignals();
    prepareInput();
    pid_t Child = fork();
    if (Child == 0) {
      enterExecution(C, Command.mode, Server);
      return;
    }
    sf_started Begun{};
    Begun.pid = Child;
    Begun.error = Child < 0 ? (uint32_t)errno : 0;
    if (Child > 0)
      setpgid(Child, Child);
    if (!transfer(C.status, &Begun, sizeof(Begun), true))
      _exit(0);
    if (Child < 0)
      continue;
    superviseInput(Child);
    sf_finished Done = await(Child);
    if (!transfer(C.status, &Done, sizeof(Done), true))
      _exit(0);
  }
}

void attach(int Count, char **Arguments, char **Environment) {
  constexpr size_t NameSize = sizeof(SF_CHANNEL_ENV) - 1;
  const char *Text = nullptr;
  for (char **E = Environment; E && *E; ++E)
    if (strncmp(*E, SF_CHANNEL_ENV, NameSize) == 0 && (*E)[NameSize] == '=')
      Text = *E + NameSize + 1;
  if (!Text)
    return;
  if (!parseChannel(Text, Control))
    fail("SYMFLEET_CHANNEL is not four descriptors");
  attachTable(Control.table);
  attachInput(Control.input, Count, Arguments);
  G.early = true;
}

void prepareProcess(int Count, char **Arguments, char **Environment) {
  reserveShadow();
  attach(Count, Arguments, Environment);
}

} // namespace

// Before any constructor, so that constructors may be instrumented.
__attribute__((section(".preinit_array"),
               used)) static void (*const Prepare)(int, char **, char **) = prepareProcess;

SF_API void __sf_register(const sf_module *M) {
  if (M->version != SF_MODULE_VERSION)
    fail("an object file was compiled by another version of symfleet; build it again");
  if (Started) { // opened after the start: its edges are not counted
    if (G.recording)
      watchCalls(*M);
    return;
  }
  if (!Modules)
    Modules = (const sf_module **)mapZeroed(ModulesMax * sizeof(*Modules));
  if (Modules && ModuleCount < ModulesMax)
    Modules[ModuleCount++] = M;
}

SF_API void __sf_start() {
  if (Started)
    return;
  Started = true;
  if (!G.attached)
    return;
  unsetenv(SF_CHANNEL_ENV);
  assignEdges();
  followLibraries();
  sf_hello Hello{};
  Hello.magic = SF_HELLO_MAGIC;
  Hello.abi_version = SF_ABI_VERSION;
  Hello.edges = (uint32_t)EdgeCount;
  Hello.build_id = G.buildId;
  if (!transfer(Control.status, &Hello, sizeof(Hello), true))
    _exit(0);
  serve(Control);
}

// The last constructor: only if main itself will not start the server.
__attribute__((constructor)) static void startLate() {
  if (!&__sf_main_is_instrumented)
    __sf_start();
}
