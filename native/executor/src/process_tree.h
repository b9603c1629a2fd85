// What the kernel says about processes that descend from ours.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace sf {

struct ProcessUse {
  uint64_t rssKib = 0;
  uint64_t cpuUs = 0;
  unsigned processes = 0;
};

/// Memory and CPU time of all members of a process group.
ProcessUse useOfGroup(pid_t group);

/// Memory and CPU time of one process; cheap.
ProcessUse useOf(pid_t pid);

/// How many processes descend from this one, counted no further than `most`;
/// cheap while they are few.
unsigned countDescendants(unsigned most);

/// Make orphans of our descendants ours, so that none can slip away.
void adoptOrphans();

/// Kill and reap every descendant of this process but `spared`, also while they
/// go on forking. What descends from us is ours to kill: nothing else is ever
/// signalled.
void endDescendantsExcept(pid_t spared);

/// Kills by the kernel's memory killer since boot (0 when unknown).
uint64_t kernelOomKills();

} // namespace sf
