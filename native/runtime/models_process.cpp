// Calls that take or give the number of a process, a group or a thread.
#include "processes.h"

#include "input.h"
#include "model.h"
#include "reads.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

using namespace sf;

namespace {

// PID_MAX_LIMIT of the kernel: every real number is below.
constexpr pid_t RealPidsEnd = 1 << 22;
constexpr pid_t PinnedPid = RealPidsEnd + 4242;
constexpr pid_t PinnedParent = PinnedPid - 1;

pid_t Run, Server, Executor;
uint32_t *OwnSignals;

bool pinned() { return G.attached && Run && G.header->flags & SF_PIN_PID; }

// The number of a real process or group that the program sees.
pid_t shown(pid_t Real) {
  if (!pinned())
    return Real;
  if (Real == Run)
    return PinnedPid;
  return Real == Server || Real == Executor ? PinnedParent : Real;
}

// Undoes `shown`, for groups in the notation of kill (negative) too.
pid_t realOf(pid_t Shown) {
  if (!pinned())
    return Shown;
  switch (Shown) {
  case PinnedPid:
    return Run;
  case -PinnedPid:
    return -Run;
  case PinnedParent:
    return Server;
  case -PinnedParent:
    return -Server;
  default:
    return Shown;
  }
}

// Those who run the program, alone or among all processes (-1).
bool reachesOurselves(pid_t Real) {
  pid_t Number = Real < 0 ? -Real : Real;
  return pinned() && (Real == -1 || Number == Server || Number == Executor);
}

void noteOwnSignal(int Signal) {
  if (OwnSignals && Signal > 0 && Signal < 32)
    __atomic_fetch_or(OwnSignals, 1u << Signal, __ATOMIC_RELAXED);
}

// Sends to a process, a group or, in the run, a thread. What would reach the
// search itself is said to have worked and reaches nobody.
template <typename Send> int sendSignal(pid_t Shown, int Signal, Send SendTo) {
  pid_t Real = realOf(Shown);
  if (reachesOurselves(Real)) {
    if (Signal >= 0 && Signal <= SIGRTMAX)
      return 0;
    errno = EINVAL;
    return -1;
  }
  if (Run && (Real == Run || Real == -Run || (Real == 0 && getpgrp() == Run)))
    noteOwnSignal(Signal);
  return SendTo(Real);
}

// To a thread of a process: whichever of its threads, the process ends.
template <typename Send>
int sendSignalToThread(pid_t Group, pid_t Thread, int Signal, Send SendTo) {
  return sendSignal(Group, Signal, [&](pid_t Real) { return SendTo(Real, realOf(Thread)); });
}

int sendToThread(pid_t Group, pid_t Thread, int Signal) {
  return sendSignalToThread(Group, Thread, Signal, [&](pid_t RealGroup, pid_t RealThread) {
    return (int)syscall(SYS_tgkill, RealGroup, RealThread, Signal);
  });
}

// A descriptor of those who run the program would be a way to signal them.
int openDescriptor(pid_t Shown, unsigned Flags) {
  pid_t Real = realOf(Shown);
  if (reachesOurselves(Real)) {
    errno = Real == -1 ? EINVAL : ESRCH;
    return -1;
  }
  return (int)syscall(SYS_pidfd_open, Real, Flags);
}

// Limits and priorities of those who run the program are theirs.
template <typename Change> int changeOf(pid_t Shown, Change ChangeOf) {
  pid_t Real = realOf(Shown);
  if (Real != -1 && reachesOurselves(Real)) {
    errno = EPERM;
    return -1;
  }
  return ChangeOf(Real);
}

bool isOwnerCommand(int Command) { return Command == F_SETOWN || Command == F_GETOWN; }

// F_SETOWN makes a process or group (negative) the receiver of SIGIO.
int controlOwner(int Fd, int Command, int Owner) {
  if (Command == F_SETOWN)
    return changeOf(Owner, [&](pid_t Real) { return fcntl(Fd, F_SETOWN, Real); });
  int Real = fcntl(Fd, F_GETOWN);
  return Real < -1 ? -shown(-Real) : shown(Real);
}

} // namespace

