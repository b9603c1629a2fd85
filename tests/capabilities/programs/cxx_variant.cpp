// Exercises: std::variant, std::optional, std::visit
// Input: stdin; seed: 41*6
// Solution: 6e01417a0000
#include "capability.h"

#include <optional>
#include <string>
#include <variant>

using Value = std::variant<uint32_t, std::string>;

static NOINLINE std::optional<Value> parse(const uint8_t *d) {
  if (d[0] == 'n')
    return Value(load32(d + 2));
  if (d[0] == 's')
    return Value(std::string(reinterpret_cast<const char *>(d), 6));
  return std::nullopt;
}

int main() {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  std::optional<Value> v = parse(d);
  if (!v)
    return tell(1);
  if (auto *number = std::get_if<uint32_t>(&*v); number && *number == 0x7a41 && d[1] == 1)
    hit();
  return tell(v->index());
}
