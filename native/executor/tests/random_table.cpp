#include "random_table.h"

#include <algorithm>
#include <bit>

namespace sf::test {
namespace {

constexpr uint8_t Arithmetic[] = {SF_OP_ADD,  SF_OP_SUB,  SF_OP_MUL,  SF_OP_UDIV, SF_OP_SDIV,
                                  SF_OP_UREM, SF_OP_SREM, SF_OP_AND,  SF_OP_OR,   SF_OP_XOR,
                                  SF_OP_SHL,  SF_OP_LSHR, SF_OP_ASHR, SF_OP_UMULH};
constexpr uint8_t Flags[] = {SF_OP_EQ,    SF_OP_NE,    SF_OP_ULT,   SF_OP_ULE,
                             SF_OP_SLT,   SF_OP_SLE,   SF_OP_UADDO, SF_OP_SADDO,
                             SF_OP_USUBO, SF_OP_SSUBO, SF_OP_UMULO, SF_OP_SMULO};
constexpr uint8_t Counts[] = {SF_OP_CTPOP, SF_OP_CTLZ, SF_OP_CTTZ, SF_OP_BITREVERSE};

class Builder {
public:
  Builder(Random &source, unsigned rows, unsigned bytes)
      : random(source), wanted(rows), inputBytes(bytes) {
    table.rows.push_back({});
    for (int i = 0; i < 512; ++i)
      table.blobs.push_back(uint8_t(random.next()));
  }

  RawTable build() {
    for (unsigned i = 0; i < 4; ++i) {
      unsigned bytes = std::min(1u << random.below(4), std::bit_floor(inputBytes));
      add(SF_OP_INPUT, 8 * bytes, 0, 0, 0, 0, random.below(inputBytes - bytes + 1));
    }
    while (table.rows.size() < wanted)
      addOne();
    return std::move(table);
  }

private:
  uint32_t add(uint8_t op, unsigned bits, unsigned aux, uint32_t a, uint32_t b, uint32_t c,
               uint64_t k) {
    table.rows.push_back({op, uint8_t(bits), uint16_t(aux), a, b, c, k});
    return uint32_t(table.rows.size() - 1);
  }
  uint32_t any() { return uint32_t(1 + random.below(table.rows.size() - 1)); }
  unsigned width(uint32_t row) const { return table.rows[row].bits; }
  /// A row of the given width: an existing one, or one that is made to fit.
  uint32_t fitted(unsigned bits) {
    uint32_t row = any();
    if (width(row) == bits)
      return row;
    if (width(row) > bits)
      return add(SF_OP_EXTRACT, bits, unsigned(random.below(width(row) - bits + 1)), row, 0, 0, 0);
    return add(random.below(2) ? SF_OP_ZEXT : SF_OP_SEXT, bits, 0, row, 0, 0, 0);
  }
  /// Small numbers are as likely as large ones: shifts and divisors need them.
  uint64_t constant() { return random.next() >> random.below(64); }
  template <size_t N> uint8_t pick(const uint8_t (&list)[N]) { return list[random.below(N)]; }

  void addBinary(uint8_t op, unsigned bits, unsigned aux, unsigned operandBits) {
    uint32_t a = fitted(operandBits), b = fitted(operandBits);
    switch (random.below(3)) {
    case 0:
      add(op, bits, aux, a, 0, 0, constant());
      break;
    case 1:
      add(op, bits, aux, 0, b, 0, constant());
      break;
    default:
      add(op, bits, aux, a, b, 0, constant());
    }
  }

  void addOne() {
    uint32_t a = any();
    unsigned bits = width(a);
    switch (random.below(11)) {
    case 0:
    case 1:
      return addBinary(pick(Arithmetic), bits, 0, bits);
    case 2:
      return addBinary(pick(Flags), 1, bits, bits);
    case 3:
      add(pick(Counts), bits, 0, a, 0, 0, 0);
      return;
    case 4:
      if (uint32_t b = any(); bits + width(b) <= 64)
        add(SF_OP_CONCAT, bits + width(b), 0, a, b, 0, 0);
      return;
    case 5: {
      uint32_t condition = fitted(1), b = fitted(bits);
      add(SF_OP_ITE, bits, 0, condition, a, b, 0);
      return;
    }
    case 6:
      if (bits % 16 == 0)
        add(SF_OP_BSWAP, bits, 0, a, 0, 0, 0);
      return;
    case 7: {
      uint32_t b = fitted(bits), c = fitted(bits);
      add(random.below(2) ? SF_OP_UDIVW : SF_OP_UREMW, bits, 0, a, b, c, 0);
      return;
    }
    case 8: {
      unsigned size = 1u << random.below(3);
      add(SF_OP_ARRAY, 8 * size, 0, fitted(unsigned(1 + random.below(16))), 0,
          uint32_t(random.below(64)), 1 + random.below(100));
      return;
    }
    case 9:
      fitted(unsigned(1 + random.below(64)));
      return;
    default: {
      uint32_t in = add(SF_OP_INPUT, 8, 0, 0, 0, 0, random.below(inputBytes));
      unsigned size = 8u << random.below(2); // both fit into the blob
      add(SF_OP_TABLE, size, 0, in, 0, 0, 0);
      add(SF_OP_CONST, unsigned(1 + random.below(64)), 0, 0, 0, 0, constant());
    }
    }
  }

