#include "protocol.h"

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <unistd.h>

namespace sf {
namespace {

/// Answers the number of bytes read: less than `size` at the end of file only.
size_t readFully(int descriptor, void *buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = ::read(descriptor, static_cast<char *>(buffer) + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    done += size_t(n);
  }
  return done;
}

void expectKeys(const Message &map, std::string_view what,
                std::initializer_list<std::string_view> keys) {
  if (!map.is_object())
    throw ProtocolError(std::string(what) + " is not a map");
  for (const auto &[key, value] : map.items())
    if (std::ranges::find(keys, key) == keys.end())
      throw ProtocolError(std::string(what) + " has the unknown key " + key);
  for (std::string_view key : keys)
    if (!map.contains(key))
      throw ProtocolError(std::string(what) + " lacks the key " + std::string(key));
}

template <typename T> T take(const Message &map, const char *key) {
  const Message &value = map.at(key);
  bool fits = true;
  if constexpr (std::is_same_v<T, bool>)
    fits = value.is_boolean();
  else if constexpr (std::is_integral_v<T>)
    fits = value.is_number_unsigned();
  else if constexpr (std::is_same_v<T, std::string>)
    fits = value.is_string();
  if (!fits)
    throw ProtocolError(std::string("the field ") + key + " has another type");
  return value.get<T>();
}

/// Passes over a body and stops where it is nested deeper than any frame: reading
/// it into values takes a stack frame for each level.
class NestingGuard : public nlohmann::json_sax<Message> {
public:
  bool tooDeep = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return enter(); }
  bool key(string_t &) override { return true; }
  bool end_object() override { return exit(); }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return exit(); }
  bool parse_error(size_t, const std::string &, const nlohmann::json::exception &) override {
    return false;
  }

private:
  static constexpr unsigned DepthMax = 8;
  unsigned depth = 0;

  bool enter() {
    tooDeep = ++depth > DepthMax;
    return !tooDeep;
  }
  bool exit() {
    --depth;
    return true;
  }
};

std::vector<uint8_t> takeBytes(const Message &map, const char *key) {
  const Message &value = map.at(key);
  if (!value.is_binary())
    throw ProtocolError(std::string("the field ") + key + " is not binary");
  return value.get_binary();
}

Limits parseLimits(const Message &map) {
  expectKeys(map, "limits",
             {"wall_ms", "cpu_ms", "rss_mib", "output_kib", "open_files", "rows", "events",
              "solver_rlimit", "solver_ms", "goals", "execution_ms", "children", "result_mib",
              "input_bytes"});
  Limits limits;
  limits.wallMs = take<uint64_t>(map, "wall_ms");
  limits.cpuMs = take<uint64_t>(map, "cpu_ms");
  limits.rssMib = take<uint64_t>(map, "rss_mib");
  limits.outputKib = take<uint64_t>(map, "output_kib");
  limits.openFiles = take<uint64_t>(map, "open_files");
  limits.rows = take<uint64_t>(map, "rows");
  limits.events = take<uint64_t>(map, "events");
  limits.solverRlimit = take<uint64_t>(map, "solver_rlimit");
  limits.solverMs = take<uint64_t>(map, "solver_ms");
  limits.goals = take<uint64_t>(map, "goals");
  limits.executionMs = take<uint64_t>(map, "execution_ms");
  limits.children = take<uint64_t>(map, "children");
  limits.resultMib = take<uint64_t>(map, "result_mib");
  limits.inputBytes = take<uint64_t>(map, "input_bytes");
  return limits;
}

Message edgesToBinary(const Edges &edges) {
  std::vector<uint8_t> bytes(edges.size() * 4);
  std::memcpy(bytes.data(), edges.data(), bytes.size()); // x86-64 is little-endian
  return Message::binary(std::move(bytes));
}

} // namespace

std::optional<Message> readFrame(int descriptor) {
  uint8_t prefix[4];
  size_t got = readFully(descriptor, prefix, sizeof prefix);
  if (got == 0)
    return std::nullopt;
  if (got < sizeof prefix)
    throw ProtocolError("the input ends inside a frame's length");
  uint32_t length;
  std::memcpy(&length, prefix, sizeof length);
  if (length > FrameBytesMax)
    throw ProtocolError("a frame of " + std::to_string(length) + " bytes is too long");
  std::vector<uint8_t> body(length);
  if (readFully(descriptor, body.data(), length) < length)
    throw ProtocolError("the input ends inside a frame");
  NestingGuard guard;
  if (!Message::sax_parse(body, &guard, Message::input_format_t::msgpack))
    throw ProtocolError(guard.tooDeep ? "a frame is nested too deep" : "a frame is no MessagePack");
  Message message = Message::from_msgpack(body, true, false);
  if (!message.is_object() || !message.contains("t") || !message["t"].is_string())
    throw ProtocolError("a frame is not a map with the key t");
  return message;
}

