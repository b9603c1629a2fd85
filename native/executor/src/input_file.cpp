#include "input_file.h"
#include "failure.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace sf {
namespace {

[[noreturn]] void fail(const std::string &what, const std::string &path) {
  bool full = errno == ENOSPC || errno == EDQUOT;
  throw Failure(full ? FailureReason::NoSpace : FailureReason::Internal,
                what + " " + path + ": " + std::strerror(errno),
                "the work folder must be writable and have free space");
}

} // namespace

std::optional<InputWay> inputWayOf(std::string_view name) {
  if (name == "file")
    return InputWay::File;
  if (name == "stdin")
    return InputWay::Stdin;
  if (name == "socket")
    return InputWay::Socket;
  if (name == "listener")
    return InputWay::Listener;
  if (name == "argv")
    return InputWay::Argv;
  return std::nullopt;
}

sf_input_kind kindOf(InputWay way) {
  switch (way) {
  case InputWay::Socket:
    return SF_INPUT_SOCKET;
  case InputWay::Listener:
    return SF_INPUT_LISTENER;
  case InputWay::Argv:
    return SF_INPUT_ARGV;
  case InputWay::File:
  case InputWay::Stdin:
    break;
  }
  return SF_INPUT_FILE;
}

InputFile::InputFile(const std::string &folder, InputWay way) : name(folder + "/input"), how(way) {
  open();
}

InputFile::~InputFile() { ::unlink(name.c_str()); }

void InputFile::open() {
  writer = FileDescriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!writer)
    fail("cannot create", name);
  reader = FileDescriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!reader || ::fstat(writer.get(), &status) != 0)
    fail("cannot open", name);
  dev = status.st_dev;
  ino = status.st_ino;
}

void InputFile::write(std::span<const uint8_t> bytes) {
  struct stat status;
  bool same = ::stat(name.c_str(), &status) == 0 && status.st_ino == ino && status.st_dev == dev;
  if (!same)
    open();
  if ((!same || status.st_size != off_t(bytes.size())) &&
      ::ftruncate(writer.get(), off_t(bytes.size())) != 0)
    fail("cannot resize", name);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = ::pwrite(writer.get(), bytes.data() + done, bytes.size() - done, off_t(done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail("cannot write", name);
    done += size_t(n);
  }
  bytesNow = bytes.size();
  ::lseek(reader.get(), 0, SEEK_SET);
}

} // namespace sf
