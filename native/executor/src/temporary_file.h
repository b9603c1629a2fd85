// A file of ours in the work folder that goes when we do.
#pragma once

#include "file_descriptor.h"

#include <string>
#include <unistd.h>
#include <utility>

namespace sf {

class TemporaryFile {
public:
  TemporaryFile() = default;
  /// Takes over an open descriptor of the file of this name.
  TemporaryFile(std::string path, int descriptor) : name(std::move(path)), file(descriptor) {}
  TemporaryFile(TemporaryFile &&other) noexcept
      : name(std::exchange(other.name, {})), file(std::move(other.file)) {}
  TemporaryFile &operator=(TemporaryFile &&other) noexcept {
    std::swap(name, other.name);
    std::swap(file, other.file);
    return *this;
  }
  ~TemporaryFile() {
    if (file)
      ::unlink(name.c_str());
  }
  int get() const { return file.get(); }
  explicit operator bool() const { return bool(file); }

private:
  std::string name;
  FileDescriptor file;
};

} // namespace sf
