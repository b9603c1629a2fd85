// Theory of operation. One thread reads frames, so that the end of standard
// input is noticed at once, whatever the engine is doing: a worker that died
// must not leave targets behind. The other one works on them in order and is
// the only one that writes.
#include "serve.h"
#include "engine_version.h"
#include "failure.h"
#include "process_tree.h"
#include "protocol.h"
#include "selftest.h"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unistd.h>

namespace sf {
namespace {

/// Frames on their way from the reading thread to the working one.
class Inbox {
public:
  void put(Message message) {
    std::lock_guard lock(mutex);
    messages.push_back(std::move(message));
    arrived.notify_one();
  }
  /// Ends the waiting for good: the peer broke the protocol.
  void fail(std::string why) {
    std::lock_guard lock(mutex);
    error = std::move(why);
    arrived.notify_one();
  }
  /// Throws ProtocolError after `fail`, once earlier frames are taken.
  Message take() {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return !messages.empty() || !error.empty(); });
    if (messages.empty())
      throw ProtocolError(error);
    Message message = std::move(messages.front());
    messages.pop_front();
    return message;
  }

private:
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Message> messages;
  std::string error;
};

/// Ends this process when the worker is gone, whatever the other thread does:
/// no target stays, and no file of ours.
class Exit {
public:
  void remember(const std::string &folder) {
    std::lock_guard lock(mutex);
    workFolder = folder;
  }
  [[noreturn]] void now() {
    std::lock_guard lock(mutex);
    endDescendantsExcept(-1);
    if (!workFolder.empty())
      ::unlink((workFolder + "/input").c_str());
    ::_exit(0);
  }

private:
  std::mutex mutex;
  std::string workFolder;
};
Exit leave;

void readFrames(Inbox &inbox) {
  try {
    while (std::optional<Message> message = readFrame(STDIN_FILENO))
      inbox.put(std::move(*message));
  } catch (const std::exception &error) {
    inbox.fail(error.what());
    return;
  }
  leave.now();
}

void send(const Message &message) {
  if (!writeFrame(STDOUT_FILENO, message))
    leave.now();
}

class WireReporter : public Reporter {
public:
  void child(const Child &child) override { send(encode(child)); }
  void progress(uint64_t id, uint64_t counter) override {
    send({{"t", "progress"}, {"id", id}, {"counter", counter}});
  }
};

std::string hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

class Service {
public:
  /// Answers false after `stop`.
  bool handle(const Message &message);

private:
  void hello(const Message &message);
  void run(const Message &message);
  void selftest();
  Explorer &engine() {
    if (!explorer)
      throw ProtocolError("a frame came before hello");
    return *explorer;
  }

  std::unique_ptr<Explorer> explorer;
  Limits limits;
};

bool Service::handle(const Message &message) {
  const std::string kind = message.at("t");
  if (kind == "hello")
    hello(message);
  else if (kind == "known")
    engine().addKnown(parseKnown(message));
  else if (kind == "run")
    run(message);
  else if (kind == "selftest")
    selftest();
  else if (kind == "stop")
    return false;
  else
    throw ProtocolError("there is no frame of the kind " + kind);
  return true;
}

void Service::hello(const Message &message) {
  if (explorer)
    throw ProtocolError("hello came twice");
  Hello hello = parseHello(message);
  limits = hello.limits;
  leave.remember(hello.target.workFolder);
  explorer = std::make_unique<Explorer>(std::move(hello.target), limits, hello.keep);
  send({{"t", "ready"},
        {"engine", EngineVersion},
        {"edges", explorer->edges()},
        {"build", hex(explorer->build())},
        {"pid", int(::getpid())}});
}

void Service::run(const Message &message) {
  RunRequest request = parseRun(message);
  if (request.input.size() > limits.inputBytes)
    throw ProtocolError("an input is longer than input_bytes");
  Explorer &target = engine();
  send({{"t", "started"}, {"id", request.id}});
  WireReporter reporter;
  send(encode(target.explore(request, reporter)));
}

void Service::selftest() {
  std::string complaint = sf::selftest();
  send({{"t", "selftest"}, {"ok", complaint.empty()}, {"message", complaint}});
}

/// Works until `stop` or an error; answers the exit code.
int work(Inbox &inbox) {
  auto fail = [](const Failure &failure) {
    std::fprintf(stderr, "symfleet-exec: %s\n", failure.what());
    writeFrame(STDOUT_FILENO, encode(failure));
    return exitCodeOf(failure.reason);
  };
  Service service;
  try {
    while (service.handle(inbox.take()))
      ;
    return 0;
  } catch (const Failure &failure) {
    return fail(failure);
  } catch (const std::bad_alloc &) {
    return fail({FailureReason::NoMemory, "out of memory", "give each slot more memory"});
  } catch (const std::exception &error) {
    return fail(
        {FailureReason::Internal, error.what(), "worker and executor must be of one build"});
  }
}

} // namespace

void serve() {
  // The reading thread cannot be stopped and uses what is here, and what is
  // static, until the process ends: so none of it is destroyed before.
  Inbox inbox;
  std::thread(readFrames, std::ref(inbox)).detach();
  int code = work(inbox);
  std::fflush(nullptr);
  ::_exit(code);
}

} // namespace sf
