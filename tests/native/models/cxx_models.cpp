// Every function of libstdc++ that has a model against the real one:
// cxx_models INPUT [NUMBER]
//
// As libc_models.c does it: each function is called twice for each record, in equal
// worlds. What is seen besides: what was thrown, the state and the position of the
// stream, the number of characters taken, what is read next.
//
// With the NUMBER of a function only that one is called, and what is seen decides
// branches: what a recording foretells of another input can be compared.
#include "world.h"

#include <charconv>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <type_traits>

namespace {

// Which stream a function reads from.
enum class Kind { String, File, Input, Count };

// std::cin shares the buffer of stdin in one run, and has its own in another.
bool cinIsShared = true;

// A stream of one world, with the settings that its record chooses.
class Reader {
public:
  explicit Reader(world *w) : w(w) {
    switch (Kind(choose(w, 0, unsigned(Kind::Count)))) {
    case Kind::String:
      string.str(content());
      in = &string;
      break;
    case Kind::File:
      file.open(w->path, std::ios::binary);
      file.seekg(offset());
      in = &file;
      break;
    default:
      std::cin.clear();
      if (cinIsShared)
        fseek(stdin, long(offset()), SEEK_SET);
      else
        std::cin.seekg(offset());
      in = &std::cin;
    }
    static const std::ios::fmtflags bases[] = {std::ios::dec, std::ios::hex, std::ios::oct,
                                               std::ios::fmtflags(0)};
    in->flags(bases[choose(w, 1, 16) < 10 ? 0 : choose(w, 1, 4)] |
              (choose(w, 2, 4) ? std::ios::skipws : std::ios::fmtflags(0)));
    in->width(choose(w, 3, 8) ? 0 : choose(w, 4, 9));
    static const std::ios::iostate states[] = {std::ios::eofbit, std::ios::failbit,
                                               std::ios::badbit};
    if (choose(w, 5, 32) == 0)
      in->setstate(states[choose(w, 6, 3)]);
    // Set last: a state that is set already is thrown for.
    mask = choose(w, 7, 4) ? std::ios::goodbit : std::ios::iostate(choose(w, 8, 8));
  }

  ~Reader() {
    in->exceptions(std::ios::goodbit);
    in->flags(std::ios::dec | std::ios::skipws);
    in->width(0);
  }

  // Calls a function of the stream, then looks at everything.
  template <typename Body> void run(Body body) {
    try {
      in->exceptions(mask);
      body(*in);
    } catch (const std::ios::failure &error) {
      see(w, 0x100 + uint64_t(error.code().value()));
    } catch (...) {
      see(w, 0x200);
    }
    in->exceptions(std::ios::goodbit);
    see(w, in->rdstate());
    see(w, uint64_t(in->gcount()));
    see(w, uint64_t(in->width()));
    see(w, in->flags());
    in->clear();
    if (in != &std::cin)
      see(w, uint64_t(std::streamoff(in->tellg())));
    else if (cinIsShared)
      see(w, uint64_t(ftell(stdin)));
    for (int i = 0; i < 3; i++)
      see(w, uint64_t(in->rdbuf()->sbumpc()));
  }

private:
  std::streamoff offset() const {
    return std::streamoff(choose(w, 9, 4) ? choose(w, 10, TEXT) : choose(w, 10, 256) * 3);
  }

  // The text of the record, perhaps behind something that looks like a number.
  std::string content() const {
    static const char *const starts[] = {"",
                                         "-",
                                         "+",
                                         " \t\n",
                                         "0x",
                                         "0",
                                         "-0X",
                                         "00",
                                         "7f",
                                         "99999",
                                         "-32768",
                                         "32768",
                                         "65536",
                                         "4294967295",
                                         "-2147483649",
                                         "18446744073709551616",
                                         "-9223372036854775808",
                                         "  -1",
                                         "1.5e3",
                                         "-.25",
                                         "1e",
                                         "2e+",
                                         "-1e-2",
                                         "1e9999",
                                         "inf",
                                         "4.e1x"};
    std::string s = starts[choose(w, 11, sizeof starts / sizeof *starts)];
    const unsigned digits = choose(w, 12, 9);
    for (unsigned i = 0; i < digits; i++)
      s += "0123456789abcdefxX ,-+"[uint8_t(w->text[i]) % (choose(w, 13, 2) ? 10 : 22)];
    if (choose(w, 14, 3) == 0)
      s.append(w->text, TEXT);
    return s;
  }

