// SHA-256 (FIPS 180-4), the name of an input.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace sf {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::span<const uint8_t> bytes);
std::string toHex(const Digest &digest);

} // namespace sf
