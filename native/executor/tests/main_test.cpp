// Runs the tests whose name contains the first argument (all without one).
#include "check.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  int run = 0, failed = 0;
  for (const auto &test : sf::test::cases()) {
    if (argc > 1 && !std::strstr(test.name, argv[1]))
      continue;
    ++run;
    try {
      test.body();
    } catch (const std::exception &error) {
      ++failed;
      std::printf("FAILED %s\n  %s\n", test.name, error.what());
    }
  }
  std::printf("%d run, %d failed\n", run, failed);
  return run == 0 || failed ? 1 : 0;
}
