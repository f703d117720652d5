#include "convert/quantize/block_scales.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "btf/value.h"
#include "core/checked_math.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/narrow/narrow_runs.h"
#include "kernels/number/number.h"
#include "kernels/scale/magnitude_runs.h"

namespace btf {
namespace {

// The largest finite one. Exact: a double would lift 2^63 - 1 over the next power of two.
Number exact_magnitude(DType dtype, const std::byte* codes, std::uint64_t n) {
  Number largest;
  std::array<Number, 64> numbers;
  const std::uint64_t bytes = info(dtype).buffer_bytes();
  for (std::uint64_t at = 0; at < n; at += numbers.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(numbers.size(), n - at);
    decoder(dtype)(codes + at * bytes, 1, count, numbers.data());
    for (const Number& x : std::span(numbers).first(count)) {
      if (x.kind != Number::Class::finite) continue;
      if (largest.kind == Number::Class::zero ||
          std::tie(x.exponent, x.significand) > std::tie(largest.exponent, largest.significand))
        largest = x;
    }
  }
  largest.negative = false;
  return largest;
}

// floor(log2(x)); of 0 and of numbers below the normal ones, less than any dtype's exponent.
int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023; }

}  // namespace

Box blocks_of(const Box& box, std::uint64_t block) {
  Box blocks = box;
  blocks.lo.back() /= block;
  blocks.hi.back() = ceil_div(box.hi.back(), block);
  return blocks;
}

double block_scale(const Scales& scales, std::uint64_t code) {
  return value_double(scales.blocks->scale, code) * static_cast<double>(scales.tensor_scale);
}

BlockScaleFinder::BlockScaleFinder(const Scales& scales, const ScaledCast& cast)
    : format_(*scales.blocks),
      from_(cast.from),
      element_(cast.to),
      tensor_scale_(scales.tensor_scale),
      bytes_(info(cast.from).buffer_bytes()),
      element_largest_(value_double(cast.to, largest_code(cast.to))),
      to_floats_(cast.from),
      to_scale_(make_narrowing(format_.scale, {})) {
  element_exponent_ = std::ilogb(element_largest_);
  // Two quotients of doubles give the scale that exact ones give, as long as the numbers have the
  // 24 digits of a float32: a ratio that is not just between two scales is far from there then.
  const DTypeInfo& row = info(cast.from);
  const bool few_digits = row.floating() ? row.bits <= 32 : row.bits <= 16;
  if (format_.tensor_scale ? few_digits : fits_double(cast.from))
    widen_ = widener<double>(cast.from);
}

void BlockScaleFinder::find(const std::byte* elements, const Dims& dims, std::byte* codes) const {
  const std::uint64_t row = dims.back();
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d + 1 < dims.size(); ++d) rows *= dims[d];
  if (row % format_.block == 0) return find_row(elements, rows * row, codes);
  for (std::uint64_t i = 0; i < rows; ++i)
    find_row(elements + i * row * bytes_, row, codes + i * ceil_div(row, format_.block));
}

void BlockScaleFinder::find_row(const std::byte* elements, std::uint64_t count,
                                std::byte* codes) const {
  if (widen_ == nullptr) {
    for (std::uint64_t at = 0; at < count; at += format_.block) {
      const std::uint64_t n = std::min<std::uint64_t>(format_.block, count - at);
      const Number largest = exact_magnitude(from_, elements + at * bytes_, n);
      *codes++ =
          static_cast<std::byte>(block_scale_code(format_, element_, largest, tensor_scale_));
    }
    return;
  }
  // As many blocks as their scales fill a chunk.
  constexpr std::uint64_t kMost = 1024;
  alignas(64) NarrowNumbers largest;
  alignas(64) std::array<double, kMost> numbers;
  alignas(64) std::array<float, kMost> floats;
  const std::uint64_t chunk = kNarrowChunk * format_.block;
  for (std::uint64_t at = 0; at < count; at += chunk) {
    const std::uint64_t all = std::min(chunk, count - at);
    for (std::uint64_t begin = 0; begin < all; begin += kMost) {
      const std::uint64_t n = std::min(kMost, all - begin);
      const std::byte* from = elements + (at + begin) * bytes_;
      double* to = largest.data() + begin / format_.block;
      if (to_floats_.can()) {
        block_magnitudes(to_floats_(from, n, floats.data()), n, format_.block, to);
      } else {
        widen_(from, 1, n, numbers.data());
        block_magnitudes(numbers.data(), n, format_.block, to);
      }
    }
    encode(largest.data(), ceil_div(all, format_.block), codes + at / format_.block);
  }
}

// As block_scale_code() does.
void BlockScaleFinder::encode(double* largest, std::size_t count, std::byte* codes) const {
  if (!format_.tensor_scale) {
    const FloatGeometry& fp = info(format_.scale).fp;
    const int most = static_cast<int>(largest_code(format_.scale));
    for (std::size_t i = 0; i < count; ++i) {
      const int code = exponent_of(largest[i]) - element_exponent_ + fp.bias;
      codes[i] = static_cast<std::byte>(std::clamp(code, 0, most));
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    largest[i] = largest[i] / element_largest_ / static_cast<double>(tensor_scale_);
  NarrowCodes narrowed;
  // Nobody asks for the account: no error is larger than these.
  LossAccount ignored;
  ignored.max_abs = ignored.max_rel = std::numeric_limits<double>::max();
  find_narrow(to_scale_.kind, NumberSource::plain)(to_scale_, {.numbers = largest, .count = count},
                                                   narrowed, ignored);
  pack_codes(narrowed, count, 1, codes);
}

}  // namespace btf
