// Models of functions between seconds since 1970 and the fields of a date.
//
// The fields are expressions over the seconds, and the seconds over the fields. A
// date is counted from the first of March, so that a leap day is the last of its
// year. Seconds become fields from 1970 to 2099, where each fourth year is a leap
// year; that a time is one of these is a branch, and others are not followed.
#include "model.h"
#include "number.h"

#include <string.h>
#include <time.h>

using namespace sf;

namespace {

constexpr uint64_t Day = 86400;
constexpr uint64_t FieldsEnd = 4102444800; // 2100-01-01
constexpr unsigned YearsMax = 8000;        // that become seconds, from 1900 on

constexpr unsigned W = 16; // of everything that is counted in days
Operand number(uint64_t N) { return constant(N); }
Operand plus(Operand A, Operand B) { return binary(SF_OP_ADD, W, A, B); }
Operand minus(Operand A, Operand B) { return binary(SF_OP_SUB, W, A, B); }
Operand times(Operand A, uint64_t N) { return binary(SF_OP_MUL, W, A, number(N)); }
Operand over(Operand A, uint64_t N) { return binary(SF_OP_UDIV, W, A, number(N)); }
Operand rest(Operand A, uint64_t N) { return binary(SF_OP_UREM, W, A, number(N)); }
Operand less(Operand A, uint64_t N) { return compare(SF_OP_ULT, W, A, number(N)); }

// Days before a month that is counted from March.
Operand daysBefore(Operand Month) { return over(plus(times(Month, 153), number(2)), 5); }

void storeField(int *Field, Operand Value, unsigned Bits) {
  const Operand Wide = zext(Value, Bits, 32);
  if (Wide.label && Wide.value == (uint32_t)*Field)
    storeLabel((uint64_t)Field, sizeof(int), Wide.label);
}

void storeDate(tm *To, Operand Days) {
  storeField(&To->tm_wday, rest(plus(Days, number(4)), 7), W);
  const Operand Since = plus(Days, number(671)); // March 1968
  const Operand InFour = rest(Since, 1461);
  const Operand Quotient = over(InFour, 365);
  const Operand InCycle = ite(less(Quotient, 4), W, Quotient, number(3));
  const Operand DayOfYear = minus(InFour, times(InCycle, 365));
  const Operand Month = over(plus(times(DayOfYear, 5), number(2)), 153);
  const Operand IsThisYear = less(Month, 10);
  const Operand YearOfMarch = plus(plus(times(over(Since, 1461), 4), InCycle), number(68));
  const Operand IsLeap = compare(SF_OP_EQ, W, InCycle, number(0));
  storeField(&To->tm_mday, plus(minus(DayOfYear, daysBefore(Month)), number(1)), W);
  storeField(&To->tm_mon, ite(IsThisYear, W, plus(Month, number(2)), minus(Month, number(10))), W);
  storeField(&To->tm_year, ite(IsThisYear, W, YearOfMarch, plus(YearOfMarch, number(1))), W);
  storeField(&To->tm_yday,
             ite(IsThisYear, W, plus(plus(DayOfYear, number(59)), zext(IsLeap, 1, W)),
                 minus(DayOfYear, number(306))),
             W);
}

// Labels the fields that the real function has made of the seconds.
void storeFields(tm *To, Operand Seconds, Place At) {
  clearLabels((uint64_t)To, sizeof(*To));
  if (!Seconds.label)
    return;
  const Operand IsFollowed = compare(SF_OP_ULT, 64, Seconds, number(FieldsEnd));
  recordBranch(IsFollowed, At);
  if (!IsFollowed.value) {
    noteUnmodelledLocked(Seconds.label, "a time before 1970 or after 2099");
    return;
  }
  constexpr unsigned Wide = 32, OfDay = 17; // bits
  const Operand Narrow = extract(Seconds, 64, 0, Wide);
  const Operand InDay = extract(binary(SF_OP_UREM, Wide, Narrow, number(Day)), Wide, 0, OfDay);
  storeField(&To->tm_sec, binary(SF_OP_UREM, OfDay, InDay, number(60)), OfDay);
  const Operand Minutes = binary(SF_OP_UDIV, OfDay, InDay, number(60));
  storeField(&To->tm_min, binary(SF_OP_UREM, OfDay, Minutes, number(60)), OfDay);
  storeField(&To->tm_hour, binary(SF_OP_UDIV, OfDay, InDay, number(3600)), OfDay);
  storeDate(To, extract(binary(SF_OP_UDIV, Wide, Narrow, number(Day)), Wide, 0, W));
}

struct Fields {
  Operand second, minute, hour, day, month, year;

  explicit Fields(const tm *From)
      : second(of(&From->tm_sec)), minute(of(&From->tm_min)), hour(of(&From->tm_hour)),
        day(of(&From->tm_mday)), month(of(&From->tm_mon)), year(of(&From->tm_year)) {}

