// A test is a function that registers itself; CHECK says where it failed.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace sf::test {

struct Case {
  const char *name;
  void (*body)();
};

inline std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  Registration(const char *name, void (*body)()) { cases().push_back({name, body}); }
};

template <typename A, typename B>
void checkEqual(const A &got, const B &wanted, const char *text, const char *file, int line,
                const std::string &about) {
  if (got == wanted)
    return;
  std::ostringstream out;
  out << file << ":" << line << ": " << text << ": " << got << " != " << wanted << " " << about;
  throw std::runtime_error(out.str());
}

/// SplitMix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

} // namespace sf::test

#define TEST_CASE(NAME)                                                                            \
  static void NAME();                                                                              \
  static const sf::test::Registration NAME##Registration(#NAME, NAME);                             \
  static void NAME()
#define CHECK_EQUAL(GOT, WANTED)                                                                   \
  sf::test::checkEqual((GOT), (WANTED), #GOT " == " #WANTED, __FILE__, __LINE__, "")
#define CHECK_EQUAL_ABOUT(GOT, WANTED, ABOUT)                                                      \
  sf::test::checkEqual((GOT), (WANTED), #GOT " == " #WANTED, __FILE__, __LINE__, (ABOUT))
#define CHECK(CONDITION)                                                                           \
  sf::test::checkEqual(bool(CONDITION), true, #CONDITION, __FILE__, __LINE__, "")
