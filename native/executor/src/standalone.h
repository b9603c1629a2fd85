// The engine on the command line, without a worker.
#pragma once

#include "execution_limits.h"
#include "explorer.h"

#include <string>
#include <vector>

namespace sf {

struct StandaloneOptions {
  std::vector<std::string> inputs; // files
  std::string outputFolder;
  TargetSpec target;
  Keep keep = Keep::All;
  Limits limits;
  bool json = false;
  bool numbered = false; // children are 000000, 000001, ... instead of digests
};

/// Explore each input once and write the children. Answers the exit code.
int runStandalone(StandaloneOptions options);

} // namespace sf
