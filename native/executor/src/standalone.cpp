#include "standalone.h"
#include "failure.h"
#include "protocol.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sf {
namespace {

namespace fs = std::filesystem;

/// A folder for the input and output files of the target, gone at the end.
class WorkFolder {
public:
  WorkFolder() {
    name = (fs::temp_directory_path() / "symfleet-exec-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Failure(FailureReason::Internal,
                    "cannot make a folder in " + fs::temp_directory_path().string() + ": " +
                        std::strerror(errno),
                    "set TMPDIR to a writable folder");
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(name, ignored);
  }
  const std::string &path() const { return name; }

private:
  std::string name;
};

/// Binary fields as hex, for a reader of text.
Message readable(Message message) {
  for (auto &[key, value] : message.items()) {
    if (key == "edges") {
      Message list = Message::array();
      const auto &bytes = value.get_binary();
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        uint32_t edge;
        std::memcpy(&edge, bytes.data() + i, 4);
        list.push_back(edge);
      }
      value = list;
    } else if (value.is_binary()) {
      std::string hex;
      char digits[3];
      for (uint8_t byte : value.get_binary()) {
        std::snprintf(digits, sizeof digits, "%02x", byte);
        hex += digits;
      }
      value = hex;
    }
  }
  return message;
}

/// With what is not on the wire.
Message inFull(const Done &done) {
  Message message = encode(done);
  Message losses = Message::array();
  for (const Loss &loss : done.losses)
    losses.push_back({{"where", loss.where}, {"count", loss.count}});
  message["symbolic_bytes"] = done.symbolicBytes;
  message["files"] = done.files;
  message["losses"] = losses;
  return message;
}

void printJson(const Message &message) {
  std::puts(message.dump(-1, ' ', false, Message::error_handler_t::replace).c_str());
}

class FileReporter : public Reporter {
public:
  explicit FileReporter(const StandaloneOptions &wanted) : options(wanted) {}

  void child(const Child &child) override {
    char number[16];
    std::snprintf(number, sizeof number, "%06u", count++);
    std::string name = options.numbered ? number : toHex(child.digest);
    fs::path path = fs::path(options.outputFolder) / name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(child.input.data()),
               std::streamsize(child.input.size()));
    if (!file.flush())
      throw Failure(FailureReason::Internal, "cannot write " + path.string(),
                    "check the output folder and its free space");
    if (options.json)
      return printJson(readable(encode(child)));
    std::printf("%s  %-10s %016llx:%u  %-7s %zu edges\n", name.c_str(), child.how,
                static_cast<unsigned long long>(child.site), child.direction,
                toString(child.run.outcome), child.edges.size());
  }
  void progress(uint64_t, uint64_t) override { std::fflush(stdout); }

private:
  const StandaloneOptions &options;
  unsigned count = 0;
};

std::vector<uint8_t> readInput(const std::string &path, uint64_t bytesMax) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw Failure(FailureReason::TargetDies, path + " is not a readable file", "check -i");
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || bytes.size() > bytesMax)
    throw Failure(FailureReason::TargetDies,
                  path + " has more than " + std::to_string(bytesMax) + " bytes",
                  "raise --input-bytes");
  return bytes;
}

void summarise(const std::string &input, const Done &done) {
  std::fprintf(stderr, "%s: %s", input.c_str(), toString(done.run.outcome));
  if (done.run.signal)
    std::fprintf(stderr, " (signal %d)", done.run.signal);
  std::fprintf(stderr, ", %u children of %u candidates in %.3f s (%u runs, solving %.3f s)\n",
               done.children, done.generated, double(done.wallUs) / 1e6, done.executions,
               double(done.solverUs) / 1e6);
  const Flips &flips = done.flips;
  std::fprintf(
      stderr,
      "  %llu rows, %llu events; flips: %llu sat, %llu unsat, %llu timeout, %llu "
      "unknown, %llu skipped\n",
      static_cast<unsigned long long>(done.rows), static_cast<unsigned long long>(done.events),
      static_cast<unsigned long long>(flips.sat), static_cast<unsigned long long>(flips.unsat),
      static_cast<unsigned long long>(flips.timeout),
      static_cast<unsigned long long>(flips.unknown),
      static_cast<unsigned long long>(flips.skipped));
  const HowCounts &how = done.how;
  std::fprintf(
      stderr,
      "  by inversion %llu, scan %llu, linear %llu, meet %llu, search %llu, smt %llu, "
      "widen %llu, optimistic %llu, resize %llu\n",
      static_cast<unsigned long long>(how.inversion), static_cast<unsigned long long>(how.scan),
      static_cast<unsigned long long>(how.linear), static_cast<unsigned long long>(how.meet),
      static_cast<unsigned long long>(how.search), static_cast<unsigned long long>(how.smt),
      static_cast<unsigned long long>(how.widen), static_cast<unsigned long long>(how.optimistic),
      static_cast<unsigned long long>(how.resize));
  for (const std::string &what : done.degraded)
    std::fprintf(stderr, "  degraded: %s\n", what.c_str());
  if (done.truncated)
    std::fprintf(stderr, "  truncated at goal %llu\n",
                 static_cast<unsigned long long>(*done.truncated));
  if (done.reason)
    std::fprintf(stderr, "  %s: %s\n", done.children ? "not all children" : "no children",
                 done.reason);
  for (const std::string &path : done.opened)
    std::fprintf(stderr, "  it opened: %s\n", path.c_str());
  for (const Loss &loss : done.losses)
    std::fprintf(stderr, "  made concrete %llu times: %s\n",
                 static_cast<unsigned long long>(loss.count), loss.where.c_str());
}

} // namespace

int runStandalone(StandaloneOptions options) {
  WorkFolder work;
  options.target.workFolder = work.path();
  std::error_code error;
  fs::create_directories(options.outputFolder, error);
  if (!fs::is_directory(options.outputFolder))
    throw Failure(FailureReason::Internal,
                  "cannot make the folder " + options.outputFolder + ": " + error.message(),
                  "check -o");
  Explorer explorer(options.target, options.limits, options.keep);
  FileReporter reporter(options);
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    RunRequest request;
    request.id = i;
    request.input = readInput(options.inputs[i], options.limits.inputBytes);
    Done done = explorer.explore(request, reporter);
    if (options.json)
      printJson(readable(inFull(done)));
    std::fflush(stdout);
    summarise(options.inputs[i], done);
  }
  return 0;
}

} // namespace sf
