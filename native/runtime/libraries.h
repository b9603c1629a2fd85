// Labels through uninstrumented C++ libraries.
#ifndef SYMFLEET_RUNTIME_LIBRARIES_H
#define SYMFLEET_RUNTIME_LIBRARIES_H

namespace sf {

// Makes the C++ libraries of this process call the models. Called once, in the
// server, while there is one thread of interest.
void followLibraries();

} // namespace sf

#endif