namespace sf {

void prepareProcesses() {
  void *Page =
      mmap(nullptr, sizeof(*OwnSignals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  OwnSignals = Page == MAP_FAILED ? nullptr : (uint32_t *)Page;
  Server = getpid();
  Executor = getppid();
}

void forgetOwnSignals() {
  if (OwnSignals)
    __atomic_store_n(OwnSignals, 0, __ATOMIC_RELAXED);
}

void enterProcess() { Run = getpid(); }

uint32_t ownSignals() { return OwnSignals ? __atomic_load_n(OwnSignals, __ATOMIC_RELAXED) : 0; }

} // namespace sf

// ---- Who is who

SF_MODEL_API pid_t __sf_model_getpid() { return shown(getpid()); }

SF_MODEL_API pid_t __sf_model_getppid() { return shown(getppid()); }

SF_MODEL_API pid_t __sf_model_gettid() { return shown((pid_t)syscall(SYS_gettid)); }

SF_MODEL_API pid_t __sf_model_getpgrp() { return shown(getpgrp()); }

SF_MODEL_API pid_t __sf_model_getpgid(pid_t Process) { return shown(getpgid(realOf(Process))); }

SF_MODEL_API pid_t __sf_model___getpgid(pid_t Process) { return shown(getpgid(realOf(Process))); }

SF_MODEL_API pid_t __sf_model_getsid(pid_t Process) { return shown(getsid(realOf(Process))); }

SF_MODEL_API int __sf_model_setpgid(pid_t Process, pid_t Group) {
  return setpgid(realOf(Process), realOf(Group));
}

SF_MODEL_API pid_t __sf_model_setsid() { return shown(setsid()); }

SF_MODEL_API pid_t __sf_model_tcgetpgrp(int Fd) { return shown(tcgetpgrp(Fd)); }

SF_MODEL_API pid_t __sf_model_tcgetsid(int Fd) { return shown(tcgetsid(Fd)); }

SF_MODEL_API int __sf_model_tcsetpgrp(int Fd, pid_t Group) { return tcsetpgrp(Fd, realOf(Group)); }

// ---- Signals

SF_MODEL_API int __sf_model_kill(pid_t Process, int Signal) {
  return sendSignal(Process, Signal, [&](pid_t Real) { return kill(Real, Signal); });
}

SF_MODEL_API int __sf_model_killpg(pid_t Group, int Signal) {
  if (Group < 0)
    return killpg(Group, Signal); // refused
  return sendSignal(-Group, Signal, [&](pid_t Real) { return kill(Real, Signal); });
}

SF_MODEL_API int __sf_model_tgkill(pid_t Group, pid_t Thread, int Signal) {
  return sendToThread(Group, Thread, Signal);
}

SF_MODEL_API int __sf_model_raise(int Signal) {
  if (getpid() == Run)
    noteOwnSignal(Signal);
  return raise(Signal);
}

SF_MODEL_API int __sf_model_sigqueue(pid_t Process, int Signal, void *Value) {
  sigval Passed;
  Passed.sival_ptr = Value;
  return sendSignal(Process, Signal, [&](pid_t Real) { return sigqueue(Real, Signal, Passed); });
}

SF_MODEL_API int __sf_model_pidfd_open(pid_t Process, unsigned Flags) {
  return openDescriptor(Process, Flags);
}

SF_MODEL_API int __sf_model_fcntl(int Fd, int Command, ...) {
  va_list Arguments;
  va_start(Arguments, Command);
  void *Argument = va_arg(Arguments, void *);
  va_end(Arguments);
  if (isOwnerCommand(Command))
    return controlOwner(Fd, Command, (int)(intptr_t)Argument);
  return fcntl(Fd, Command, Argument);
}

SF_MODEL_API int __sf_model_fcntl64(int Fd, int Command, ...) {
  va_list Arguments;
  va_start(Arguments, Command);
  void *Argument = va_arg(Arguments, void *);
  va_end(Arguments);
  if (isOwnerCommand(Command))
    return controlOwner(Fd, Command, (int)(intptr_t)Argument);
  return fcntl(Fd, Command, Argument);
}

// ---- Waiting for descendants

SF_MODEL_API pid_t __sf_model_waitpid(pid_t Process, int *Status, int Options) {
  return waitpid(realOf(Process), Status, Options);
}

SF_MODEL_API pid_t __sf_model_wait4(pid_t Process, int *Status, int Options, struct rusage *Usage) {
  return wait4(realOf(Process), Status, Options, Usage);
}

SF_MODEL_API int __sf_model_waitid(idtype_t Type, id_t Id, siginfo_t *Info, int Options) {
  if (Type == P_PID || Type == P_PGID)
    Id = (id_t)realOf((pid_t)Id);
  return waitid(Type, Id, Info, Options);
}

// ---- Limits, priorities, memory

SF_MODEL_API int __sf_model_getpriority(int Which, id_t Who) {
  return getpriority((__priority_which_t)Which,
                     Which == PRIO_USER ? Who : (id_t)realOf((pid_t)Who));
}

SF_MODEL_API int __sf_model_setpriority(int Which, id_t Who, int Priority) {
  if (Which == PRIO_USER)
    return setpriority(PRIO_USER, Who, Priority);
  return changeOf((pid_t)Who, [&](pid_t Real) {
    return setpriority((__priority_which_t)Which, (id_t)Real, Priority);
  });
}

SF_MODEL_API int __sf_model_prlimit(pid_t Process, int Resource, const struct rlimit *New,
                                    struct rlimit *Old) {
  return changeOf(Process,
                  [&](pid_t Real) { return prlimit(Real, (__rlimit_resource)Resource, New, Old); });
}

SF_MODEL_API int __sf_model_prlimit64(pid_t Process, int Resource, const struct rlimit64 *New,
                                      struct rlimit64 *Old) {
  return changeOf(
      Process, [&](pid_t Real) { return prlimit64(Real, (__rlimit_resource)Resource, New, Old); });
}

SF_MODEL_API int __sf_model_sched_getaffinity(pid_t Process, size_t Size, cpu_set_t *Set) {
  return sched_getaffinity(realOf(Process), Size, Set);
}

SF_MODEL_API int __sf_model_sched_setaffinity(pid_t Process, size_t Size, const cpu_set_t *Set) {
  return changeOf(Process, [&](pid_t Real) { return sched_setaffinity(Real, Size, Set); });
}

SF_MODEL_API int __sf_model_sched_getscheduler(pid_t Process) {
  return sched_getscheduler(realOf(Process));
}

SF_MODEL_API int __sf_model_sched_setscheduler(pid_t Process, int Policy,
                                               const struct sched_param *Parameters) {
  return changeOf(Process,
                  [&](pid_t Real) { return sched_setscheduler(Real, Policy, Parameters); });
}

SF_MODEL_API int __sf_model_sched_getparam(pid_t Process, struct sched_param *Parameters) {
  return sched_getparam(realOf(Process), Parameters);
}

SF_MODEL_API int __sf_model_sched_setparam(pid_t Process, const struct sched_param *Parameters) {
  return changeOf(Process, [&](pid_t Real) { return sched_setparam(Real, Parameters); });
}

SF_MODEL_API int __sf_model_sched_rr_get_interval(pid_t Process, struct timespec *Out) {
  return sched_rr_get_interval(realOf(Process), Out);
}

SF_MODEL_API int __sf_model_clock_getcpuclockid(pid_t Process, clockid_t *Out) {
  return clock_getcpuclockid(realOf(Process), Out);
}

SF_MODEL_API ssize_t __sf_model_process_vm_readv(pid_t Process, const struct iovec *Local,
                                                 unsigned long LocalCount,
                                                 const struct iovec *Remote,
                                                 unsigned long RemoteCount, unsigned long Flags) {
  return process_vm_readv(realOf(Process), Local, LocalCount, Remote, RemoteCount, Flags);
}

SF_MODEL_API ssize_t __sf_model_process_vm_writev(pid_t Process, const struct iovec *Local,
                                                  unsigned long LocalCount,
                                                  const struct iovec *Remote,
                                                  unsigned long RemoteCount, unsigned long Flags) {
  pid_t Real = realOf(Process);
  if (reachesOurselves(Real)) {
    errno = EPERM;
    return -1;
  }
  return process_vm_writev(Real, Local, LocalCount, Remote, RemoteCount, Flags);
}

// ---- The same without the C library's names

SF_MODEL_API long __sf_model_syscall(long Number, ...);

static bool isReadCall(long Number) {
  switch (Number) {
  case SYS_read:
  case SYS_pread64:
  case SYS_write:
  case SYS_lseek:
    return true;
  default:
    return false;
  }
}

static long readCall(long Number, const long *A) {
  ModelCall Call((const void *)__sf_model_syscall, 0);
  switch (Number) {
  case SYS_read:
    return readDescriptor(Call, (int)A[0], (void *)A[1], constant((uint64_t)A[2]));
  case SYS_pread64:
    return readDescriptorAt(Call, (int)A[0], (void *)A[1], constant((uint64_t)A[2]), A[3]);
  case SYS_write:
    return writeDescriptor((int)A[0], (const void *)A[1], (size_t)A[2]);
  default:
    return seekDescriptor(Call, (int)A[0], constant((uint64_t)A[1]), (int)A[2]);
  }
}

SF_MODEL_API long __sf_model_syscall(long Number, ...) {
  va_list Arguments;
  va_start(Arguments, Number);
  long A[6];
  for (long &Argument : A)
    Argument = va_arg(Arguments, long);
  va_end(Arguments);
  auto Again = [&] { return syscall(Number, A[0], A[1], A[2], A[3], A[4], A[5]); };
  if (isReadCall(Number)) {
    beginAt((int)A[0]);
    return G.recording ? readCall(Number, A) : Again();
  }
  switch (Number) {
  case SYS_getpid:
  case SYS_gettid:
  case SYS_getppid:
  case SYS_getpgrp:
  case SYS_setsid:
    return shown((pid_t)Again());
  case SYS_getpgid:
  case SYS_getsid:
    A[0] = realOf((pid_t)A[0]);
    return shown((pid_t)Again());
  case SYS_setpgid:
    A[1] = realOf((pid_t)A[1]);
    A[0] = realOf((pid_t)A[0]);
    return Again();
  case SYS_wait4:
    A[0] = realOf((pid_t)A[0]);
    return Again();
  case SYS_waitid:
    if (A[0] == P_PID || A[0] == P_PGID)
      A[1] = realOf((pid_t)A[1]);
    return Again();
  case SYS_kill:
    return __sf_model_kill((pid_t)A[0], (int)A[1]);
  case SYS_tkill:
  case SYS_rt_sigqueueinfo:
    return sendSignal((pid_t)A[0], (int)A[1], [&](pid_t Real) {
      A[0] = Real;
      return (int)Again();
    });
  case SYS_tgkill:
    return sendToThread((pid_t)A[0], (pid_t)A[1], (int)A[2]);
  case SYS_rt_tgsigqueueinfo:
    return sendSignalToThread((pid_t)A[0], (pid_t)A[1], (int)A[2], [&](pid_t Group, pid_t Thread) {
      A[0] = Group;
      A[1] = Thread;
      return (int)Again();
    });
  case SYS_pidfd_open:
    return openDescriptor((pid_t)A[0], (unsigned)A[1]);
  default:
    return Again();
  }
}
