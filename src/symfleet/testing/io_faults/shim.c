//===- shim.c - let the n-th input or output of a process fail --*- C -*-===//
//
// Preloaded (LD_PRELOAD) into a program under test. It counts the calls of the
// chosen kinds on files below a folder and lets one of them fail: with an
// error, or by writing less than asked. It is armed by io_faults_arm, or by
// the variable SYMFLEET_IO_FAULT=ROOT|KINDS|NTH|ERROR|MODE|RANK, where RANK is
// that of a process of an MPI job, or the last part of the program's name.
//
// It also watches what comes after a failed fsync: the kernel may have dropped
// the pages, so that another fsync of the same file that succeeds proves
// nothing. Such calls are counted (io_faults_retried). With a folder it is
// otherwise: its names stand in the file system's own log, whose failure stays,
// so that a later fsync of the same folder that succeeds makes up for one that
// failed. Failed syncs that nothing made up for are io_faults_unsettled.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum Kind {
  KindOpen = 1,
  KindWrite = 2,
  KindSync = 4,
  KindRename = 8,
  KindResize = 16,
  KindMap = 32,
  KindUnlink = 64,
  KindFolder = 128,
  KindRead = 256,
};

enum Mode { ModeOnce = 0, ModeForEver = 1, ModeShort = 2 };

enum { DescriptorsMax = 4096 };

static char Root[PATH_MAX];
static unsigned Kinds;
static long Nth, Seen, Fired, Retried, Unsettled;
static int Error, FaultMode, Paused;
static unsigned char Below[DescriptorsMax];
static dev_t FailedDevice;
static ino_t FailedInode;
static dev_t FolderDevice;
static ino_t FolderInode;

void io_faults_arm(const char *Folder, unsigned Which, long Number, int Code,
                   int How) {
  snprintf(Root, sizeof Root, "%s", Folder);
  Kinds = Which;
  Nth = Number;
  Error = Code;
  FaultMode = How;
  Seen = Fired = Retried = Unsettled = 0;
  FailedInode = FolderInode = 0;
}

/// Let all calls through uncounted until it is called with 0.
void io_faults_pause(int Pause) { Paused = Pause; }

long io_faults_seen(void) { return Seen; }
long io_faults_fired(void) { return Fired; }
long io_faults_retried(void) { return Retried; }

/// How many syncs have failed, but for one of a folder that a later one of the
/// same folder has made up for.
long io_faults_unsettled(void) { return Unsettled + (FolderInode != 0); }

static void *real(const char *Name) {
  void *Found = dlsym(RTLD_NEXT, Name);
  if (!Found)
    abort();
  return Found;
}

// The types of the functions that are called are those of their headers.
#define REAL(Name) ((__typeof__(&Name))real(#Name))

static int isBelow(const char *Path) {
  char Whole[PATH_MAX * 2];
  if (!Root[0])
    return 0;
  if (Path[0] == '/') {
    snprintf(Whole, sizeof Whole, "%s", Path);
  } else {
    char Here[PATH_MAX];
    if (!getcwd(Here, sizeof Here))
      return 0;
    snprintf(Whole, sizeof Whole, "%s/%s", Here, Path);
  }
  size_t Length = strlen(Root);
  return strncmp(Whole, Root, Length) == 0 &&
         (Whole[Length] == '/' || Whole[Length] == 0);
}

static int isOurs(int Descriptor) {
  return Descriptor >= 0 && Descriptor < DescriptorsMax && Below[Descriptor];
}

/// Count a call; return whether it is to fail.
static int fails(enum Kind Which) {
  if (!Nth || Paused || !(Kinds & Which))
    return 0;
  ++Seen;
  if (Seen != Nth && !(FaultMode == ModeForEver && Seen > Nth))
    return 0;
  ++Fired;
  errno = Error;
  return 1;
}

static void opened(int Descriptor, const char *Path) {
  if (Descriptor >= 0 && Descriptor < DescriptorsMax)
    Below[Descriptor] = (unsigned char)isBelow(Path);
}

