// Calls that leave what carries labels: of functions that are only declared here
// and have no model.
//
// Another object file of the program may define such a function, instrumented or
// not. Nobody knows before the program is linked, so each call is noted, and who
// reads the notes leaves out those of functions that turn out to carry labels
// (SF_FUNCTION_MARK stands before them).
#ifndef SYMFLEET_PASS_OUTSIDECALLS_H
#define SYMFLEET_PASS_OUTSIDECALLS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace symfleet {

// How what is handed to such a function may come back.
enum class ComesBack {
  Decides, // the result is compared or branched on
  Result,  // the result is used
  Memory,  // through a pointer
  State,   // through what the function keeps for itself
};

struct OutsideCall {
  const llvm::Function *callee;
  ComesBack way;
  // Arguments that lead to memory that the callee may read; the first few.
  llvm::SmallVector<llvm::Value *, 4> pointers;
};

// Most pointers of a call whose memory is looked at.
constexpr unsigned OutsidePointersMax = 3;

// Nothing for a call that goes elsewhere, or of a function that is known to lose
// nothing. HasLabels: whether an argument can have a label.
std::optional<OutsideCall> outsideCall(const llvm::CallBase &Call, bool HasLabels);

// As the notes have it (notes.h).
const char *nameOf(ComesBack Way);

} // namespace symfleet

#endif
