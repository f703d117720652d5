#include "kernels/cast/cast_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace btf {
namespace {

constexpr std::uint64_t kChunk = 256;

template <DType T>
using CodeOf = std::conditional_t<
    dtype_rows::kRows[row_of(T)].bits <= 8, std::uint8_t,
    std::conditional_t<
        dtype_rows::kRows[row_of(T)].bits == 16, std::uint16_t,
        std::conditional_t<dtype_rows::kRows[row_of(T)].bits == 32, std::uint32_t, std::uint64_t>>>;

template <DType T>
void decode_run(const std::byte* source, std::uint64_t stride, std::uint64_t count, Number* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    CodeOf<T> code;
    std::memcpy(&code, source + i * stride * sizeof(code), sizeof(code));
    out[i] = number::decode<T>(code);
  }
}

bool is_number(const Number& x) {
  return x.kind == Number::Class::finite || x.kind == Number::Class::zero;
}

void account_error(const Number& from, const Number& to, LossAccount& account) {
  if (number::is_plain_double(from) && number::is_plain_double(to)) {
    const double source = number::plain_double(from);
    const double error = std::abs(number::plain_double(to) - source);
    account.max_abs = std::max(account.max_abs, error);
    // Division is slow, and few elements come near the maximum; the margin is for rounding.
    if (error >= account.max_rel * std::abs(source) * (1 - 0x1p-50))
      account.max_rel = std::max(account.max_rel, error / std::abs(source));
    return;
  }
  if (!is_number(from) || !is_number(to)) return;
  const double error = number::distance(from, to);
  account.max_abs = std::max(account.max_abs, error);
  if (from.kind == Number::Class::finite)
    account.max_rel = std::max(account.max_rel, error / number::distance(from, Number{}));
}

void count(Outcome outcome, LossAccount& account) {
  switch (outcome) {
    case Outcome::exact:
      break;
    case Outcome::inexact:
      ++account.inexact;
      break;
    case Outcome::to_zero:
      ++account.to_zero;
      break;
    case Outcome::overflowed:
      ++account.overflowed;
      break;
    case Outcome::nan_lost:
      ++account.nan_lost;
      break;
  }
}

template <DType T>
void encode_run(const Number* numbers, std::uint64_t count_, std::byte* target,
                std::uint64_t stride, const CastPolicy& policy, LossAccount& account) {
  for (std::uint64_t i = 0; i < count_; ++i) {
    const number::Encoded encoded = number::encode<T>(numbers[i], policy);
    const auto code = static_cast<CodeOf<T>>(encoded.code);
    std::memcpy(target + i * stride * sizeof(code), &code, sizeof(code));
    if (numbers[i].kind == Number::Class::nan) {
      ++account.nan;
      if (encoded.outcome != Outcome::exact) ++account.nan_lost;
    } else if (encoded.outcome != Outcome::exact) {
      count(encoded.outcome, account);
      if constexpr (dtype_rows::kRows[row_of(T)].fp.power_of_two)
        account.sign_lost += encoded.outcome == Outcome::inexact && numbers[i].negative &&
                             numbers[i].kind == Number::Class::finite;
      account_error(numbers[i], number::decode<T>(encoded.code), account);
    }
  }
  account.elements += count_;
}

template <std::size_t... Row>
constexpr auto make_decoders(std::index_sequence<Row...>) {
  return std::array<DecodeFn, sizeof...(Row)>{decode_run<dtype_rows::kRows[Row].dtype>...};
}

template <std::size_t... Row>
constexpr auto make_encoders(std::index_sequence<Row...>) {
  return std::array<EncodeFn, sizeof...(Row)>{encode_run<dtype_rows::kRows[Row].dtype>...};
}

constexpr auto kDecoders = make_decoders(std::make_index_sequence<kDTypeCount>{});
constexpr auto kEncoders = make_encoders(std::make_index_sequence<kDTypeCount>{});

}  // namespace

DecodeFn decoder(DType dtype) { return kDecoders[row_of(dtype)]; }
EncodeFn encoder(DType dtype) { return kEncoders[row_of(dtype)]; }

Number decode_one(DType dtype, std::uint64_t code) {
  Number number;
  decoder(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &number);
  return number;
}

bool cast_reference_applies(const CastJob&) { return true; }

void cast_reference_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  const DecodeFn decode = decoder(job.from);
  const EncodeFn encode = encoder(job.to);
  const std::uint64_t source_bytes = info(job.from).buffer_bytes();
  const std::uint64_t target_bytes = info(job.to).buffer_bytes();
  std::array<Number, kChunk> numbers;
  for (std::uint64_t i1 = 0; i1 < tile.n1; ++i1) {
    const std::byte* source = tile.source + i1 * tile.source_stride1 * source_bytes;
    std::byte* target = tile.target + i1 * tile.target_stride1 * target_bytes;
    for (std::uint64_t i0 = 0; i0 < tile.n0; i0 += kChunk) {
      const std::uint64_t n = std::min(kChunk, tile.n0 - i0);
      decode(source + i0 * tile.source_stride0 * source_bytes, tile.source_stride0, n,
             numbers.data());
      encode(numbers.data(), n, target + i0 * tile.target_stride0 * target_bytes,
             tile.target_stride0, job.policy, account);
    }
  }
}

}  // namespace btf
