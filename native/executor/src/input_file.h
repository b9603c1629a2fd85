// The file that the target reads.
#pragma once

#include "file_descriptor.h"

#include <cstdint>
#include <span>
#include <string>

namespace sf {

/// One private file in the work folder, rewritten in place for each run so that
/// its name and inode stay what the fork server knows. Removed at the end.
class InputFile {
public:
  /// Throws Failure(Internal) when the folder is not writable.
  explicit InputFile(const std::string &folder);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  /// Replace the contents; also rewinds what the target has as standard input.
  /// A target that removed the file gets a new one (another inode).
  void write(std::span<const uint8_t> bytes);

  const std::string &path() const { return name; }
  uint64_t device() const { return dev; }
  uint64_t inode() const { return ino; }
  /// An open description of its own, for the target's standard input.
  int standardInput() const { return reader.get(); }

private:
  void open();

  std::string name;
  FileDescriptor writer, reader;
  uint64_t dev = 0, ino = 0;
};

} // namespace sf