  Label any() const {
    return second.label | minute.label | hour.label | day.label | month.label | year.label;
  }

private:
  static Operand of(const int *Field) {
    return loadOperand((uint64_t)Field, sizeof(int), (uint32_t)*Field);
  }
};

Operand wide(Operand A) { return sext(A, 32, 64); }
Operand sum(Operand A, Operand B) { return binary(SF_OP_ADD, 64, A, B); }
Operand product(Operand A, uint64_t N) { return binary(SF_OP_MUL, 64, A, number(N)); }

// The seconds of a date; what is not in order is carried on, but for months.
Operand secondsOf(const Fields &F, const ModelCall &Call) {
  const Operand IsMonth = compare(SF_OP_ULT, 32, F.month, number(12));
  const Operand IsYear = compare(SF_OP_ULT, 32, F.year, number(YearsMax));
  recordBranch(IsMonth, Call.at(0));
  recordBranch(IsYear, Call.at(1));
  if (!IsMonth.value || !IsYear.value) {
    noteUnmodelledLocked(F.any(), "a date whose month or year is out of order");
    return number(0);
  }
  const Operand Month = extract(F.month, 32, 0, W);
  const Operand IsLate = less(Month, 2); // it belongs to the year before, counted from March
  const Operand Year = minus(plus(extract(F.year, 32, 0, W), number(1900)), zext(IsLate, 1, W));
  const Operand FromMarch = ite(IsLate, W, plus(Month, number(10)), minus(Month, number(2)));
  const Operand LeapDays = plus(minus(over(Year, 4), over(Year, 100)), over(Year, 400));
  const Operand Days =
      sum(sum(product(zext(Year, W, 64), 365), zext(plus(LeapDays, daysBefore(FromMarch)), W, 64)),
          sum(wide(F.day), number((uint64_t)-719469)));
  const Operand Hours = sum(product(Days, 24), wide(F.hour));
  const Operand Minutes = sum(product(Hours, 60), wide(F.minute));
  return sum(product(Minutes, 60), wide(F.second));
}

Operand secondsAt(const time_t *At) {
  return loadOperand((uint64_t)At, sizeof(*At), (uint64_t)*At);
}

enum class Zone : uint8_t { Universal, Local };

// Local time is followed where it is universal time throughout the year.
bool isFollowed(Zone In, const tm *Time) {
  if (In == Zone::Universal)
    return true;
  return Time->tm_gmtoff == 0 && !daylight && Time->tm_zone &&
         (!strcmp(Time->tm_zone, "UTC") || !strcmp(Time->tm_zone, "GMT"));
}

// The same seconds, without a label where the zone is another one.
Operand inZone(Zone In, const tm *Time, Operand Seconds) {
  if (isFollowed(In, Time))
    return Seconds;
  noteUnmodelledLocked(Seconds.label, "local time that is not universal time");
  return constant(Seconds.value);
}

template <typename Real>
tm *fieldsModel(const void *Self, Zone In, const time_t *From, Real Function) {
  Operand Seconds = constant(0);
  if (G.recording) // before From may be overwritten
    if (TableLock Lock; Lock)
      Seconds = secondsAt(From);
  tm *Result = Function();
  afterwards(Self, [&](ModelCall &Call) {
    if (Result)
      storeFields(Result, inZone(In, Result, Seconds), Call.at(0));
  });
  return Result;
}

template <typename Real> time_t secondsModel(const void *Self, Zone In, tm *Date, Real Function) {
  if (!G.recording)
    return Function();
  ModelCall Call(Self, 0);
  Operand Seconds = constant(0);
  {
    KeepErrno Keep;
    if (TableLock Lock; Lock)
      if (const Fields Before(Date); Before.any())
        Seconds = secondsOf(Before, Call);
  }
  const time_t Result = Function();
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock)
    return Result;
  Seconds = inZone(In, Date, Seconds);
  if (Seconds.label && Seconds.value != (uint64_t)Result) {
    noteUnmodelledLocked(Seconds.label, "a date that the C library counts otherwise");
    Seconds = constant(0);
  }
  Call.returns(Seconds.label);
  storeFields(Date, Seconds, Call.at(2)); // all are new: it has put them in order
  return Result;
}

} // namespace

SF_MODEL_API tm *__sf_model_gmtime(const time_t *From) {
  return fieldsModel((const void *)__sf_model_gmtime, Zone::Universal, From,
                     [&] { return gmtime(From); });
}

SF_MODEL_API tm *__sf_model_gmtime_r(const time_t *From, tm *To) {
  return fieldsModel((const void *)__sf_model_gmtime_r, Zone::Universal, From,
                     [&] { return gmtime_r(From, To); });
}

SF_MODEL_API tm *__sf_model_localtime(const time_t *From) {
  return fieldsModel((const void *)__sf_model_localtime, Zone::Local, From,
                     [&] { return localtime(From); });
}

SF_MODEL_API tm *__sf_model_localtime_r(const time_t *From, tm *To) {
  return fieldsModel((const void *)__sf_model_localtime_r, Zone::Local, From,
                     [&] { return localtime_r(From, To); });
}

SF_MODEL_API time_t __sf_model_timegm(tm *Date) {
  return secondsModel((const void *)__sf_model_timegm, Zone::Universal, Date,
                      [&] { return timegm(Date); });
}

SF_MODEL_API time_t __sf_model_mktime(tm *Date) {
  return secondsModel((const void *)__sf_model_mktime, Zone::Local, Date,
                      [&] { return mktime(Date); });
}
