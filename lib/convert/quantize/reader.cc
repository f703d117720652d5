#include "convert/quantize/reader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <tuple>

#include "btf/try.h"
#include "core/checked_math.h"
#include "elements/cast_slab.h"
#include "elements/row_major.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

// The elements of a box side by side in row-major order.
class LinearBoxes {
 public:
  LinearBoxes(std::unique_ptr<SlabReader> reader, DType dtype)
      : reader_(std::move(reader)), dtype_(dtype) {}

  Result<const std::byte*> read(const Box& box) {
    BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
    return in_row_major(slab, box.counts(), dtype_, codes_).data;
  }

 private:
  std::unique_ptr<SlabReader> reader_;
  DType dtype_;
  Buffer codes_;
};

// The scale of a block: its own times the tensor's.
Number block_scale(const Scales& scales, std::uint64_t code) {
  return number::product(decode_one(scales.blocks->scale, code),
                         number::from_double(scales.tensor_scale));
}

// Calls visit(first element of the box, count, scale's number) for runs with one scale, which
// together are the whole box. The scale's number counts along the axis, or the box's blocks.
template <typename Visit>
Status for_each_scaled_run(const Scales& scales, const Box& box, Visit&& visit) {
  const Dims counts = box.counts();
  const std::uint64_t total = *element_count(counts);
  if (scales.blocks != nullptr) {
    const std::uint64_t row = counts.back();
    std::uint64_t number = 0;
    for (std::uint64_t first = 0; first < total; first += row)
      for (std::uint64_t at = 0; at < row; at += scales.blocks->block)
        BTF_TRY(visit(first + at, std::min(scales.blocks->block, row - at), number++));
    return {};
  }
  if (!scales.axis) return visit(std::uint64_t{0}, total, std::uint64_t{0});
  std::uint64_t inner = 1;
  for (std::size_t d = *scales.axis + 1; d < counts.size(); ++d) inner *= counts[d];
  std::uint64_t along = 0;
  for (std::uint64_t first = 0; first < total; first += inner) {
    BTF_TRY(visit(first, inner, box.lo[*scales.axis] + along));
    along = (along + 1) % counts[*scales.axis];
  }
  return {};
}

// Of the finite elements. Exact: a double would lift 2^63 - 1 over the next power of two.
Number largest_magnitude(DType dtype, const std::byte* codes, std::uint64_t n) {
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

using RunFn = void (*)(const ScaledCast&, const Number&, const std::byte*, std::byte*,
                       std::uint64_t, LossAccount&);

// What quantising and dequantising share: runs of a box, each with its scale.
class ScalingReader : public SlabReader {
 public:
  ScalingReader(std::unique_ptr<SlabReader> source, const ScaledCast& cast, const Scales& scales,
                RunFn run, Losses& losses)
      : source_(std::move(source), cast.from),
        cast_(cast),
        scales_(scales),
        run_(run),
        losses_(losses) {}

  Result<SourceSlab> read(const Box& box) override {
    const Dims counts = box.counts();
    BTF_ASSIGN(const std::byte* codes, source_.read(box));
    BTF_TRY(prepare(box));
    std::byte* out = result_.reserve(*element_count(counts) * info(cast_.to).buffer_bytes());
    BTF_TRY(for_each_scaled_run(
        scales_, box, [&](std::uint64_t first, std::uint64_t n, std::uint64_t number) {
          return scale_run(box, codes + first * info(cast_.from).buffer_bytes(), first, n, number,
                           out + first * info(cast_.to).buffer_bytes());
        }));
    return SourceSlab{out, row_major(counts)};
  }

 protected:
  virtual Status prepare(const Box&) { return {}; }
  // Of run `number`, whose elements are `codes`.
  virtual Number scale_of(const std::byte* codes, std::uint64_t n, std::uint64_t number) = 0;

  // The number that a code stands for, and the other one.
  virtual void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                         const Number& result, Noise& noise) const = 0;

  const ScaledCast& cast() const { return cast_; }
  const Scales& scales() const { return scales_; }

 private:
  Status scale_run(const Box& box, const std::byte* codes, std::uint64_t first, std::uint64_t n,
                   std::uint64_t number, std::byte* out) {
    ScaledCast cast = cast_;
    if (!scales_.zero_points.empty()) cast.zero_point = scales_.zero_points[number];
    const Number scale = scale_of(codes, n, number);
    LossAccount account;
    run_(cast, scale, codes, out, n, account);
    if (forbidden(cast.policy, account)) return refuse_in(box, cast, scale, codes, first, n, out);
    losses_.add(account);
    if (losses_.noise) measure(cast, scale, codes, out, n);
    return {};
  }

  void measure(const ScaledCast& cast, const Number& scale, const std::byte* codes,
               const std::byte* out, std::uint64_t n) {
    std::array<Number, 64> source;
    std::array<Number, 64> result;
    for (std::uint64_t at = 0; at < n; at += source.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(source.size(), n - at);
      decoder(cast.from)(codes + at * info(cast.from).buffer_bytes(), 1, count, source.data());
      decoder(cast.to)(out + at * info(cast.to).buffer_bytes(), 1, count, result.data());
      for (std::uint64_t i = 0; i < count; ++i)
        add_noise(cast, scale, source[i], result[i], *losses_.noise);
    }
  }

  std::unexpected<Error> refuse_in(const Box& box, const ScaledCast& cast, const Number& scale,
                                   const std::byte* codes, std::uint64_t first, std::uint64_t n,
                                   std::byte* out) {
    const std::uint64_t bytes = info(cast.from).buffer_bytes();
    std::uint64_t i = 0;
    LossAccount one;
    for (; i < n; ++i) {
      run_(cast, scale, codes + i * bytes, out, 1, one);
      if (forbidden(cast.policy, one)) break;
    }
    const Dims counts = box.counts();
    Dims index(counts.size());
    std::uint64_t rest = first + i;
    for (std::size_t d = counts.size(); d-- > 0; rest /= counts[d])
      index[d] = box.lo[d] + rest % counts[d];
    return refuse_element({cast.from, cast.to, cast.policy}, index, codes + i * bytes, one);
  }

  LinearBoxes source_;
  ScaledCast cast_;
  const Scales& scales_;
  RunFn run_;
  Losses& losses_;
  Buffer result_;
};

