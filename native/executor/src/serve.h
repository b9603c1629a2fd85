// The engine behind the executor protocol.
#pragma once

namespace sf {

/// Serve frames on standard input and output until `stop` or the end of file;
/// then end the process.
[[noreturn]] void serve();

} // namespace sf