  world *w;
  std::istringstream string;
  std::ifstream file;
  std::istream *in = nullptr;
  std::ios::iostate mask = std::ios::goodbit;
};

// ---- Numbers

template <typename T> void number(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::istream *(*)(std::istream *, T *)>(called);
  T value = T(0x5a5a5a5a);
  Reader(w).run([&](std::istream &in) { see(w, f(&in, &value) == &in); });
  see(w, uint64_t(value));
}

template <typename T> void floating(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::istream *(*)(std::istream *, T *)>(called);
  T value = T(0.375);
  Reader(w).run([&](std::istream &in) { see(w, f(&in, &value) == &in); });
  see(w, value < 0);
  see(w, value == T(0.375));
  see(w, uint64_t(int64_t(value > -1e9 && value < 1e9 ? value * 8 : 0)));
  see(w, value > T(1e30));
}

// ---- Characters

void characterTo(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::istream *(*)(std::istream *, char *)>(called);
  char c = 'z';
  Reader(w).run([&](std::istream &in) { see(w, f(&in, &c) == &in); });
  see(w, uint64_t(c));
}

void character(void (*called)(), world *w) {
  auto f = reinterpret_cast<int (*)(std::istream *)>(called);
  Reader(w).run([&](std::istream &in) {
    see(w, uint64_t(f(&in)));
    see(w, uint64_t(f(&in)));
  });
}

// ---- Words and lines

std::string wordBefore(world *w) { return std::string(choose(w, 15, 2) ? 40 : 3, 'b'); }

void seeString(world *w, const std::string &s) {
  see_bytes(w, s.data(), s.size());
  see(w, uint64_t(s.data()[s.size()]));
}

void word(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::istream *(*)(std::istream *, std::string *)>(called);
  std::string s = wordBefore(w);
  Reader(w).run([&](std::istream &in) { see(w, f(&in, &s) == &in); });
  seeString(w, s);
}

void wordUpTo(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::istream *(*)(std::istream *, std::string *, char)>(called);
  std::string s = wordBefore(w);
  Reader(w).run([&](std::istream &in) { see(w, f(&in, &s, char(letter(w, 4))) == &in); });
  seeString(w, s);
}

template <typename Result> void into(void (*called)(), world *w) {
  auto f = reinterpret_cast<Result (*)(std::istream *, char *, std::streamsize)>(called);
  const unsigned room = choose(w, 4, 4) ? choose(w, 13, 60) : 999;
  Reader(w).run([&](std::istream &in) {
    if constexpr (std::is_void_v<Result>)
      f(&in, buffer(w), room);
    else
      see(w, f(&in, buffer(w), room) == &in);
  });
}

// ---- Blocks, positions and sizes

void count(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::streamsize (*)(const std::istream *)>(called);
  Reader(w).run([&](std::istream &in) {
    in.read(buffer(w), choose(w, 13, 99));
    see(w, uint64_t(f(&in)));
    in.get();
    see(w, uint64_t(f(&in)));
  });
}

struct Offset {
  int64_t offset, conversion; // as std::streampos is returned
};

void position(void (*called)(), world *w) {
  auto f = reinterpret_cast<Offset (*)(std::istream *)>(called);
  Reader(w).run([&](std::istream &in) {
    see(w, uint64_t(f(&in).offset));
    if (choose(w, 15, 2))
      in.seekg(0, std::ios::end);
    else
      in.ignore(choose(w, 13, 999));
    see(w, uint64_t(f(&in).offset));
  });
}

template <typename... Error> void size(void (*called)(), world *w) {
  auto f = reinterpret_cast<uintmax_t (*)(const std::filesystem::path *, Error *...)>(called);
  const std::filesystem::path path = choose(w, 13, 4) ? w->path : "/nowhere";
  std::error_code codes[1];
  try {
    if constexpr (sizeof...(Error) == 0)
      see(w, f(&path));
    else
      see(w, f(&path, &codes[0]));
  } catch (const std::filesystem::filesystem_error &error) {
    see(w, uint64_t(error.code().value()));
  }
  see(w, uint64_t(codes[0].value()));
}

// ---- What is written into a string

struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '_'; }
  std::string do_grouping() const override { return "\3"; }
};