bool writeFrame(int descriptor, const Message &message) {
  std::vector<uint8_t> frame(4);
  Message::to_msgpack(message, frame);
  uint32_t length = uint32_t(frame.size() - 4);
  std::memcpy(frame.data(), &length, sizeof length);
  for (size_t done = 0; done < frame.size();) {
    ssize_t n = ::write(descriptor, frame.data() + done, frame.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += size_t(n);
  }
  return true;
}

Hello parseHello(const Message &message) {
  expectKeys(message, "hello",
             {"t", "protocol", "argv", "input_mode", "work_dir", "keep", "limits", "seed", "env"});
  if (take<uint64_t>(message, "protocol") != 1)
    throw ProtocolError("hello speaks another version of the protocol than 1");
  Hello hello;
  for (const Message &argument : message.at("argv")) {
    if (!argument.is_string())
      throw ProtocolError("argv holds something else than strings");
    hello.target.argv.push_back(argument.get<std::string>());
  }
  if (hello.target.argv.empty())
    throw ProtocolError("argv is empty");
  std::string mode = take<std::string>(message, "input_mode");
  std::optional<InputWay> way = inputWayOf(mode);
  if (!way)
    throw ProtocolError("input_mode is none of file, stdin, socket, listener, argv");
  hello.target.way = *way;
  hello.target.workFolder = take<std::string>(message, "work_dir");
  std::string keep = take<std::string>(message, "keep");
  if (keep != "novel" && keep != "all")
    throw ProtocolError("keep is neither novel nor all");
  hello.keep = keep == "all" ? Keep::All : Keep::Novel;
  hello.limits = parseLimits(message.at("limits"));
  hello.seed = take<uint64_t>(message, "seed");
  if (!message.at("env").is_object())
    throw ProtocolError("env is not a map");
  for (const auto &[name, value] : message.at("env").items()) {
    if (!value.is_string())
      throw ProtocolError("env holds something else than strings");
    hello.target.environment[name] = value.get<std::string>();
  }
  return hello;
}

RunRequest parseRun(const Message &message) {
  expectKeys(message, "run", {"t", "id", "input", "bound", "focus", "solitary"});
  RunRequest request;
  request.id = take<uint64_t>(message, "id");
  request.input = takeBytes(message, "input");
  request.bound = take<uint64_t>(message, "bound");
  request.solitary = take<bool>(message, "solitary");
  const Message &focus = message.at("focus");
  if (!focus.is_null() && !focus.is_array())
    throw ProtocolError("focus is neither nil nor a list");
  for (const Message &range : focus) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() ||
        !range[1].is_number_unsigned())
      throw ProtocolError("focus holds something else than [first, last]");
    request.focus.emplace_back(range[0].get<uint64_t>(), range[1].get<uint64_t>());
  }
  return request;
}

std::vector<uint32_t> parseKnown(const Message &message) {
  expectKeys(message, "known", {"t", "edges"});
  std::vector<uint8_t> bytes = takeBytes(message, "edges");
  if (bytes.size() % 4 != 0)
    throw ProtocolError("edges is not a list of 32-bit numbers");
  std::vector<uint32_t> edges(bytes.size() / 4);
  if (!bytes.empty())
    std::memcpy(edges.data(), bytes.data(), bytes.size());
  for (uint32_t edge : edges)
    if (edge / 8 >= 1u << 26)
      throw ProtocolError("edges names an edge that no build has");
  return edges;
}

Message encode(const Child &child) {
  return {{"t", "child"},
          {"id", child.id},
          {"input", Message::binary(child.input)},
          {"digest", toHex(child.digest)},
          {"how", child.how},
          {"site", child.site},
          {"direction", child.direction},
          {"outcome", toString(child.run.outcome)},
          {"signal", child.run.signal},
          {"edges", edgesToBinary(child.edges)},
          {"unstable", child.unstable},
          {"wall_us", child.run.wallUs}};
}

Message encode(const Done &done) {
  Message how = Message::object();
  auto solved = [&](const char *step, uint64_t times) {
    if (times)
      how[step] = times;
  };
  solved("inversion", done.how.inversion);
  solved("scan", done.how.scan);
  solved("linear", done.how.linear);
  solved("meet", done.how.meet);
  solved("search", done.how.search);
  solved("smt", done.how.smt);
  solved("widen", done.how.widen);
  solved("optimistic", done.how.optimistic);
  solved("resize", done.how.resize);
  const Flips &flips = done.flips;
  return {{"t", "done"},
          {"id", done.id},
          {"digest", toHex(done.digest)},
          {"outcome", toString(done.run.outcome)},
          {"exit_code", done.run.exitCode},
          {"signal", done.run.signal},
          {"edges", edgesToBinary(done.edges)},
          {"unstable", done.unstable},
          {"generated", done.generated},
          {"dropped", done.dropped},
          {"flips",
           {{"sat", flips.sat},
            {"unsat", flips.unsat},
            {"timeout", flips.timeout},
            {"unknown", flips.unknown},
            {"skipped", flips.skipped}}},
          {"how", how},
          {"executions", done.executions},
          {"solver_us", done.solverUs},
          {"wall_us", done.wallUs},
          {"cpu_us", done.cpuUs},
          {"rss_kib_max", done.rssKibMax},
          {"rows", done.rows},
          {"events", done.events},
          {"degraded", done.degraded},
          {"truncated", done.truncated ? Message(*done.truncated) : Message()},
          {"reason", done.reason ? Message(done.reason) : Message()},
          {"opened", done.opened}};
}

Message encode(const Failure &failure) {
  return {{"t", "failure"},
          {"reason", toString(failure.reason)},
          {"message", failure.what()},
          {"hint", failure.hint}};
}

} // namespace sf
