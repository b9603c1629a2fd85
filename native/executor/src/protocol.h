// The executor protocol's frames (docs/reference/executor-protocol.md).
#pragma once

#include "execution_limits.h"
#include "explorer.h"
#include "failure.h"
#include "report.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sf {

/// The peer does not speak the protocol.
class ProtocolError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct Hello {
  TargetSpec target;
  Keep keep = Keep::Novel;
  Limits limits;
  uint64_t seed = 0;
};

using Message = nlohmann::json;

/// A body of at most 80 MiB behind its length.
constexpr uint32_t FrameBytesMax = 80u << 20;

/// Read one frame; nothing at the end of file. Throws ProtocolError.
std::optional<Message> readFrame(int descriptor);
/// Answers false when the reader is gone.
bool writeFrame(int descriptor, const Message &message);

/// Each throws ProtocolError for a missing, superfluous or mistyped field.
Hello parseHello(const Message &message);
RunRequest parseRun(const Message &message);
std::vector<uint32_t> parseKnown(const Message &message);

Message encode(const Child &child);
Message encode(const Done &done);
Message encode(const Failure &failure);

} // namespace sf