// A stream that writes into a string, with the settings that its record chooses.
class Writer {
public:
  explicit Writer(world *w) : w(w) {
    if (choose(w, 5, 2))
      text << "before";
    if (choose(w, 6, 8) == 0)
      text.seekp(0);
    if (choose(w, 7, 16) == 0)
      text.setstate(std::ios::failbit);
    static const std::ios::fmtflags bases[] = {std::ios::dec, std::ios::hex, std::ios::oct,
                                               std::ios::fmtflags(0)};
    static const std::ios::fmtflags sides[] = {std::ios::fmtflags(0), std::ios::left,
                                               std::ios::right, std::ios::internal};
    static const std::ios::fmtflags others[] = {
        std::ios::fmtflags(0), std::ios::showpos, std::ios::showbase,
        std::ios::showbase | std::ios::uppercase | std::ios::boolalpha};
    text.flags(bases[choose(w, 8, 4)] | sides[choose(w, 9, 4)] | others[choose(w, 10, 4)]);
    if (choose(w, 11, 2))
      text.fill("0*"[choose(w, 12, 2)]);
    text.width(choose(w, 13, 2) ? 0 : choose(w, 14, 140));
    if (choose(w, 15, 8) == 0)
      text.imbue(std::locale(std::locale::classic(), new Grouping));
  }

  std::ostream &stream() { return text; }
  std::streambuf *buffer() { return text.rdbuf(); }

  void seeAll() {
    const std::string all = text.str();
    see(w, all.size());
    see_bytes(w, all.data(), all.size());
    see(w, text.rdstate());
    see(w, uint64_t(text.width()));
    for (char c : all)
      see(w, uint64_t(c));
  }

private:
  world *w;
  std::stringstream text;
};

template <typename T> T anyValue(const world *w) {
  uint64_t value;
  memcpy(&value, w->record + choose(w, 0, TEXT - 8), sizeof value);
  if constexpr (std::is_same_v<T, bool>)
    return value & 1;
  else if constexpr (std::is_floating_point_v<T>)
    return T(int64_t(value) >> choose(w, 1, 64)) / T(8);
  else
    return T(int64_t(value) >> choose(w, 1, 64));
}

template <typename T> void insert(void (*called)(), world *w) {
  auto f = reinterpret_cast<std::ostream *(*)(std::ostream *, T)>(called);
  Writer out(w);
  const T value = anyValue<T>(w);
  see(w, f(&out.stream(), value) == &out.stream());
  see(w, value > T(0));
  out.seeAll();
}

// From is a std::istream where the function is its member, else the stream that
// is written to is.
template <typename Stream> void copy(void (*called)(), world *w) {
  auto f = reinterpret_cast<Stream *(*)(Stream *, std::streambuf *)>(called);
  Writer out(w);
  Reader(w).run([&](std::istream &in) {
    if constexpr (std::is_same_v<Stream, std::istream>)
      see(w, f(&in, out.buffer()) == &in);
    else
      see(w, f(&out.stream(), in.rdbuf()) == &out.stream());
  });
  out.seeAll();
}

// ---- Digits. The real ones are templates of the library's headers: those for an
// integer that has no model.

template <typename T> T anyNumber(const world *w) {
  uint64_t value;
  memcpy(&value, w->record + choose(w, 0, TEXT - 8), sizeof value);
  return T(value >> choose(w, 1, 64));
}