class QuantizingReader final : public ScalingReader {
 public:
  QuantizingReader(std::unique_ptr<SlabReader> numbers, const ScaledCast& cast,
                   const Scales& scales, Losses& losses)
      : ScalingReader(std::move(numbers), cast, scales, quantize_run, losses) {}

 private:
  void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                 const Number& result, Noise& noise) const override {
    noise.add(source, scaled_up(result, scale, cast.zero_point));
  }

  Number scale_of(const std::byte* codes, std::uint64_t n, std::uint64_t number) override {
    if (scales().blocks == nullptr) return number::from_double(scales().values[number]);
    const Number largest = largest_magnitude(cast().from, codes, n);
    return block_scale(
        scales(), block_scale_code(*scales().blocks, cast().to, largest, scales().tensor_scale));
  }
};

class DequantizingReader final : public ScalingReader {
 public:
  DequantizingReader(std::unique_ptr<SlabReader> codes, std::unique_ptr<SlabReader> scale_codes,
                     const ScaledCast& cast, const Scales& scales, Losses& losses)
      : ScalingReader(std::move(codes), cast, scales, dequantize_run, losses) {
    if (scale_codes)
      block_scales_ = std::make_unique<LinearBoxes>(std::move(scale_codes), scales.blocks->scale);
  }

 private:
  void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                 const Number& result, Noise& noise) const override {
    noise.add(scaled_up(source, scale, cast.zero_point), result);
  }

  Status prepare(const Box& box) override {
    if (!block_scales_) return {};
    Box blocks = box;
    blocks.lo.back() /= scales().blocks->block;
    blocks.hi.back() = ceil_div(box.hi.back(), scales().blocks->block);
    BTF_ASSIGN(scale_codes_, block_scales_->read(blocks));
    return {};
  }

  Number scale_of(const std::byte*, std::uint64_t, std::uint64_t number) override {
    if (!block_scales_) return number::from_double(scales().values[number]);
    return block_scale(scales(), std::to_integer<std::uint64_t>(scale_codes_[number]));
  }

  std::unique_ptr<LinearBoxes> block_scales_;
  const std::byte* scale_codes_ = nullptr;
};

class BlockScaleReader final : public SlabReader {
 public:
  BlockScaleReader(std::unique_ptr<SlabReader> numbers, const ScaledCast& cast, Dims dims,
                   const Scales& scales)
      : numbers_(std::move(numbers), cast.from),
        cast_(cast),
        dims_(std::move(dims)),
        scales_(scales) {}

  Result<SourceSlab> read(const Box& box) override {
    Box numbers = box;
    numbers.lo.back() *= scales_.blocks->block;
    numbers.hi.back() = std::min(dims_.back(), box.hi.back() * scales_.blocks->block);
    BTF_ASSIGN(const std::byte* codes, numbers_.read(numbers));
    const Dims counts = box.counts();
    std::byte* out = codes_.reserve(*element_count(counts));
    BTF_TRY(for_each_scaled_run(
        scales_, numbers, [&](std::uint64_t first, std::uint64_t n, std::uint64_t number) {
          const Number largest =
              largest_magnitude(cast_.from, codes + first * info(cast_.from).buffer_bytes(), n);
          out[number] = static_cast<std::byte>(
              block_scale_code(*scales_.blocks, cast_.to, largest, scales_.tensor_scale));
          return Status{};
        }));
    return SourceSlab{out, row_major(counts)};
  }

 private:
  LinearBoxes numbers_;
  ScaledCast cast_;
  Dims dims_;
  const Scales& scales_;
  Buffer codes_;
};

class ValueReader final : public SlabReader {
 public:
  ValueReader(std::vector<std::byte> codes, DType dtype, const StridedLayout& storage)
      : codes_(std::move(codes)), reader_(memory_reader(codes_.data(), storage, dtype)) {}

  Result<SourceSlab> read(const Box& box) override { return reader_->read(box); }

 private:
  std::vector<std::byte> codes_;
  std::unique_ptr<SlabReader> reader_;
};

}  // namespace

std::unique_ptr<SlabReader> quantizing_reader(std::unique_ptr<SlabReader> numbers,
                                              const ScaledCast& cast, const Scales& scales,
                                              Losses& losses) {
  return std::make_unique<QuantizingReader>(std::move(numbers), cast, scales, losses);
}

std::unique_ptr<SlabReader> block_scale_reader(std::unique_ptr<SlabReader> numbers,
                                               const ScaledCast& cast, const Dims& dims,
                                               const Scales& scales) {
  return std::make_unique<BlockScaleReader>(std::move(numbers), cast, dims, scales);
}

std::unique_ptr<SlabReader> dequantizing_reader(std::unique_ptr<SlabReader> codes,
                                                std::unique_ptr<SlabReader> scale_codes,
                                                const ScaledCast& cast, const Scales& scales,
                                                Losses& losses) {
  return std::make_unique<DequantizingReader>(std::move(codes), std::move(scale_codes), cast,
                                              scales, losses);
}

std::unique_ptr<SlabReader> value_reader(std::vector<std::byte> codes, DType dtype,
                                         const StridedLayout& storage) {
  return std::make_unique<ValueReader>(std::move(codes), dtype, storage);
}

}  // namespace btf
