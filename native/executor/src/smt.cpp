#include "smt.h"
#include "printed_terms.h"
#include "semantics.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <z3.h>

namespace sf {
namespace {

struct ContextDeleter {
  void operator()(Z3_context context) const { Z3_del_context(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<Z3_context>, ContextDeleter>;

/// A context without reference counts: all terms live as long as it does.
Context makeContext() {
  Z3_config config = Z3_mk_config();
  Z3_set_param_value(config, "model", "true");
  Context context(Z3_mk_context(config));
  Z3_del_config(config);
  // Errors are read from Z3_get_error_code; the default would end the process.
  Z3_set_error_handler(context.get(), nullptr);
  return context;
}

class Translation {
public:
  Translation(Z3_context target, const Trace &recorded)
      : z3(target), trace(recorded), printed(target) {}

  /// Translate all rows below the labels. Answers false when there are more
  /// than `rowsMax` of them.
  bool translate(std::span<const Condition> conditions, size_t rowsMax);
  Z3_ast assertion(const Condition &condition) {
    return Z3_mk_eq(z3, terms.at(condition.label),
                    number(condition.value, trace.width(condition.label)));
  }
  /// What holds for the terms themselves.
  const std::vector<Z3_ast> &definitions() const { return printed.definitions(); }
  Assignment assignmentFrom(Z3_model model);

private:
  Z3_ast number(uint64_t value, unsigned bits) {
    return Z3_mk_unsigned_int64(z3, value, Z3_mk_bv_sort(z3, bits));
  }
  Z3_ast byte(uint32_t offset) {
    Z3_ast &term = bytes[offset];
    if (!term)
      term = Z3_mk_const(z3, Z3_mk_int_symbol(z3, int(offset)), Z3_mk_bv_sort(z3, 8));
    return term;
  }
  Z3_ast toBit(Z3_ast condition) { return Z3_mk_ite(z3, condition, number(1, 1), number(0, 1)); }
  Z3_ast row(const sf_row &row);
  Z3_ast anything(uint32_t label);
  Z3_ast binary(const sf_row &row, Z3_ast x, Z3_ast y);
  Z3_ast overflow(const sf_row &row, Z3_ast x, Z3_ast y);
  Z3_ast input(const sf_row &row);
  Z3_ast byteSwap(const sf_row &row, Z3_ast x);
  Z3_ast countBits(const sf_row &row, Z3_ast x);
  Z3_ast countZeros(const sf_row &row, Z3_ast x, bool leading);
  Z3_ast reverse(const sf_row &row, Z3_ast x);
  Z3_ast upperProduct(const sf_row &row, Z3_ast x, Z3_ast y);
  Z3_ast doubleDivision(const sf_row &row, Z3_ast x);
  Z3_ast table(const sf_row &row, Z3_ast x);
  Z3_ast affineTable(const sf_row &row, Z3_ast x, unsigned indexBits);

  Z3_context z3;
  const Trace &trace;
  PrintedTerms printed;
  std::unordered_map<uint32_t, Z3_ast> terms;
  std::unordered_map<uint32_t, Z3_ast> bytes;
};

bool Translation::translate(std::span<const Condition> conditions, size_t rowsMax) {
  std::vector<uint32_t> stack, cone;
  for (const Condition &condition : conditions)
    stack.push_back(condition.label);
  while (!stack.empty()) {
    uint32_t top = stack.back();
    stack.pop_back();
    if (!terms.try_emplace(top, nullptr).second)
      continue;
    cone.push_back(top);
    if (cone.size() > rowsMax)
      return false;
    if (trace.bytes[top] != 0 && !hasFourOperands(trace.rows[top].op))
      Trace::forEachOperand(trace.rows[top], [&](uint32_t operand) { stack.push_back(operand); });
  }
  std::ranges::sort(cone); // operands come before their users
  for (uint32_t label : cone)
    terms[label] = trace.bytes[label] == 0 ? number(trace.seed[label], trace.width(label))
                   : hasFourOperands(trace.rows[label].op) ? anything(label)
                                                           : row(trace.rows[label]);
  return true;
}

/// A value of its own for what has no bit-vector term. Refuting the rest is a
/// proof all the same; solutions are evaluated before they count.
Z3_ast Translation::anything(uint32_t label) {
  Z3_symbol name = Z3_mk_string_symbol(z3, ("row" + std::to_string(label)).c_str());
  return Z3_mk_const(z3, name, Z3_mk_bv_sort(z3, trace.width(label)));
}

Z3_ast Translation::row(const sf_row &row) {
  if (row.op == SF_OP_INPUT)
    return input(row);
  unsigned operandBits = isBinaryArithmetic(row.op) ? row.bits : row.aux;
  Z3_ast x = row.a ? terms.at(row.a) : number(row.k, operandBits);
  if (isBinary(row.op)) {
    Z3_ast y = row.b ? terms.at(row.b) : number(row.k, operandBits);
    return isOverflowFlag(row.op) ? overflow(row, x, y) : binary(row, x, y);
  }
  switch (row.op) {
  case SF_OP_ZEXT:
    return Z3_mk_zero_ext(z3, row.bits - row.aux, x);
  case SF_OP_SEXT:
    return Z3_mk_sign_ext(z3, row.bits - row.aux, x);
  case SF_OP_EXTRACT:
    return Z3_mk_extract(z3, row.aux + row.bits - 1u, row.aux, x);
  case SF_OP_CONCAT:
    return Z3_mk_concat(z3, x, terms.at(row.b));
  case SF_OP_ITE:
    return Z3_mk_ite(z3, Z3_mk_eq(z3, x, number(1, 1)), terms.at(row.b), terms.at(row.c));
  case SF_OP_BSWAP:
    return byteSwap(row, x);
  case SF_OP_CTPOP:
    return countBits(row, x);
  case SF_OP_CTLZ:
    return countZeros(row, x, true);
  case SF_OP_CTTZ:
    return countZeros(row, x, false);
  case SF_OP_BITREVERSE:
    return reverse(row, x);
  case SF_OP_UDIVW:
  case SF_OP_UREMW:
    return doubleDivision(row, x);
  case SF_OP_TABLE:
  case SF_OP_ARRAY:
    return table(row, x);
  case SF_OP_NUMBER:
    return x;
  case SF_OP_PRINTED:
  case SF_OP_PRINTED_SIZE:
    return printed.term(row, x, trace.width(row.a));
  }
  __builtin_unreachable(); // Trace lets no other op through
}

Z3_ast Translation::binary(const sf_row &row, Z3_ast x, Z3_ast y) {
  switch (row.op) {
  case SF_OP_ADD:
    return Z3_mk_bvadd(z3, x, y);
  case SF_OP_SUB:
    return Z3_mk_bvsub(z3, x, y);
  case SF_OP_MUL:
    return Z3_mk_bvmul(z3, x, y);
  case SF_OP_UMULH:
    return upperProduct(row, x, y);
  case SF_OP_UDIV:
    return Z3_mk_bvudiv(z3, x, y);
  case SF_OP_SDIV:
    return Z3_mk_bvsdiv(z3, x, y);
  case SF_OP_UREM:
    return Z3_mk_bvurem(z3, x, y);
  case SF_OP_SREM:
    return Z3_mk_bvsrem(z3, x, y);
  case SF_OP_AND:
    return Z3_mk_bvand(z3, x, y);
  case SF_OP_OR:
    return Z3_mk_bvor(z3, x, y);
  case SF_OP_XOR:
    return Z3_mk_bvxor(z3, x, y);
  case SF_OP_SHL:
    return Z3_mk_bvshl(z3, x, y);
  case SF_OP_LSHR:
    return Z3_mk_bvlshr(z3, x, y);
  case SF_OP_ASHR:
    return Z3_mk_bvashr(z3, x, y);
  case SF_OP_EQ:
    return toBit(Z3_mk_eq(z3, x, y));
  case SF_OP_NE:
    return toBit(Z3_mk_not(z3, Z3_mk_eq(z3, x, y)));
  case SF_OP_ULT:
    return toBit(Z3_mk_bvult(z3, x, y));
  case SF_OP_ULE:
    return toBit(Z3_mk_bvule(z3, x, y));
  case SF_OP_SLT:
    return toBit(Z3_mk_bvslt(z3, x, y));
  case SF_OP_SLE:
    return toBit(Z3_mk_bvsle(z3, x, y));
  }
  __builtin_unreachable();
}

/// Compute in a width that holds the exact result and compare.
Z3_ast Translation::overflow(const sf_row &row, Z3_ast x, Z3_ast y) {
  const unsigned bits = row.aux;
  bool product = row.op == SF_OP_UMULO || row.op == SF_OP_SMULO;
  bool isSigned = row.op == SF_OP_SADDO || row.op == SF_OP_SSUBO || row.op == SF_OP_SMULO;
  unsigned extra = product ? bits : 1;
  auto widen = [&](Z3_ast term) {
    return isSigned ? Z3_mk_sign_ext(z3, extra, term) : Z3_mk_zero_ext(z3, extra, term);
  };
  x = widen(x);
  y = widen(y);
  Z3_ast exact = product                                          ? Z3_mk_bvmul(z3, x, y)
                 : row.op == SF_OP_USUBO || row.op == SF_OP_SSUBO ? Z3_mk_bvsub(z3, x, y)
                                                                  : Z3_mk_bvadd(z3, x, y);
  Z3_ast kept = widen(Z3_mk_extract(z3, bits - 1, 0, exact));
  return toBit(Z3_mk_not(z3, Z3_mk_eq(z3, exact, kept)));
}

Z3_ast Translation::input(const sf_row &row) {
  Z3_ast term = byte(uint32_t(row.k));
  for (unsigned i = 1; i < row.bits / 8u; ++i)
    term = Z3_mk_concat(z3, byte(uint32_t(row.k + i)), term);
  return term;
}

Z3_ast Translation::byteSwap(const sf_row &row, Z3_ast x) {
  Z3_ast term = Z3_mk_extract(z3, 7, 0, x);
  for (unsigned low = 8; low < row.bits; low += 8)
    term = Z3_mk_concat(z3, term, Z3_mk_extract(z3, low + 7, low, x));
  return term;
}

Z3_ast Translation::countBits(const sf_row &row, Z3_ast x) {
  auto bit = [&](unsigned i) {
    Z3_ast one = Z3_mk_extract(z3, i, i, x);
    return row.bits == 1 ? one : Z3_mk_zero_ext(z3, row.bits - 1u, one);
  };
  Z3_ast sum = bit(0);
  for (unsigned i = 1; i < row.bits; ++i)
    sum = Z3_mk_bvadd(z3, sum, bit(i));
  return sum;
}

/// A chain of choices; the bit that is looked at first is the outermost.
Z3_ast Translation::countZeros(const sf_row &row, Z3_ast x, bool leading) {
  Z3_ast term = number(row.bits & lowBits(row.bits), row.bits);
  for (unsigned zeros = row.bits; zeros-- > 0;) {
    unsigned i = leading ? row.bits - 1u - zeros : zeros;
    Z3_ast isSet = Z3_mk_eq(z3, Z3_mk_extract(z3, i, i, x), number(1, 1));
    term = Z3_mk_ite(z3, isSet, number(zeros & lowBits(row.bits), row.bits), term);
  }
  return term;
}

Z3_ast Translation::reverse(const sf_row &row, Z3_ast x) {
  Z3_ast term = Z3_mk_extract(z3, 0, 0, x);
  for (unsigned i = 1; i < row.bits; ++i)
    term = Z3_mk_concat(z3, term, Z3_mk_extract(z3, i, i, x));
  return term;
}

Z3_ast Translation::upperProduct(const sf_row &row, Z3_ast x, Z3_ast y) {
  const unsigned bits = row.bits;
  Z3_ast product = Z3_mk_bvmul(z3, Z3_mk_zero_ext(z3, bits, x), Z3_mk_zero_ext(z3, bits, y));
  return Z3_mk_extract(z3, 2 * bits - 1, bits, product);
}

Z3_ast Translation::doubleDivision(const sf_row &row, Z3_ast x) {
  const unsigned bits = row.bits;
  Z3_ast low = terms.at(row.b), by = terms.at(row.c);
  Z3_ast whole = Z3_mk_concat(z3, x, low), wide = Z3_mk_zero_ext(z3, bits, by);
  Z3_ast result =
      row.op == SF_OP_UDIVW ? Z3_mk_bvudiv(z3, whole, wide) : Z3_mk_bvurem(z3, whole, wide);
  return Z3_mk_extract(z3, bits - 1, 0, result);
}

/// The table as an exclusive or of what each bit of the index contributes, as
/// tables of a CRC are; null if it is not like that.
Z3_ast Translation::affineTable(const sf_row &row, Z3_ast x, unsigned indexBits) {
  const uint64_t first = trace.tableElement(row, 0);
  for (uint64_t i = 1; i < Trace::tableSize(row); ++i) {
    uint64_t rest = i & (i - 1);
    if ((trace.tableElement(row, i) ^ trace.tableElement(row, i ^ rest) ^ first) !=
        trace.tableElement(row, rest))
      return nullptr;
  }
  Z3_ast term = number(first, row.bits);
  for (unsigned bit = 0; bit < indexBits; ++bit) {
    uint64_t part = trace.tableElement(row, uint64_t(1) << bit) ^ first;
    Z3_ast isSet = Z3_mk_eq(z3, Z3_mk_extract(z3, bit, bit, x), number(1, 1));
    term = Z3_mk_bvxor(z3, term, Z3_mk_ite(z3, isSet, number(part, row.bits), number(0, row.bits)));
  }
  return term;
}

/// A balanced tree of choices on the bits of the index: equal halves collapse,
/// so a table with long runs stays small.
Z3_ast Translation::table(const sf_row &row, Z3_ast x) {
  const uint64_t size = Trace::tableSize(row);
  const unsigned width = trace.width(row.a);
  const unsigned indexBits = std::min(width, unsigned(std::bit_width(size - 1)));
  Z3_ast inside = nullptr; // null: every index is
  if (width > indexBits || size < uint64_t(1) << indexBits)
    inside = size > lowBits(width) ? nullptr : Z3_mk_bvult(z3, x, number(size, width));
  Z3_ast affine = size == uint64_t(1) << indexBits ? affineTable(row, x, indexBits) : nullptr;
  std::vector<Z3_ast> level;
  for (uint64_t i = 0; !affine && i < uint64_t(1) << indexBits; ++i)
    level.push_back(number(trace.tableElement(row, i), row.bits));
  for (unsigned bit = 0; !affine && bit < indexBits; ++bit) {
    Z3_ast isSet = Z3_mk_eq(z3, Z3_mk_extract(z3, bit, bit, x), number(1, 1));
    std::vector<Z3_ast> next(level.size() / 2);
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = level[2 * i] == level[2 * i + 1]
                    ? level[2 * i]
                    : Z3_mk_ite(z3, isSet, level[2 * i + 1], level[2 * i]);
    level = std::move(next);
  }
  Z3_ast term = affine ? affine : level[0];
  return inside ? Z3_mk_ite(z3, inside, term, number(0, row.bits)) : term;
}

Assignment Translation::assignmentFrom(Z3_model model) {
  Assignment assignment;
  for (const auto &[offset, term] : bytes) {
    Z3_ast value = nullptr;
    uint64_t number = 0;
    // Without completion: a byte that does not matter keeps its value.
    if (Z3_model_eval(z3, model, term, false, &value) && value &&
        Z3_get_numeral_uint64(z3, value, &number))
      assignment.push_back({offset, uint8_t(number)});
  }
  std::ranges::sort(assignment, {}, &ByteChange::offset);
  return assignment;
}

Z3_solver makeSolver(Z3_context z3, const Limits &limits, uint64_t part) {
  Z3_solver solver = Z3_mk_simple_solver(z3);
  Z3_solver_inc_ref(z3, solver);
  Z3_params params = Z3_mk_params(z3);
  Z3_params_inc_ref(z3, params);
  auto set = [&](const char *name, uint64_t value) {
    Z3_params_set_uint(z3, params, Z3_mk_string_symbol(z3, name),
                       unsigned(std::min<uint64_t>(value, UINT32_MAX)));
  };
  set("random_seed", 0);
  set("rlimit", std::max<uint64_t>(limits.solverRlimit / part, 1));
  if (limits.solverMs)
    set("timeout", limits.solverMs);
  Z3_solver_set_params(z3, solver, params);
  Z3_params_dec_ref(z3, params);
  return solver;
}

} // namespace

Answer Smt::solve(const Query &query, Workbench &bench) {
  Context context = makeContext();
  Z3_context z3 = context.get();
  Translation translation(z3, bench.trace);
  std::vector<Condition> conditions = query.slice;
  conditions.push_back(query.goal);
  if (!translation.translate(conditions, RowsMax))
    return {Verdict::Timeout, {}, false};

  Z3_solver solver = makeSolver(z3, bench.limits, part);
  for (const Condition &condition : conditions)
    Z3_solver_assert(z3, solver, translation.assertion(condition));
  for (Z3_ast definition : translation.definitions())
    Z3_solver_assert(z3, solver, definition);
  Z3_lbool result = Z3_solver_check(z3, solver);
  Answer answer;
  if (result == Z3_L_FALSE) {
    answer.verdict = Verdict::Unsat;
  } else if (result == Z3_L_TRUE) {
    Assignment assignment = translation.assignmentFrom(Z3_solver_get_model(z3, solver));
    if (bench.accepts(query, assignment))
      answer = {Verdict::Sat, std::move(assignment), false};
  } else {
    answer.verdict = Verdict::Timeout;
    std::string_view why = Z3_solver_get_reason_unknown(z3, solver);
    answer.byTime = bench.limits.solverMs && (why == "timeout" || why == "canceled");
  }
  Z3_solver_dec_ref(z3, solver);
  return answer;
}

} // namespace sf