template <typename T> unsigned realLength(T value, int base) {
  return std::__detail::__to_chars_len<unsigned __int128>(value, base);
}
template <typename T> void realDigits(char *first, unsigned length, T value) {
  std::__detail::__to_chars_10_impl<unsigned __int128>(first, length, value);
}

template <typename T> void length(void (*called)(), world *w) {
  auto f = reinterpret_cast<unsigned (*)(T, int)>(called);
  see(w, f(anyNumber<T>(w), choose(w, 2, 3) ? 10 : 2 + int(choose(w, 3, 35))));
}

template <typename T> void digits(void (*called)(), world *w) {
  auto f = reinterpret_cast<void (*)(char *, unsigned, T)>(called);
  const T value = anyNumber<T>(w);
  f(buffer(w), realLength(value, 10), value);
}

} // namespace

// ---- The list, by what a function is called with. Each declaration names the
// function of the library itself; the compiler pass replaces it by its model.

#define NUMBERS(each)                                                                              \
  each(_ZNSirsERs, short) each(_ZNSirsERt, unsigned short) each(_ZNSirsERi, int)                   \
      each(_ZNSirsERj, unsigned) each(_ZNSirsERl, long) each(_ZNSirsERm, unsigned long)            \
          each(_ZNSirsERx, long long) each(_ZNSirsERy, unsigned long long)                         \
              each(_ZNSi10_M_extractItEERSiRT_, unsigned short)                                    \
                  each(_ZNSi10_M_extractIjEERSiRT_, unsigned)                                      \
                      each(_ZNSi10_M_extractIlEERSiRT_, long)                                      \
                          each(_ZNSi10_M_extractImEERSiRT_, unsigned long)                         \
                              each(_ZNSi10_M_extractIxEERSiRT_, long long)                         \
                                  each(_ZNSi10_M_extractIyEERSiRT_, unsigned long long)
#define FLOATS(each)                                                                               \
  each(_ZNSirsERf, float) each(_ZNSirsERd, double) each(_ZNSirsERe, long double)                   \
      each(_ZNSi10_M_extractIfEERSiRT_, float) each(_ZNSi10_M_extractIdEERSiRT_, double)           \
          each(_ZNSi10_M_extractIeEERSiRT_, long double)
#define CHARACTERS_TO(each)                                                                        \
  each(_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_) each(_ZNSi3getERc)
#define CHARACTERS(each) each(_ZNSi3getEv) each(_ZNSi4peekEv)
#define WORDS(each)                                                                                       \
  each(                                                                                                   \
      _ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE) \
      each(                                                                                               \
          _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE)
#define WORDS_UP_TO(each)                                                                          \
  each(                                                                                            \
      _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_)
#define ARRAYS(each)                                                                               \
  each(_ZNSi7getlineEPcl, std::istream *) each(_ZNSi4readEPcl, std::istream *)                     \
      each(_ZSt17__istream_extractRSiPcl, void)
#define COUNTS(each) each(_ZNKSi6gcountEv)
#define POSITIONS(each) each(_ZNSi5tellgEv)
#define SIZES(each)                                                                                \
  each(_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathE)                                            \
      each(_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code, std::error_code)
#define INSERTERS(each)                                                                            \
  each(_ZNSolsEs, short) each(_ZNSolsEt, unsigned short) each(_ZNSolsEi, int)                      \
      each(_ZNSolsEj, unsigned) each(_ZNSolsEl, long) each(_ZNSolsEm, unsigned long)               \
          each(_ZNSolsEx, long long) each(_ZNSolsEy, unsigned long long)                           \
              each(_ZNSo9_M_insertIlEERSoT_, long) each(_ZNSo9_M_insertImEERSoT_, unsigned long)   \
                  each(_ZNSo9_M_insertIxEERSoT_, long long)                                        \
                      each(_ZNSo9_M_insertIyEERSoT_, unsigned long long) each(_ZNSolsEb, bool)     \
                          each(_ZNSolsEf, float) each(_ZNSolsEd, double)                           \
                              each(_ZNSolsEe, long double) each(_ZNSo9_M_insertIdEERSoT_, double)  \
                                  each(_ZNSo9_M_insertIeEERSoT_, long double)
