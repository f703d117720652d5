#include "convert/tensor/coo_sum.h"

#include <algorithm>

#include "btf/value.h"
#include "kernels/cast/cast_reference.h"

namespace btf {

void CooSum::add(std::uint64_t code) {
  const Number x = decode_one(job_.from, code);
  only_negative_zeros_ = only_negative_zeros_ && x.kind == Number::Class::zero && x.negative;
  switch (x.kind) {
    case Number::Class::zero:
      break;
    case Number::Class::finite:
      sum_.add(x);
      break;
    case Number::Class::infinite:
      (x.negative ? negative_inf_ : positive_inf_) = true;
      break;
    case Number::Class::nan:
      nan_ = true;
      break;
  }
}

// Which sign a NaN gets from an addition is up to the CPU; here it has none.
Number CooSum::value() const {
  if (nan_ || (positive_inf_ && negative_inf_)) return {0, 0, false, Number::Class::nan};
  if (positive_inf_ || negative_inf_) return {0, 0, negative_inf_, Number::Class::infinite};
  Number sum = sum_.number();
  if (sum.kind == Number::Class::zero) sum.negative = only_negative_zeros_;
  return sum;
}

std::uint64_t CooSum::encode(LossAccount& account) const {
  Number sum = value();
  const NumberKind kind = info(job_.to).kind;
  const bool integer =
      kind == NumberKind::signed_integer || kind == NumberKind::unsigned_integer;
  ExactSum::Whole whole;
  // All 64 bits of an integer may count, where number() keeps its last one for what is lost.
  if (integer && sum.kind == Number::Class::finite) {
    whole = sum_.whole(job_.policy.rounding);
    const bool wrap = job_.policy.overflow == Overflow::wrap;
    if (!whole.beyond || wrap) sum = number::normalized(sum.negative, whole.low, 0);
  }
  std::uint64_t code = 0;
  encoder(job_.to)(&sum, 1, reinterpret_cast<std::byte*>(&code), 1, job_.policy, account);
  if (whole.beyond) {
    account.overflowed = 1;
  } else if (whole.inexact && account.overflowed == 0) {
    (code == 0 ? account.to_zero : account.inexact) = 1;
  }
  return code;
}

std::uint64_t CooSum::code(LossAccount& account) const {
  LossAccount one;
  const std::uint64_t code = encode(one);
  // The encoded sum may be rounded already, so the error is taken from the sum itself.
  one.max_abs = one.max_rel = 0;
  const Number sum = value();
  const Number result = decode_one(job_.to, code);
  const auto is_real = [](const Number& x) {
    return x.kind == Number::Class::zero || x.kind == Number::Class::finite;
  };
  if (one.changed() != 0 && is_real(sum) && is_real(result)) {
    ExactSum error = sum_;
    error.subtract(result);
    one.max_abs = number::distance(error.number(), Number{});
    if (sum.kind == Number::Class::finite)
      one.max_rel = one.max_abs / number::distance(sum, Number{});
  }
  account.add(one);
  return code;
}

std::string CooSum::text() const { return number_text(number::to_double(value())); }

}  // namespace btf
