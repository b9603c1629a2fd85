// The file that the target reads.
#pragma once

#include "file_descriptor.h"

#include "symfleet/abi.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sf {

/// How the input comes to the target.
enum class InputWay {
  File,     ///< at the path that stands for "@@" in its arguments
  Stdin,    ///< as standard input, the file itself
  Socket,   ///< as standard input, a connected socket
  Listener, ///< as standard input, a socket with a connection to accept
  Argv,     ///< in the place of "@@" in its arguments
};

/// The way of a name, as --input-mode has it.
std::optional<InputWay> inputWayOf(std::string_view name);
sf_input_kind kindOf(InputWay way);

/// One private file in the work folder, rewritten in place for each run so that
/// its name and inode stay what the fork server knows. Removed at the end.
class InputFile {
public:
  /// Throws Failure(Internal) when the folder is not writable.
  explicit InputFile(const std::string &folder, InputWay way = InputWay::File);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  /// Replace the contents; also rewinds what the target has as standard input.
  /// A target that removed the file gets a new one (another inode).
  void write(std::span<const uint8_t> bytes);

  const std::string &path() const { return name; }
  uint64_t device() const { return dev; }
  uint64_t inode() const { return ino; }
  uint64_t size() const { return bytesNow; }
  InputWay way() const { return how; }
  /// An open description of its own, for the target's standard input.
  int standardInput() const { return reader.get(); }

private:
  void open();

  std::string name;
  InputWay how;
  uint64_t bytesNow = 0;
  FileDescriptor writer, reader;
  uint64_t dev = 0, ino = 0;
};

} // namespace sf