#define COPIES(each)                                                                               \
  each(_ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE, std::ostream)                            \
      each(_ZNSirsEPSt15basic_streambufIcSt11char_traitsIcEE, std::istream)
#define LENGTHS(each)                                                                              \
  each(_ZNSt8__detail14__to_chars_lenIjEEjT_i, unsigned)                                           \
      each(_ZNSt8__detail14__to_chars_lenImEEjT_i, unsigned long)                                  \
          each(_ZNSt8__detail14__to_chars_lenIyEEjT_i, unsigned long long)
#define DIGITS(each)                                                                               \
  each(_ZNSt8__detail18__to_chars_10_implIjEEvPcjT_, unsigned)                                     \
      each(_ZNSt8__detail18__to_chars_10_implImEEvPcjT_, unsigned long)                            \
          each(_ZNSt8__detail18__to_chars_10_implIyEEvPcjT_, unsigned long long)

extern "C" {
#define DECLARE(name, type) std::istream *name(std::istream *, type *) __attribute__((weak));
NUMBERS(DECLARE)
FLOATS(DECLARE)
#undef DECLARE
#define DECLARE(name) std::istream *name(std::istream *, char *) __attribute__((weak));
CHARACTERS_TO(DECLARE)
#undef DECLARE
#define DECLARE(name) int name(std::istream *) __attribute__((weak));
CHARACTERS(DECLARE)
#undef DECLARE
#define DECLARE(name) std::istream *name(std::istream *, std::string *) __attribute__((weak));
WORDS(DECLARE)
#undef DECLARE
#define DECLARE(name) std::istream *name(std::istream *, std::string *, char) __attribute__((weak));
WORDS_UP_TO(DECLARE)
#undef DECLARE
#define DECLARE(name, result)                                                                      \
  result name(std::istream *, char *, std::streamsize) __attribute__((weak));
ARRAYS(DECLARE)
#undef DECLARE
#define DECLARE(name) std::streamsize name(const std::istream *) __attribute__((weak));
COUNTS(DECLARE)
#undef DECLARE
#define DECLARE(name) Offset name(std::istream *) __attribute__((weak));
POSITIONS(DECLARE)
#undef DECLARE
#define DECLARE(name, ...)                                                                         \
  uintmax_t name(const std::filesystem::path *__VA_OPT__(, __VA_ARGS__ *)) __attribute__((weak));
SIZES(DECLARE)
#undef DECLARE
#define DECLARE(name, type) std::ostream *name(std::ostream *, type) __attribute__((weak));
INSERTERS(DECLARE)
#undef DECLARE
#define DECLARE(name, type) type *name(type *, std::streambuf *) __attribute__((weak));
COPIES(DECLARE)
#undef DECLARE
#define DECLARE(name, type) unsigned name(type, int);
LENGTHS(DECLARE)
#undef DECLARE
#define DECLARE(name, type) void name(char *, unsigned, type);
DIGITS(DECLARE)
#undef DECLARE
}

