// The name under which this engine's results are kept apart from others'.
#pragma once

namespace sf {

extern const char *const EngineVersion;

} // namespace sf
