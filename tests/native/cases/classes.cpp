// C++: strings, containers, exceptions, virtual calls.
#include "case.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static const char *path; // of the input: for cases that read it themselves

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
static void string_compare(const uint8_t *d, size_t) {
  std::string s = text(d, 9), prefix = "GET /";
  if (s.compare(0, prefix.size(), prefix) == 0 && s.back() == '!')
    hit();
}
static void string_pieces(const uint8_t *d, size_t n) {
  std::string s = text(d, n), key = s.substr(0, 3), all;
  all.append(key).append("=").append(s, 3, 4);
  if (all == "key=four")
    hit();
}
static void string_search(const uint8_t *d, size_t n) {
  std::string s = text(d, n);
  if (s.rfind('/') == 9 && s.find_first_of("?#") == 2 && s.find_last_not_of("/A?#") == 5)
    hit();
}
static void string_number(const uint8_t *d, size_t) {
  try {
    if (std::stoi(text(d, 5)) == 40712)
      hit();
  } catch (const std::logic_error &) {
  }
}
static void stream_lines(const uint8_t *, size_t) {
  std::ifstream in(path);
  std::string line;
  if (std::getline(in, line) && line == "one")
    hit();
}
static void stream_characters(const uint8_t *, size_t) {
  std::ifstream in(path, std::ios::binary);
  char block[4];
  int c = in.get();
  if (c == 'c' && in.peek() == 'p' && in.read(block, 4) && block[3] == 'z')
    hit();
}
static void stream_whole(const uint8_t *, size_t) {
  std::ifstream in(path);
  std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (all.compare(2, 5, "whole") == 0)
    hit();
}
static void stream_buffer(const uint8_t *, size_t) {
  std::ifstream in(path);
  std::stringstream copy;
  copy << in.rdbuf();
  if (copy.str().find("rdbuf") == 1)
    hit();
}

static const test_case cases[] = {
    {"string_equal", string_equal}, {"string_find", string_find},
    {"string_compare", string_compare}, {"string_pieces", string_pieces},
    {"string_search", string_search}, {"string_number", string_number},
    {"map_lookup", map_lookup}, {"exception", exception}, {"virtual_call", virtual_call},
    {"vector_sort", vector_sort}, {"stream_lines", stream_lines},
    {"stream_characters", stream_characters}, {"stream_whole", stream_whole},
    {"stream_buffer", stream_buffer},
};

int main(int argc, char **argv) {
  path = argc == 3 ? argv[2] : nullptr;
  return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}
