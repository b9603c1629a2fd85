// How far a condition with floating-point numbers is from being true.
#pragma once

#include "evaluator.h"

namespace sf {

/// 0 where the condition holds under what the evaluator assumes. Distances of
/// compares grow with the logarithm of the difference, counted in integers or in
/// neighbouring floating-point numbers, so that those of several can be added.
double distanceOf(const Trace &trace, Evaluator &evaluator, const Condition &condition);

} // namespace sf
