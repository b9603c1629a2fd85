// C++: strings, containers, exceptions, virtual calls.
#include "case.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static std::string text(const uint8_t *d, size_t n) { return std::string(d, d + n); }

static void string_equal(const uint8_t *d, size_t) {
  if (text(d, 6) == "string")
    hit();
}
static void string_find(const uint8_t *d, size_t n) {
  if (text(d, n).find("::") == 4)
    hit();
}
static void map_lookup(const uint8_t *d, size_t) {
  std::map<std::string, int> m{{"get", 1}, {"put", 2}, {"del", 3}};
  auto at = m.find(text(d, 3));
  if (at != m.end() && at->second == 3)
    hit();
}
static NOINLINE int thrower(int x) {
  if (x == 99)
    throw std::runtime_error("ninety-nine");
  return x;
}
static void exception(const uint8_t *d, size_t) {
  try {
    thrower(d[0] * 2 - d[1]);
  } catch (const std::runtime_error &) {
    hit();
  }
}
struct Shape {
  virtual ~Shape() = default;
  virtual int area(int x) const { return x; }
};
struct Square : Shape {
  int area(int x) const override { return x * x; }
};
static void virtual_call(const uint8_t *d, size_t) {
  std::unique_ptr<Shape> s;
  if (d[1] == 's')
    s = std::make_unique<Square>();
  else
    s = std::make_unique<Shape>();
  if (s->area(d[0]) == 143 * 143)
    hit();
}
static void vector_sort(const uint8_t *d, size_t) {
  std::vector<uint8_t> v(d, d + 4);
  std::sort(v.begin(), v.end());
  if (v[0] == 1 && v[3] == 250)
    hit();
}

static const test_case cases[] = {
    {"string_equal", string_equal}, {"string_find", string_find}, {"map_lookup", map_lookup},
    {"exception", exception},       {"virtual_call", virtual_call}, {"vector_sort", vector_sort},
};
MAIN(cases)
