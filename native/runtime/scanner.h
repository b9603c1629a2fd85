// Follows a format of sscanf() and its relatives over the text that was read.
//
// Each literal byte and each end of a field decides something; the value of a number
// is an expression over its bytes (number.h). What stopped the function is a goal as
// a whole too: a text that fits all of the format.
#ifndef SYMFLEET_RUNTIME_SCANNER_H
#define SYMFLEET_RUNTIME_SCANNER_H

#include "model.h"
#include "scan_format.h"
#include "source.h"

#include <stdarg.h>

namespace sf {

class Scanner {
public:
  Scanner(const ModelCall &Call, const Source &From, const char *FormatText, bool KnowsBinary)
      : Call(Call), From(From), Rest(FormatText, From.endsInNul()), At{Call.site, 1},
        KnowsBinary(KnowsBinary) {}

  // Answers how far it could follow. The real function made so many assignments.
  uint64_t follow(va_list Arguments, int Assigned);

private:
  bool literal(const Directive &D);
  bool number(const Directive &D, void *To);
  bool floating(const Directive &D, void *To);
  bool word(const Directive &D, void *To);
  bool characters(const Directive &D, void *To);
  unsigned literalsToCount(char *Literals) const;
  Operand endOfWord(const Directive &D, uint64_t Start);
  void proposeRest(const Directive &First, const Format &Behind);
  bool isComplete(int Assigned) const;
  void store(void *To, unsigned Bytes, Operand Value);
  bool isLast() const {
    Format Copy = Rest;
    Directive D;
    do
      Copy.next(D);
    while (D.kind == Directive::Count);
    return D.kind == Directive::End && !From.isFile();
  }

  const ModelCall &Call;
  const Source &From;
  Format Rest;
  Place At;
  uint64_t Position = 0;
  Operand Where = constant(0); // the position, for %n
  bool KnowsBinary;
};

} // namespace sf

#endif
