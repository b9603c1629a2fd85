#include "process_tree.h"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sf {
namespace {

std::string readWhole(const char *path) {
  std::string text;
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  ::close(fd);
  return text;
}

uint64_t numberAt(std::string_view text, size_t at) {
  uint64_t value = 0;
  if (at < text.size())
    std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// The n-th field (from 0) of a space-separated line.
uint64_t field(std::string_view text, unsigned n) {
  size_t at = 0;
  for (; n > 0; --n) {
    at = text.find(' ', at);
    if (at == std::string_view::npos)
      return 0;
    ++at;
  }
  return numberAt(text, at);
}

/// /proc/<pid>/stat from its third field on (the name before it may hold
/// spaces): 0 state, 1 parent, 2 group, 11 and 12 CPU ticks, 21 resident pages.
std::string statOf(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::string stat = readWhole(path);
  size_t end = stat.rfind(") ");
  return end == std::string::npos ? std::string() : stat.substr(end + 2);
}

ProcessUse parseUse(std::string_view stat) {
  static const uint64_t pageKib = uint64_t(::sysconf(_SC_PAGESIZE)) / 1024;
  static const uint64_t tickUs = 1000000 / uint64_t(::sysconf(_SC_CLK_TCK));
  return {field(stat, 21) * pageKib, (field(stat, 11) + field(stat, 12)) * tickUs, 1};
}

/// Call `visit(pid, stat)` for every process that can be seen.
template <typename F> void forEachProcess(F &&visit) {
  DIR *proc = ::opendir("/proc");
  if (!proc)
    return;
  while (const dirent *entry = ::readdir(proc))
    if (pid_t pid = pid_t(std::strtol(entry->d_name, nullptr, 10)); pid > 0)
      if (std::string stat = statOf(pid); !stat.empty())
        visit(pid, stat);
  ::closedir(proc);
}

/// All that descend from this process but `spared` and what descends from that.
std::vector<pid_t> descendants(pid_t spared) {
  std::vector<std::pair<pid_t, pid_t>> all; // process, parent
  forEachProcess([&](pid_t pid, std::string_view stat) {
    if (pid != spared)
      all.emplace_back(pid, pid_t(field(stat, 1)));
  });
  std::unordered_multimap<pid_t, pid_t> children;
  for (auto [pid, parent] : all)
    children.emplace(parent, pid);
  std::vector<pid_t> found;
  const auto append = [&](pid_t parent) {
    auto [begin, end] = children.equal_range(parent);
    for (auto at = begin; at != end; ++at)
      found.push_back(at->second);
  };
  append(::getpid());
  for (size_t at = 0; at < found.size(); ++at)
    append(found[at]);
  return found;
}

/// What the kernel lists below a process; nothing where it keeps no such list.
void appendChildren(pid_t pid, std::vector<pid_t> &found) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = ::opendir(path);
  if (!tasks)
    return;
  while (const dirent *entry = ::readdir(tasks)) {
    char list[128];
    std::snprintf(list, sizeof list, "%s/%.20s/children", path, entry->d_name);
    const std::string text = entry->d_name[0] == '.' ? std::string() : readWhole(list);
    for (size_t at = 0, end; (end = text.find(' ', at)) != text.npos; at = end + 1)
      found.push_back(pid_t(numberAt(text, at))); // a space follows each
  }
  ::closedir(tasks);
}

} // namespace

ProcessUse useOf(pid_t pid) { return parseUse(statOf(pid)); }

ProcessUse useOfGroup(pid_t group) {
  ProcessUse sum;
  forEachProcess([&](pid_t, std::string_view stat) {
    if (field(stat, 2) != uint64_t(group))
      return;
    ProcessUse use = parseUse(stat);
    sum.rssKib += use.rssKib;
    sum.cpuUs += use.cpuUs;
    ++sum.processes;
  });
  return sum;
}

void adoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

unsigned countDescendants(unsigned most) {
  std::vector<pid_t> found{::getpid()};
  for (size_t at = 0; at < found.size() && found.size() <= most; ++at)
    appendChildren(found[at], found);
  return unsigned(found.size() - 1);
}

void endDescendantsExcept(pid_t spared) {
  // Children of a killed child become ours in turn, and the living may fork
  // while we look.
  constexpr int RoundsMax = 1000;
  for (int round = 0; round < RoundsMax; ++round) {
    std::vector<pid_t> found = descendants(spared);
    if (found.empty())
      return;
    for (pid_t pid : found)
      ::kill(pid, SIGKILL);
    for (pid_t pid : found) // parents come first: their children are ours by then
      ::waitpid(pid, nullptr, 0);
  }
}

uint64_t kernelOomKills() {
  constexpr std::string_view Key = "oom_kill ";
  std::string text = readWhole("/proc/vmstat");
  size_t at = text.find(Key);
  return at == std::string::npos ? 0 : numberAt(text, at + Key.size());
}

} // namespace sf