static int openAs(int (*Call)(const char *, int, ...), const char *Path,
                  int Flags, mode_t Bits) {
  if (isBelow(Path) && fails(KindOpen))
    return -1;
  int Descriptor = Call(Path, Flags, Bits);
  opened(Descriptor, Path);
  return Descriptor;
}

#define BITS_OF(Flags)                                                         \
  mode_t Bits = 0;                                                             \
  if (Flags & (O_CREAT | O_TMPFILE)) {                                         \
    va_list List;                                                              \
    va_start(List, Flags);                                                     \
    Bits = va_arg(List, mode_t);                                               \
    va_end(List);                                                              \
  }

int open(const char *Path, int Flags, ...) {
  BITS_OF(Flags)
  return openAs(REAL(open), Path, Flags, Bits);
}

int open64(const char *Path, int Flags, ...) {
  BITS_OF(Flags)
  return openAs(REAL(open64), Path, Flags, Bits);
}

int openat(int Folder, const char *Path, int Flags, ...) {
  BITS_OF(Flags)
  if (Folder == AT_FDCWD)
    return openAs(REAL(open), Path, Flags, Bits);
  return REAL(openat)(Folder, Path, Flags, Bits);
}

int openat64(int Folder, const char *Path, int Flags, ...) {
  BITS_OF(Flags)
  if (Folder == AT_FDCWD)
    return openAs(REAL(open64), Path, Flags, Bits);
  return REAL(openat64)(Folder, Path, Flags, Bits);
}

int close(int Descriptor) {
  if (Descriptor >= 0 && Descriptor < DescriptorsMax)
    Below[Descriptor] = 0;
  return REAL(close)(Descriptor);
}

/// Return how much of a write is let through; -1: it fails.
static ssize_t allowed(int Descriptor, size_t Length) {
  if (!isOurs(Descriptor) || !fails(KindWrite))
    return (ssize_t)Length;
  return FaultMode == ModeShort && Length > 1 ? (ssize_t)(Length / 2) : -1;
}

ssize_t write(int Descriptor, const void *Data, size_t Length) {
  ssize_t Part = allowed(Descriptor, Length);
  return Part < 0 ? -1 : REAL(write)(Descriptor, Data, (size_t)Part);
}

ssize_t pwrite(int Descriptor, const void *Data, size_t Length, off_t Offset) {
  ssize_t Part = allowed(Descriptor, Length);
  return Part < 0 ? -1 : REAL(pwrite)(Descriptor, Data, (size_t)Part, Offset);
}

ssize_t pwrite64(int Descriptor, const void *Data, size_t Length,
                 off64_t Offset) {
  ssize_t Part = allowed(Descriptor, Length);
  return Part < 0 ? -1 : REAL(pwrite64)(Descriptor, Data, (size_t)Part, Offset);
}

ssize_t read(int Descriptor, void *Data, size_t Length) {
  if (isOurs(Descriptor) && fails(KindRead))
    return -1;
  return REAL(read)(Descriptor, Data, Length);
}

ssize_t pread(int Descriptor, void *Data, size_t Length, off_t Offset) {
  if (isOurs(Descriptor) && fails(KindRead))
    return -1;
  return REAL(pread)(Descriptor, Data, Length, Offset);
}

ssize_t pread64(int Descriptor, void *Data, size_t Length, off64_t Offset) {
  if (isOurs(Descriptor) && fails(KindRead))
    return -1;
  return REAL(pread64)(Descriptor, Data, Length, Offset);
}

/// Count a sync, of a file or folder or of the whole file system; return
/// whether it is to fail. Remember which file or folder it was.
static int failsToSync(int Descriptor, int IsWhole) {
  struct stat State;
  if (!isOurs(Descriptor) || fstat(Descriptor, &State) != 0)
    return 0;
  if (FailedInode == State.st_ino && FailedDevice == State.st_dev)
    ++Retried;
  if (!fails(KindSync))
    return 0;
  if (!IsWhole && S_ISDIR(State.st_mode) && !FolderInode) {
    FolderInode = State.st_ino;
    FolderDevice = State.st_dev;
  } else {
    ++Unsettled;
  }
  if (S_ISREG(State.st_mode)) {
    FailedInode = State.st_ino;
    FailedDevice = State.st_dev;
  }
  errno = Error;
  return 1;
}

