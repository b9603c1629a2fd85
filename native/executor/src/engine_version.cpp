#include "engine_version.h"

namespace sf {

// The last number grows with anything that changes which children an input has.
const char *const EngineVersion = "symfleet-exec 0.1.1";

} // namespace sf