  Random &random;
  unsigned wanted, inputBytes;
  RawTable table;
};

using Wide = __int128;

Wide wideSigned(uint64_t value, unsigned bits) {
  Wide wide = value;
  return (value >> (bits - 1)) & 1 ? wide - (Wide(1) << bits) : wide;
}

uint64_t narrow(Wide value, unsigned bits) { return uint64_t(value & ((Wide(1) << bits) - 1)); }

bool fits(Wide value, unsigned bits, bool isSigned) {
  return isSigned ? value >= -(Wide(1) << (bits - 1)) && value < (Wide(1) << (bits - 1))
                  : value >= 0 && value < (Wide(1) << bits);
}

uint64_t referenceShift(uint8_t op, uint64_t x, uint64_t y, unsigned bits) {
  uint64_t result = 0;
  bool sign = (x >> (bits - 1)) & 1;
  for (unsigned i = 0; i < bits; ++i) {
    bool bit = op == SF_OP_ASHR && sign;
    if (op == SF_OP_SHL)
      bit = y <= i && ((x >> (i - y)) & 1);
    else if (y < bits && i + y < bits)
      bit = (x >> (i + y)) & 1;
    result |= uint64_t(bit) << i;
  }
  return result;
}

unsigned operandBits(const sf_row &row) {
  return row.op >= SF_OP_EQ && row.op != SF_OP_UMULH ? row.aux : row.bits;
}

uint64_t referenceBinary(const sf_row &row, uint64_t x, uint64_t y) {
  const unsigned bits = operandBits(row);
  const Wide ux = x, uy = y, sx = wideSigned(x, bits), sy = wideSigned(y, bits);
  switch (row.op) {
  case SF_OP_ADD:
    return narrow(ux + uy, bits);
  case SF_OP_SUB:
    return narrow(ux - uy, bits);
  case SF_OP_MUL:
    return narrow(Wide((unsigned __int128)x * y), bits);
  case SF_OP_UDIV:
    return narrow(y ? ux / uy : -1, bits);
  case SF_OP_UREM:
    return y ? narrow(ux % uy, bits) : x;
  case SF_OP_SDIV:
    return narrow(y ? sx / sy : sx < 0 ? 1 : -1, bits);
  case SF_OP_SREM:
    return y ? narrow(sx % sy, bits) : x;
  case SF_OP_UMULH: { // by addition
    unsigned __int128 product = 0;
    for (unsigned i = 0; i < bits; ++i)
      if (y >> i & 1)
        product += static_cast<unsigned __int128>(x) << i;
    return uint64_t(product >> bits);
  }
  case SF_OP_AND:
    return x & y;
  case SF_OP_OR:
    return x | y;
  case SF_OP_XOR:
    return x ^ y;
  case SF_OP_SHL:
  case SF_OP_LSHR:
  case SF_OP_ASHR:
    return referenceShift(row.op, x, y, bits);
  case SF_OP_EQ:
    return x == y;
  case SF_OP_NE:
    return x != y;
  case SF_OP_ULT:
    return ux < uy;
  case SF_OP_ULE:
    return ux <= uy;
  case SF_OP_SLT:
    return sx < sy;
  case SF_OP_SLE:
    return sx <= sy;
  case SF_OP_UADDO:
    return !fits(ux + uy, bits, false);
  case SF_OP_SADDO:
    return !fits(sx + sy, bits, true);
  case SF_OP_USUBO:
    return !fits(ux - uy, bits, false);
  case SF_OP_SSUBO:
    return !fits(sx - sy, bits, true);
  case SF_OP_UMULO:
    return x != 0 && y > narrow(-1, bits) / x;
  default:
    return !fits(sx * sy, bits, true); // SF_OP_SMULO
  }
}

/// Long division, bit by bit.
uint64_t referenceDoubleDivision(const sf_row &row, uint64_t high, uint64_t low, uint64_t by) {
  unsigned __int128 rest = 0;
  uint64_t quotient = 0;
  for (unsigned i = 2 * row.bits; i-- > 0;) {
    uint64_t bit = i >= row.bits ? high >> (i - row.bits) & 1 : low >> i & 1;
    rest = rest << 1 | bit;
    bool fits = by != 0 && rest >= by;
    rest -= fits ? by : 0;
    quotient = quotient << 1 | fits;
  }
  if (by == 0)
    return row.op == SF_OP_UDIVW ? narrow(-1, row.bits) : low;
  return row.op == SF_OP_UDIVW ? narrow(Wide(quotient), row.bits) : uint64_t(rest);
}

uint64_t referenceUnary(const sf_row &row, uint64_t x) {
  uint64_t result = 0;
  switch (row.op) {
  case SF_OP_BSWAP:
    for (unsigned i = 0; i < row.bits; i += 8)
      result |= ((x >> i) & 0xff) << (row.bits - 8 - i);
    return result;
  case SF_OP_BITREVERSE:
    for (unsigned i = 0; i < row.bits; ++i)
      result = result << 1 | ((x >> i) & 1);
    return result;
  case SF_OP_CTPOP:
    for (unsigned i = 0; i < row.bits; ++i)
      result += (x >> i) & 1;
    return narrow(Wide(result), row.bits);
  case SF_OP_CTLZ:
    while (result < row.bits && !((x >> (row.bits - 1 - result)) & 1))
      ++result;
    return narrow(Wide(result), row.bits);
  default: // SF_OP_CTTZ
    while (result < row.bits && !((x >> result) & 1))
      ++result;
    return narrow(Wide(result), row.bits);
  }
}

} // namespace

RawTable randomTable(Random &random, unsigned count, unsigned bytes) {
  return Builder(random, count, bytes).build();
}

std::vector<uint8_t> randomInput(Random &random, unsigned bytes) {
  std::vector<uint8_t> input(bytes);
  for (uint8_t &byte : input)
    byte = random.below(4) ? uint8_t(random.next()) : uint8_t(0xff * random.below(2));
  return input;
}

Assignment changeTo(const std::vector<uint8_t> &input) {
  Assignment changes;
  for (uint32_t i = 0; i < input.size(); ++i)
    changes.push_back({i, input[i]});
  return changes;
}

std::vector<uint64_t> referenceValues(const RawTable &table, const std::vector<uint8_t> &input) {
  std::vector<uint64_t> values(table.rows.size());
  for (size_t i = 1; i < values.size(); ++i) {
    const sf_row &row = table.rows[i];
    auto bytesAt = [&](const uint8_t *from, unsigned count) {
      uint64_t value = 0;
      while (count-- > 0)
        value = value << 8 | from[count];
      return value;
    };
    switch (row.op) {
    case SF_OP_CONST:
      values[i] = narrow(Wide(row.k), row.bits);
      break;
    case SF_OP_INPUT:
      values[i] = bytesAt(input.data() + row.k, row.bits / 8);
      break;
    case SF_OP_ZEXT:
      values[i] = values[row.a];
      break;
    case SF_OP_SEXT:
      values[i] = narrow(wideSigned(values[row.a], table.rows[row.a].bits), row.bits);
      break;
    case SF_OP_EXTRACT:
      values[i] = narrow(Wide(values[row.a] >> row.aux), row.bits);
      break;
    case SF_OP_CONCAT:
      values[i] = values[row.a] << table.rows[row.b].bits | values[row.b];
      break;
    case SF_OP_ITE:
      values[i] = values[values[row.a] ? row.b : row.c];
      break;
    case SF_OP_BSWAP:
    case SF_OP_CTPOP:
    case SF_OP_CTLZ:
    case SF_OP_CTTZ:
    case SF_OP_BITREVERSE:
      values[i] = referenceUnary(row, values[row.a]);
      break;
    case SF_OP_UDIVW:
    case SF_OP_UREMW:
      values[i] = referenceDoubleDivision(row, values[row.a], values[row.b], values[row.c]);
      break;
    case SF_OP_ARRAY:
      if (values[row.a] < row.k)
        values[i] =
            bytesAt(table.blobs.data() + row.c + values[row.a] * (row.bits / 8), row.bits / 8);
      break;
    case SF_OP_TABLE:
      values[i] =
          bytesAt(table.blobs.data() + row.c + values[row.a] * (row.bits / 8), row.bits / 8);
      break;
    default: {
      unsigned bits = operandBits(row);
      uint64_t k = narrow(Wide(row.k), bits);
      values[i] = referenceBinary(row, row.a ? values[row.a] : k, row.b ? values[row.b] : k);
    }
    }
  }
  return values;
}

std::string describe(const sf_row &row) {
  return "(op " + std::to_string(row.op) + ", bits " + std::to_string(row.bits) + ", aux " +
         std::to_string(row.aux) + ", a " + std::to_string(row.a) + ", b " + std::to_string(row.b) +
         ", k " + std::to_string(row.k) + ")";
}

} // namespace sf::test
