// Labels through uninstrumented C++ libraries.
#ifndef SYMFLEET_RUNTIME_LIBRARIES_H
#define SYMFLEET_RUNTIME_LIBRARIES_H

#include <stdint.h>

namespace sf {

// A virtual function that the program calls by its class's table, which lies in
// a C++ library, and the model that its slot leads to.
struct VirtualLead {
  const uint64_t *slot; // null where the class is not there
  void *model;
  void *real; // for the model
};
// Of the buffer of std::cin, see models_istreambuf.cpp.
constexpr unsigned VirtualLeadsMax = 2;
extern VirtualLead StandardInputLeads[VirtualLeadsMax];
void findStandardInputLeads();

// Whether an address is in the code of a C++ library that is followed.
bool isLibraryCode(const void *Address);

// Makes the C++ libraries of this process call the models. Called once, in the
// server, while there is one thread of interest.
void followLibraries();

} // namespace sf

#endif
