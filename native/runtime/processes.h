// Which process is which while process numbers are pinned, and what the run
// signals itself.
//
// Theory of operation. `getpid` gives each run the same number, so that what is
// made of it is the same each time. The number is one that no kernel hands out:
// where it escapes to code that we do not see (a library, a file name) it names
// nobody, never a stranger. Every model of a call that takes a process, group or
// thread number translates it back, and every one that gives a number translates
// it forth. The run's parent is the fork server, which has a number of its own
// like that; it exists for the run, but a signal to it arrives nowhere: it would
// end the search instead of whatever the program thinks started it. A child that
// the run forks has its real number, so that it differs from its parent's.
#ifndef SYMFLEET_RUNTIME_PROCESSES_H
#define SYMFLEET_RUNTIME_PROCESSES_H

#include <stdint.h>

namespace sf {

// In the fork server, once: where runs note the signals that they send
// themselves, which the server can read after their death.
void prepareProcesses();

// In the fork server, before each run.
void forgetOwnSignals();

// In a new run, before it leaves the runtime.
void enterProcess();

// Signals 1 to 31 that the run or a descendant of it sent to the run, as bits.
uint32_t ownSignals();

} // namespace sf

#endif
