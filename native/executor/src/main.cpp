// symfleet-exec: the engine, behind a worker or on its own.
#include "engine_version.h"
#include "failure.h"
#include "selftest.h"
#include "serve.h"
#include "standalone.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

namespace {

constexpr int Usage = 64;
constexpr int Internal = 70;

void addLimits(CLI::App &app, sf::Limits &limits) {
  auto add = [&](const char *name, uint64_t &value, double least, const char *text) {
    app.add_option(name, value, text)
        ->check(CLI::Range(least, 1e12))
        ->capture_default_str()
        ->group("Limits");
  };
  add("--wall-ms", limits.wallMs, 1, "Wall time of one run of the target");
  add("--cpu-ms", limits.cpuMs, 1, "CPU time of one run of the target");
  add("--rss-mib", limits.rssMib, 1, "Resident memory of one run of the target");
  add("--output-kib", limits.outputKib, 1, "Size of a file that the target writes");
  add("--open-files", limits.openFiles, 16, "Open files of the target");
  add("--rows", limits.rows, 16, "Expression rows of one recording");
  add("--events", limits.events, 16, "Branch events of one recording");
  add("--solver-rlimit", limits.solverRlimit, 1, "Z3's counted units for one query");
  add("--solver-ms", limits.solverMs, 0, "Wall time of one query; 0 = unlimited");
  add("--goals", limits.goals, 1, "Goals given to the solvers for one input");
  add("--execution-ms", limits.executionMs, 0, "Wall time for one input; 0 = unlimited");
  add("--children", limits.children, 1, "Children of one input");
  add("--result-mib", limits.resultMib, 1, "Size of all children of one input");
  add("--input-bytes", limits.inputBytes, 0, "Longest input");
}

int run(int argc, char **argv) {
  CLI::App app("Run an instrumented program on an input and write inputs that take other "
               "branches.\n"
               "Build the program with CC='symfleet cc' or CXX='symfleet c++' first.");
  app.footer("Exit codes: 0 done, 64 usage, 65 the target or an input is unfit, 69 the host "
             "lacks something, 70 internal.\n"
             "Example: symfleet-exec -i seed.json -o children -- ./json-test @@");
  sf::StandaloneOptions options;
  bool serving = false, testing = false;
  std::string keep = "all", names = "digest", mode = "auto";
  app.add_flag("--serve", serving, "Speak the executor protocol on standard input and output");
  app.add_flag("--selftest", testing, "Check solvers on known questions and leave");
  app.set_version_flag("--version", sf::EngineVersion);
  app.add_option("-i,--input", options.inputs, "Input file (may be given several times)")
      ->check(CLI::ExistingFile);
  app.add_option("-o,--output", options.outputFolder, "Folder for the children");
  app.add_option("--keep", keep,
                 "all: every distinct child, the same at each repetition;\n"
                 "novel: only those with an edge that no earlier one had")
      ->check(CLI::IsMember({"all", "novel"}))
      ->capture_default_str();
  app.add_option("--names", names, "Name children by SHA-256 or by number (000000, as SymCC does)")
      ->check(CLI::IsMember({"digest", "number"}))
      ->capture_default_str();
  app.add_option("--input-mode", mode,
                 "How the target gets the input: as a file at @@, on standard input (a file, a\n"
                 "connected socket, or a listening socket with a connection), or as the argument\n"
                 "at @@. auto: a file if @@ is there, else standard input")
      ->check(CLI::IsMember({"auto", "file", "stdin", "socket", "listener", "argv"}))
      ->capture_default_str();
  app.add_flag("--json", options.json, "One JSON object a line for each child and each input");
  app.add_option("target", options.target.argv,
                 "-- TARGET ARG... (@@ stands for the input's path)");
  addLimits(app, options.limits);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : Usage;
  }
  if (testing) {
    std::string complaint = sf::selftest();
    std::puts(complaint.empty() ? "ok" : complaint.c_str());
    return complaint.empty() ? 0 : Internal;
  }
  if (serving)
    sf::serve();
  if (options.inputs.empty() || options.outputFolder.empty() || options.target.argv.empty()) {
    std::fputs("symfleet-exec: -i INPUT, -o FOLDER and -- TARGET are needed (see --help)\n",
               stderr);
    return Usage;
  }
  bool hasPath = false;
  for (const std::string &argument : options.target.argv)
    hasPath |= argument.find("@@") != std::string::npos;
  if ((mode == "file" || mode == "argv") && !hasPath) {
    std::fprintf(stderr,
                 "symfleet-exec: the target would never see its input: --input-mode is %s and no "
                 "argument holds @@\n  put @@ where the input belongs\n",
                 mode.c_str());
    return Usage;
  }
  options.target.way = mode != "auto" ? *sf::inputWayOf(mode)
                       : hasPath      ? sf::InputWay::File
                                      : sf::InputWay::Stdin;
  options.keep = keep == "all" ? sf::Keep::All : sf::Keep::Novel;
  options.numbered = names == "number";
  return sf::runStandalone(std::move(options));
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN); // a write to a dead target or worker is an error, not the end
  try {
    return run(argc, argv);
  } catch (const sf::Failure &failure) {
    std::fprintf(stderr, "symfleet-exec: %s: %s\n  %s\n", toString(failure.reason), failure.what(),
                 failure.hint.c_str());
    return exitCodeOf(failure.reason);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "symfleet-exec: internal error: %s\n", error.what());
    return Internal;
  }
}
