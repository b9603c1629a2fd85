/* Who is who: processes CHECK INPUT ends with 0 when the numbers of processes
 * are consistent and signals arrive where they should, by abort() when not. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, strerror(errno));                     \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

static volatile sig_atomic_t arrived;
static void count(int number) { arrived += number == SIGUSR1; }
static const union sigval nothing;

static void names(void) {
  pid_t self = getpid(), parent = getppid();
  EXPECT(self != parent);
  EXPECT(gettid() == self && syscall(SYS_gettid) == self && syscall(SYS_getpid) == self);
  EXPECT(syscall(SYS_getppid) == parent);
  EXPECT(getpgrp() == self && getpgid(0) == self && getpgid(self) == self);
  EXPECT(getsid(0) == getsid(self) && getsid(0) != self);
  EXPECT(setpgid(self, self) == 0);
  EXPECT(getpriority(PRIO_PROCESS, (id_t)self) == getpriority(PRIO_PROCESS, 0));
  EXPECT(getpriority(PRIO_PGRP, (id_t)self) == getpriority(PRIO_PGRP, 0));
  struct rlimit limit;
  EXPECT(prlimit(self, RLIMIT_CORE, NULL, &limit) == 0);
}

static void own(void) {
  int sent = 0;
  pid_t self = getpid();
  signal(SIGUSR1, count);
#define SENDS(call)                                                                                \
  EXPECT((call) == 0);                                                                             \
  EXPECT(arrived == ++sent)
  SENDS(kill(self, SIGUSR1));
  SENDS(kill(-self, SIGUSR1));
  SENDS(kill(0, SIGUSR1));
  SENDS(kill(-getpgrp(), SIGUSR1));
  SENDS(killpg(self, SIGUSR1));
  SENDS(killpg(0, SIGUSR1));
  SENDS(tgkill(self, gettid(), SIGUSR1));
  SENDS(tgkill(self, (pid_t)syscall(SYS_gettid), SIGUSR1));
  SENDS(sigqueue(self, SIGUSR1, nothing));
  SENDS(raise(SIGUSR1));
  SENDS(pthread_kill(pthread_self(), SIGUSR1));
  SENDS(syscall(SYS_kill, self, SIGUSR1));
  SENDS(syscall(SYS_tkill, self, SIGUSR1));
  SENDS(syscall(SYS_tgkill, self, self, SIGUSR1));
  int fd = (int)syscall(SYS_pidfd_open, self, 0);
  EXPECT(fd >= 0);
  SENDS(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}

/* Nobody else is reached, and the run is told that all is well. */
static void parent(void) {
  pid_t other = getppid();
  EXPECT(kill(other, 0) == 0);
  EXPECT(kill(other, SIGKILL) == 0);
  EXPECT(kill(-other, SIGKILL) == 0);
  EXPECT(kill(-getsid(0), SIGKILL) == 0);
  EXPECT(killpg(other, SIGKILL) == 0);
  EXPECT(getpgid(other) == other && getsid(0) == other);
  EXPECT(tgkill(other, other, SIGKILL) == 0);
  EXPECT(sigqueue(other, SIGKILL, nothing) == 0);
  EXPECT(syscall(SYS_kill, other, SIGKILL) == 0);
  EXPECT(syscall(SYS_tkill, other, SIGKILL) == 0);
  EXPECT(kill(other, 999) == -1 && errno == EINVAL);
  EXPECT(syscall(SYS_pidfd_open, other, 0) == -1 && errno == ESRCH);
  EXPECT(setpriority(PRIO_PROCESS, (id_t)other, 19) == -1 && errno == EPERM);
}

/* Waits until it is told, and ends with whether a signal has come. */
static int bystander(int told, int ready) {
  char byte;
  sigset_t urgent, pending;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  signal(SIGURG, count); /* what is ignored is not kept */
  sigprocmask(SIG_BLOCK, &urgent, NULL);
  EXPECT(write(ready, "r", 1) == 1 && read(told, &byte, 1) == 1);
  sigpending(&pending);
  return sigismember(&pending, SIGURG);
}

/* A signal to all reaches nobody. It is one that harms nobody if it does. */
static void everybody(void) {
  int tell[2], hear[2], status = 0;
  char byte;
  EXPECT(pipe(tell) == 0 && pipe(hear) == 0);
  pid_t pid = fork();
  if (pid == 0)
    _exit(bystander(tell[0], hear[1]));
  EXPECT(read(hear[0], &byte, 1) == 1);
  EXPECT(kill(-1, SIGURG) == 0);
  EXPECT(write(tell[1], "t", 1) == 1);
  EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void child(void) {
  pid_t self = getpid();
  signal(SIGUSR1, count);
  pid_t pid = fork();
  if (pid == 0) {
    EXPECT(getpid() != self && gettid() == getpid());
    EXPECT(getppid() == self && getpgrp() == self);
    EXPECT(kill(getppid(), SIGUSR1) == 0);
    for (;;)
      pause();
  }
  EXPECT(pid > 0 && pid < 1 << 22);
  while (!arrived)
    usleep(1000);
  EXPECT(getpgid(pid) == self);
  EXPECT(kill(pid, SIGTERM) == 0);
  int status = 0;
  EXPECT(waitpid(-self, &status, 0) == pid);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Ends by its own hand, or by that of a child. */
static void end(const char *how, int number) {
  if (strcmp(how, "raise") == 0)
    raise(number);
  else if (strcmp(how, "kill") == 0)
    kill(getpid(), number);
  else if (strcmp(how, "group") == 0)
    kill(0, number);
  else if (strcmp(how, "killpg") == 0)
    killpg(getpgrp(), number);
  else if (strcmp(how, "thread") == 0)
    tgkill(getpid(), gettid(), number);
  else if (strcmp(how, "queue") == 0)
    sigqueue(getpid(), number, nothing);
  else if (strcmp(how, "syscall") == 0)
    syscall(SYS_kill, getpid(), number);
  else if (strcmp(how, "offspring") == 0) {
    pid_t self = getpid();
    if (fork() == 0) {
      EXPECT(getppid() == self);
      kill(self, number);
    }
  }
  for (;;)
    pause();
}

/* Forks far more than a run may have; `apart`: each in a session of its own. It ends with the run. */
static void crowd(int apart) {
  for (int i = 0; i < 2000; ++i) {
    pid_t pid = fork();
    EXPECT(pid >= 0);
    if (pid == 0) {
      if (apart)
        setsid();
      sleep(60);
      _exit(0);
    }
  }
  sleep(60);
}

int main(int argc, char **argv) {
  char first = 0;
  FILE *file = fopen(argv[argc - 1], "rb");
  if (!file || fread(&first, 1, 1, file) != 1)
    return 64;
  /* No kernel gives such a number to a stranger: else nothing here may be signalled. */
  EXPECT(getpid() > 1 << 22 && getppid() > 1 << 22);
  if (strcmp(argv[1], "names") == 0)
    names();
  else if (strcmp(argv[1], "own") == 0)
    own();
  else if (strcmp(argv[1], "parent") == 0)
    parent();
  else if (strcmp(argv[1], "everybody") == 0)
    everybody();
  else if (strcmp(argv[1], "child") == 0)
    child();
  else if (strcmp(argv[1], "crowd") == 0)
    crowd(0);
  else if (strcmp(argv[1], "crowd-apart") == 0)
    crowd(1);
  else
    end(argv[1], atoi(argv[2]));
  return first == 'x' ? 3 : 0;
}
