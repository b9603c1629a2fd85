// What the models of comparisons, searches and copies of strings share.
#ifndef SYMFLEET_RUNTIME_MODELS_STRING_H
#define SYMFLEET_RUNTIME_MODELS_STRING_H

#include "model.h"

namespace sf {

enum CompareFlags : unsigned { StopAtNul = 1, FoldCase = 2 };

constexpr uint64_t EventBytesMax = 1u << 16;

// A byte as a comparison that folds case sees it.
Operand lower(Operand A);

// A scan over bytes that ended at Found (Size if it found nothing) because of
// a byte equal to Wanted; with StopAtNul a NUL ends it too.
void scanned(const ModelCall &Call, const void *At, uint64_t Found, uint64_t Size, Operand Wanted,
             unsigned Flags);
void scannedToNul(const ModelCall &Call, const char *S, uint64_t Length);

} // namespace sf

#endif