namespace {

using Called = void (*)();

struct Entry {
  const char *name;
  void (*run)(Called, world *);
  Called called; // as the compiler calls it
  Called real;   // of those that the library does not export
};

const Entry entries[] = {
#define LIST(name, type) {#name, number<type>, Called(name), nullptr},
    NUMBERS(LIST)
#undef LIST
#define LIST(name, type) {#name, floating<type>, Called(name), nullptr},
        FLOATS(LIST)
#undef LIST
#define LIST(name) {#name, characterTo, Called(name), nullptr},
            CHARACTERS_TO(LIST)
#undef LIST
#define LIST(name) {#name, character, Called(name), nullptr},
                CHARACTERS(LIST)
#undef LIST
#define LIST(name) {#name, word, Called(name), nullptr},
                    WORDS(LIST)
#undef LIST
#define LIST(name) {#name, wordUpTo, Called(name), nullptr},
                        WORDS_UP_TO(LIST)
#undef LIST
#define LIST(name, result) {#name, into<result>, Called(name), nullptr},
                            ARRAYS(LIST)
#undef LIST
#define LIST(name) {#name, count, Called(name), nullptr},
                                COUNTS(LIST)
#undef LIST
#define LIST(name) {#name, position, Called(name), nullptr},
                                    POSITIONS(LIST)
#undef LIST
#define LIST(name, ...) {#name, size<__VA_ARGS__>, Called(name), nullptr},
                                        SIZES(LIST)
#undef LIST
#define LIST(name, type) {#name, insert<type>, Called(name), nullptr},
                                            INSERTERS(LIST)
#undef LIST
#define LIST(name, type) {#name, copy<type>, Called(name), nullptr},
                                                COPIES(LIST)
#undef LIST
#define LIST(name, type) {#name, length<type>, Called(name), Called(realLength<type>)},
                                                    LENGTHS(LIST)
#undef LIST
#define LIST(name, type) {#name, digits<type>, Called(name), Called(realDigits<type>)},
                                                        DIGITS(LIST)
#undef LIST
};

// Every model has to be in the list.
const char *missing() {
#define SF_MODEL(name, signature) #name,
  static const char *const models[] = {
#include "symfleet/cxx_models.def"
  };
#undef SF_MODEL
  for (const char *model : models) {
    bool found = false;
    for (const Entry &entry : entries)
      found |= strcmp(entry.name, model) == 0;
    if (!found)
      return model;
  }
  return nullptr;
}

bool toldApart(const world &a, const world &b) {
  return a.count != b.count || memcmp(a.seen, b.seen, a.count * sizeof *a.seen) != 0 ||
         memcmp(a.page, b.page, PAGE) != 0;
}

// Branches on all that was seen.
void decide(const world &w) {
  static volatile unsigned met;
  for (unsigned k = 0; k < w.count; k++) {
    if (w.seen[k] & 1)
      met = met + 1;
    if (w.seen[k] > 9)
      met = met + 1;
  }
}

void callOne(const Entry &entry, const char *path, FILE *input) {
  static uint8_t record[RECORD];
  world ours = {};
  ours.page = guarded_page();
  while (fread(record, 1, RECORD, input) == RECORD) {
    enter_world(&ours, record, path);
    entry.run(entry.called, &ours);
    decide(ours);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3)
    return 64;
  if (const char *model = missing()) {
    printf("%s is not tried\n", model);
    return 65;
  }
#ifdef OWN_BUFFER
  std::ios::sync_with_stdio(false);
  cinIsShared = false;
#endif
  world real = {}, ours = {};
  real.page = guarded_page();
  ours.page = guarded_page();
  FILE *input = fopen(argv[1], "rb");
  if (!input || !freopen(argv[1], "rb", stdin))
    return 74;
  if (argc == 3) {
    const unsigned number = unsigned(atoi(argv[2]));
    if (number >= sizeof entries / sizeof *entries)
      return 66;
    callOne(entries[number], argv[1], input);
    return 0;
  }
  static uint8_t record[RECORD];
  unsigned long calls = 0, wrong = 0;
  while (fread(record, 1, RECORD, input) == RECORD) {
    for (const Entry &entry : entries) {
      const Called known = entry.real ? entry.real : Called(dlsym(RTLD_DEFAULT, entry.name));
      if (!known)
        continue; // not in this library
      enter_world(&real, record, argv[1]);
      entry.run(known, &real);
      enter_world(&ours, record, argv[1]);
      entry.run(entry.called, &ours);
      calls++;
      if (!toldApart(real, ours))
        continue;
      wrong++;
      printf("%s\n", entry.name);
      for (unsigned k = 0; k < real.count; k++)
        if (real.seen[k] != ours.seen[k])
          printf("  observation %u: %#lx %#lx\n", k, (unsigned long)real.seen[k],
                 (unsigned long)ours.seen[k]);
    }
  }
  printf("%lu calls, %lu told apart\n", calls, wrong);
  return wrong != 0;
}
