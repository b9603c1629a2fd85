// A calculator that evaluates while it parses:
//
//   sum    = product { ("+" | "-") product }
//   product= factor { ("*" | "/") factor }
//   factor = number | "(" sum ")" | "-" factor | name "(" [ sum { "," sum } ] ")"
//   name   = "min" | "max" | "avg"
//
// min() and max() of nothing are errors. So should be avg() of nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

namespace {

using Value = std::uint64_t; // wraps; a calculator for cardinals

constexpr int DepthMax = 32;

class Calculator {
public:
  explicit Calculator(std::string_view text) : Rest(text) {}

  std::optional<Value> evaluate() {
    std::optional<Value> result = sum();
    return Rest.empty() ? result : std::nullopt;
  }

private:
  bool take(char wanted) {
    if (Rest.empty() || Rest.front() != wanted)
      return false;
    Rest.remove_prefix(1);
    return true;
  }

  bool takeName(std::string_view wanted) {
    if (Rest.substr(0, wanted.size()) != wanted)
      return false;
    Rest.remove_prefix(wanted.size());
    return take('(');
  }

  std::optional<Value> sum() {
    std::optional<Value> left = product();
    while (left) {
      bool isPlus = take('+');
      if (!isPlus && !take('-'))
        break;
      std::optional<Value> right = product();
      if (!right)
        return std::nullopt;
      left = isPlus ? *left + *right : *left - *right;
    }
    return left;
  }

  std::optional<Value> product() {
    std::optional<Value> left = factor();
    while (left) {
      bool isTimes = take('*');
      if (!isTimes && !take('/'))
        break;
      std::optional<Value> right = factor();
      if (!right || (!isTimes && *right == 0))
        return std::nullopt;
      left = isTimes ? *left * *right : *left / *right;
    }
    return left;
  }

  std::optional<Value> factor() {
    if (++Depth > DepthMax)
      return std::nullopt;
    std::optional<Value> result = factorBelow();
    --Depth;
    return result;
  }

  std::optional<Value> factorBelow() {
    if (take('(')) {
      std::optional<Value> inner = sum();
      return take(')') ? inner : std::nullopt;
    }
    if (take('-')) {
      std::optional<Value> inner = factor();
      return inner ? std::optional<Value>(0 - *inner) : std::nullopt;
    }
    if (takeName("min"))
      return call([](Value a, Value b) { return a < b ? a : b; }, false);
    if (takeName("max"))
      return call([](Value a, Value b) { return a > b ? a : b; }, false);
    if (takeName("avg"))
      return call([](Value a, Value b) { return a + b; }, true);
    return number();
  }

  template <typename Fold> std::optional<Value> call(Fold fold, bool isAverage) {
    Value result = 0;
    Value count = 0;
    while (!take(')')) {
      if (count > 0 && !take(','))
        return std::nullopt;
      std::optional<Value> argument = sum();
      if (!argument)
        return std::nullopt;
      result = count++ == 0 ? *argument : fold(result, *argument);
    }
    if (isAverage)
      return result / count; // the planted bug
    return count > 0 ? std::optional<Value>(result) : std::nullopt;
  }

  std::optional<Value> number() {
    if (Rest.empty() || Rest.front() < '0' || Rest.front() > '9')
      return std::nullopt;
    Value value = 0;
    while (!Rest.empty() && Rest.front() >= '0' && Rest.front() <= '9') {
      value = value * 10 + static_cast<Value>(Rest.front() - '0');
      Rest.remove_prefix(1);
    }
    return value;
  }

  std::string_view Rest;
  int Depth = 0;
};

} // namespace

int main(int argc, char **argv) {
  std::FILE *file = argc > 1 ? std::fopen(argv[1], "rb") : stdin;
  static char text[64];
  std::size_t size = file ? std::fread(text, 1, sizeof text, file) : 0;

  std::optional<Value> result = Calculator(std::string_view(text, size)).evaluate();
  if (!result) {
    std::puts("expr: not an expression");
    return 1;
  }
  std::printf("expr: %llu\n", static_cast<unsigned long long>(*result));
  return 0;
}