int fsync(int Descriptor) {
  struct stat State;
  if (failsToSync(Descriptor, 0))
    return -1;
  int Result = REAL(fsync)(Descriptor);
  if (Result == 0 && FolderInode && fstat(Descriptor, &State) == 0 &&
      FolderInode == State.st_ino && FolderDevice == State.st_dev)
    FolderInode = 0;
  return Result;
}

int fdatasync(int Descriptor) {
  return failsToSync(Descriptor, 0) ? -1 : REAL(fdatasync)(Descriptor);
}

int syncfs(int Descriptor) {
  return failsToSync(Descriptor, 1) ? -1 : REAL(syncfs)(Descriptor);
}

int rename(const char *Old, const char *New) {
  if (isBelow(New) && fails(KindRename))
    return -1;
  return REAL(rename)(Old, New);
}

int ftruncate(int Descriptor, off_t Length) {
  if (isOurs(Descriptor) && fails(KindResize))
    return -1;
  return REAL(ftruncate)(Descriptor, Length);
}

int ftruncate64(int Descriptor, off64_t Length) {
  if (isOurs(Descriptor) && fails(KindResize))
    return -1;
  return REAL(ftruncate64)(Descriptor, Length);
}

int posix_fallocate(int Descriptor, off_t Offset, off_t Length) {
  if (isOurs(Descriptor) && fails(KindResize))
    return Error;
  return REAL(posix_fallocate)(Descriptor, Offset, Length);
}

int posix_fallocate64(int Descriptor, off64_t Offset, off64_t Length) {
  if (isOurs(Descriptor) && fails(KindResize))
    return Error;
  return REAL(posix_fallocate64)(Descriptor, Offset, Length);
}

void *mmap(void *Where, size_t Length, int Access, int Flags, int Descriptor,
           off_t Offset) {
  if (isOurs(Descriptor) && fails(KindMap))
    return MAP_FAILED;
  return REAL(mmap)(Where, Length, Access, Flags, Descriptor, Offset);
}

void *mmap64(void *Where, size_t Length, int Access, int Flags, int Descriptor,
             off64_t Offset) {
  if (isOurs(Descriptor) && fails(KindMap))
    return MAP_FAILED;
  return REAL(mmap64)(Where, Length, Access, Flags, Descriptor, Offset);
}

int unlink(const char *Path) {
  if (isBelow(Path) && fails(KindUnlink))
    return -1;
  return REAL(unlink)(Path);
}

int mkdir(const char *Path, mode_t Bits) {
  if (isBelow(Path) && fails(KindFolder))
    return -1;
  return REAL(mkdir)(Path, Bits);
}

/// Whether a process is the one that RANK of the variable means.
static int isMeant(const char *Who) {
  const char *Rank = getenv("PMIX_RANK");
  if (Rank)
    return strcmp(Rank, Who) == 0;
  char Program[PATH_MAX];
  ssize_t Length = readlink("/proc/self/exe", Program, sizeof Program - 1);
  if (Length <= 0)
    return 0;
  Program[Length] = 0;
  const char *Name = strrchr(Program, '/');
  return Name && strcmp(Name + 1, Who) == 0;
}

__attribute__((constructor)) static void armByVariable(void) {
  const char *Plan = getenv("SYMFLEET_IO_FAULT");
  char Folder[PATH_MAX], Who[64];
  unsigned Which;
  long Number;
  int Code, How;
  if (Plan && sscanf(Plan, "%4095[^|]|%u|%ld|%d|%d|%63s", Folder, &Which,
                     &Number, &Code, &How, Who) == 6 &&
      isMeant(Who))
    io_faults_arm(Folder, Which, Number, Code, How);
}
