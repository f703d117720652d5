// Readers that quantise and dequantise, and the scales of blocks.
#include "convert/quantize/scaled_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "btf/dtype.h"
#include "btf/try.h"
#include "convert/quantize/scales.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/slabs.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/cast/to_floats.h"
#include "kernels/narrow/narrowing.h"
#include "kernels/number/number.h"
#include "kernels/number/widen.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace {

// Computes block_scale_code() of every block.
class BlockScaleFinder {
 public:
  BlockScaleFinder(const Scales& scales, const ScaledCast& cast);

  // Computes the scales of elements with these dims in row-major order. Blocks run along the last
  // dim.
  void find(const std::byte* elements, const Dims& dims, std::byte* codes) const;

 private:
  void find_row(const std::byte* elements, std::uint64_t count, std::byte* codes) const;
  void encode(double* largest, std::size_t count, std::byte* codes) const;

  const BlockFormatInfo& format_;
  DType from_;
  DType element_;
  float tensor_scale_;
  std::uint64_t bytes_;
  int element_exponent_;  // exponent of the element's largest number
  double element_largest_;
  ToFloats to_floats_;
  Narrowing to_scale_;
  WidenFn<double> widen_ = nullptr;  // nullptr: exact numbers are used
};

// The largest finite magnitude. Exact, since a double would round 2^63 - 1 up to the next power of
// two.
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

// floor(log2(x)); for 0 and subnormal numbers, less than any dtype's exponent.
int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023; }

// The box of scales for a box of elements.
Box blocks_of(const Box& box, std::uint64_t block) {
  Box blocks = box;
  blocks.lo.back() /= block;
  blocks.hi.back() = ceil_div(box.hi.back(), block);
  return blocks;
}

// The value of a block scale's code, including the scale of the tensor.
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
  // Two quotients of doubles give the same scale as exact ones if the numbers have at most the 24
  // digits of a float32: a ratio that is not exactly halfway between two scales is far from
  // halfway.
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
  // A chunk has as many blocks as NarrowNumbers holds scales.
  constexpr std::uint64_t kMaxChunk = 1024;
  alignas(64) NarrowNumbers largest;
  alignas(64) std::array<double, kMaxChunk> numbers;
  alignas(64) std::array<float, kMaxChunk> floats;
  const std::uint64_t chunk = kNarrowChunk * format_.block;
  for (std::uint64_t at = 0; at < count; at += chunk) {
    const std::uint64_t all = std::min(chunk, count - at);
    for (std::uint64_t begin = 0; begin < all; begin += kMaxChunk) {
      const std::uint64_t n = std::min(kMaxChunk, all - begin);
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

// Must give the same codes as block_scale_code().
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
  // The account is not used. With errors this large in it, no element is examined for a larger one.
  LossAccount ignored;
  ignored.max_abs = ignored.max_rel = std::numeric_limits<double>::max();
  find_narrow(to_scale_.kind, NumberSource::plain)(to_scale_, {.numbers = largest, .count = count},
                                                   narrowed, ignored);
  pack_codes(narrowed, count, 1, codes);
}

// Reads boxes as adjacent elements in row-major order.
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

template <typename Visit>
Status for_each_run_of_grid(const ScaleGrid& grid, const Box& box, Visit&& visit) {
  const Dims counts = box.counts();
  const std::size_t last = counts.size() - 1;
  Dims index = box.lo;
  for (std::uint64_t first = 0; first < *element_count(counts); first += counts[last]) {
    for (std::uint64_t at = 0; at < counts[last];) {
      index[last] = box.lo[last] + at;
      const std::uint64_t in_block = grid.block[last] - index[last] % grid.block[last];
      const std::uint64_t n = std::min(in_block, counts[last] - at);
      BTF_TRY(visit(first + at, n, grid.number(index)));
      at += n;
    }
    // Advance to the next row.
    for (std::size_t d = last; d-- > 0;) {
      if (++index[d] < box.hi[d]) break;
      index[d] = box.lo[d];
    }
  }
  return {};
}

// Calls visit(first element of the box, count, number of the scale) for runs that share a scale and
// together cover the box. The number counts along the axis, in the grid, or the blocks of the box.
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
  if (scales.grid) return for_each_run_of_grid(*scales.grid, box, visit);
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

// A scale for each index of an axis or for each code of a block scale, as arrays for vector code.
class ScaleTable {
 public:
  // Both spans must outlive the table.
  ScaleTable(std::span<const double> scales, std::span<const std::int64_t> zero_points)
      : scales_(scales), zero_points_(zero_points) {}

  void add_floats() {
    for (const double scale : scales_) floats_.add(float_scale(scale));
  }

  const double* scales() const { return scales_.data(); }
  const std::int64_t* zero_points() const {  // nullptr if there is one for all
    return zero_points_.empty() ? nullptr : zero_points_.data();
  }
  const FloatScales& floats() const { return floats_; }

 private:
  std::span<const double> scales_;
  std::span<const std::int64_t> zero_points_;
  FloatScales floats_;
};

// Returns the scales of the elements of a box.
class ScalesOfElements final : public EachScale {
 public:
  // `block_codes`: the codes of the box's blocks, null without blocks.
  ScalesOfElements(const Scales& scales, const ScaleTable& table, const ScaleUse& use,
                   const Box& box, const std::byte* block_codes, std::int64_t zero_point)
      : table_(table),
        use_(use),
        block_codes_(block_codes),
        zero_point_(static_cast<double>(zero_point)) {
    const Dims counts = box.counts();
    row_ = counts.back();
    if (scales.blocks != nullptr) {
      length_ = scales.blocks->block;
      return;
    }
    for (std::size_t d = *scales.axis + 1; d < counts.size(); ++d) length_ *= counts[d];
    row_ = length_ * counts[*scales.axis];
    first_ = box.lo[*scales.axis];
  }

  ScaleUse use() const override { return use_; }

  void doubles(std::uint64_t at, std::size_t count, double* scales,
               double* zero_points) const override {
    fill(at, count, table_.scales(), scales);
    if (table_.zero_points() == nullptr)
      std::fill_n(zero_points, count, zero_point_);
    else
      fill(at, count, table_.zero_points(), zero_points);
  }
  void floats(std::uint64_t at, std::size_t count, FloatArrays& scales) const override {
    const FloatScales& table = table_.floats();
    for_each_run(at, count, [&](const Run& run) {
      put(run, table.high.data(), scales.high.data());
      put(run, table.low.data(), scales.low.data());
      put(run, table.inverse.data(), scales.inverse.data());
    });
  }

 private:
  // Adjacent elements from `first` on: all with the scale `entry`, or with consecutive scales.
  struct Run {
    std::size_t first;
    std::size_t count;
    std::uint64_t entry;
    bool of_one_scale;
  };

  template <typename Entry, typename Real>
  static void put(const Run& run, const Entry* table, Real* out) {
    const Entry* entry = table + run.entry;
    out += run.first;
    if (!run.of_one_scale)
      std::copy_n(entry, run.count, out);
    else if (run.count == 16)  // the usual lengths of blocks become a few stores each
      std::fill_n(out, 16, static_cast<Real>(*entry));
    else if (run.count == 32)
      std::fill_n(out, 32, static_cast<Real>(*entry));
    else
      std::fill_n(out, run.count, static_cast<Real>(*entry));
  }

  template <typename Entry, typename Real>
  void fill(std::uint64_t at, std::size_t count, const Entry* table, Real* out) const {
    for_each_run(at, count, [&](const Run& run) { put(run, table, out); });
  }

  // Visits the runs of `count` elements starting at element `at`.
  template <typename Visit>
  void for_each_run(std::uint64_t at, std::size_t count, Visit&& visit) const {
    std::uint64_t column = at % row_;
    if (length_ == 1 && block_codes_ == nullptr) {
      for (std::size_t first = 0; first < count; column = 0) {
        const std::size_t n = std::min<std::uint64_t>(row_ - column, count - first);
        visit(Run{first, n, first_ + column, false});
        first += n;
      }
      return;
    }
    std::uint64_t number = column / length_;
    std::uint64_t left = length_ - column % length_;  // elements left with this scale
    if (block_codes_ != nullptr) number += at / row_ * ceil_div(row_, length_);
    for (std::size_t first = 0; first < count;) {
      const std::size_t n = std::min({left, row_ - column, std::uint64_t{count - first}});
      visit(Run{first, n, place(number), true});
      first += n;
      column += n;
      left = length_;
      ++number;
      if (column != row_) continue;
      column = 0;
      if (block_codes_ == nullptr) number = 0;
    }
  }

  std::uint64_t place(std::uint64_t number) const {
    return block_codes_ == nullptr ? first_ + number
                                   : std::to_integer<std::uint64_t>(block_codes_[number]);
  }

  const ScaleTable& table_;
  ScaleUse use_;
  const std::byte* block_codes_;
  double zero_point_;
  std::uint64_t length_ = 1;
  std::uint64_t row_ = 1;
  std::uint64_t first_ = 0;
};

// Base of the quantising and dequantising readers, for boxes whose runs have different scales.
class ScalingReader : public SlabReader {
 public:
  ScalingReader(std::unique_ptr<SlabReader> source, const ScaledCast& cast, const Scales& scales,
                ScaleDirection direction, Losses& losses)
      : source_(std::move(source), cast.from),
        cast_(cast),
        scales_(scales),
        runs_(cast, direction),
        table_(scales.blocks != nullptr ? std::span<const double>(block_scales_) : scales.values,
               scales.zero_points),
        losses_(losses) {
    if (scales.blocks != nullptr) {
      for (std::size_t code = 0; code < block_scales_.size(); ++code) {
        block_scales_[code] = block_scale(scales, code);
        block_uses_[code] = runs_.close_use(block_scales_[code], 0);
      }
      table_.add_floats();
    } else if (scales.axis) {
      for (std::uint64_t i = 0; i < scales.values.size(); ++i)
        use_ = use_.with(runs_.use(scales.values[i], zero_point_of(i)));
      use_.floats = use_.floats && scales.zero_points.empty() && scales.values.size() <= kMaxFloats;
      if (use_.floats) table_.add_floats();
    }
  }

  Result<SourceSlab> read(const Box& box) override {
    const Dims counts = box.counts();
    const std::uint64_t total = *element_count(counts);
    BTF_ASSIGN(const std::byte* codes, source_.read(box));
    if (scales_.blocks != nullptr) {
      BTF_ASSIGN(block_codes_, block_codes(box, codes));
    }
    std::byte* out = result_.reserve(total * info(cast_.to).buffer_bytes());
    const ScaleUse use = use_in(box);
    if (use.vectors && in_short_runs(box)) {
      BTF_ASSIGN(const bool done, scale_each(box, use, codes, total, out));
      if (done) return SourceSlab{out, row_major(counts)};
    }
    BTF_TRY(for_each_scaled_run(
        scales_, box, [&](std::uint64_t first, std::uint64_t n, std::uint64_t number) {
          return scale_run(box, codes + first * info(cast_.from).buffer_bytes(), first, n, number,
                           out + first * info(cast_.to).buffer_bytes());
        }));
    return SourceSlab{out, row_major(counts)};
  }

 protected:
  // The codes of the box's block scales.
  virtual Result<const std::byte*> block_codes(const Box& box, const std::byte* codes) = 0;

  // Adds the difference between the number that a code represents and the original one.
  virtual void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                         const Number& result, Noise& noise) const = 0;

  const ScaledCast& cast() const { return cast_; }
  const Scales& scales() const { return scales_; }

 private:
  ScaleUse use_in(const Box& box) const {
    if (scales_.blocks == nullptr) return use_;
    ScaleUse use = kAllUses;
    const auto blocks =
        std::span(block_codes_, *element_count(blocks_of(box, scales_.blocks->block).counts()));
    for (const std::byte code : blocks)
      use = use.with(block_uses_[std::to_integer<std::size_t>(code)]);
    return use;
  }

  // Returns true if runs are so short that handling them one by one costs more than their elements.
  bool in_short_runs(const Box& box) const {
    constexpr std::uint64_t kShort = 256;
    if (scales_.blocks != nullptr) return true;
    if (!scales_.axis) return false;
    const Dims counts = box.counts();
    std::uint64_t length = 1;
    for (std::size_t d = *scales_.axis + 1; d < counts.size(); ++d) length *= counts[d];
    return length < kShort;
  }

  // An account that starts with the largest errors so far, so that only larger ones are looked for.
  LossAccount begin_account() const {
    LossAccount account;
    account.max_abs = losses_.max_abs;
    account.max_rel = losses_.max_rel;
    return account;
  }

  double scale_of(std::uint64_t number) const {
    if (scales_.blocks == nullptr) return scales_.values[number];
    return block_scales_[std::to_integer<std::size_t>(block_codes_[number])];
  }

  std::int64_t zero_point_of(std::uint64_t number) const {
    return scales_.zero_points.empty() ? cast_.zero_point : scales_.zero_points[number];
  }

  // Returns false if the policy forbids something in the box; going through the runs then gives the
  // message.
  Result<bool> scale_each(const Box& box, const ScaleUse& use, const std::byte* codes,
                          std::uint64_t total, std::byte* out) {
    LossAccount account = begin_account();
    const ScalesOfElements each(scales_, table_, use, box,
                                scales_.blocks != nullptr ? block_codes_ : nullptr,
                                cast_.zero_point);
    runs_.run_each(each, {codes, out, total}, account);
    if (forbidden(cast_.policy, account)) return false;
    losses_.add(account);
    if (losses_.noise)
      BTF_TRY(for_each_scaled_run(scales_, box,
                                  [&](std::uint64_t first, std::uint64_t n, std::uint64_t number) {
                                    measure(number, codes + first * info(cast_.from).buffer_bytes(),
                                            out + first * info(cast_.to).buffer_bytes(), n);
                                    return Status{};
                                  }));
    return true;
  }

  Status scale_run(const Box& box, const std::byte* codes, std::uint64_t first, std::uint64_t n,
                   std::uint64_t number, std::byte* out) {
    LossAccount account = begin_account();
    runs_.run(scale_of(number), zero_point_of(number), {codes, out, n}, account);
    if (forbidden(cast_.policy, account)) return refuse_in(box, number, codes, first, n, out);
    losses_.add(account);
    if (losses_.noise) measure(number, codes, out, n);
    return {};
  }

  void measure(std::uint64_t number, const std::byte* codes, const std::byte* out,
               std::uint64_t n) {
    ScaledCast cast = cast_;
    cast.zero_point = zero_point_of(number);
    const Number scale = number::from_double(scale_of(number));
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

  std::unexpected<Error> refuse_in(const Box& box, std::uint64_t number, const std::byte* codes,
                                   std::uint64_t first, std::uint64_t n, std::byte* out) {
    const std::uint64_t bytes = info(cast_.from).buffer_bytes();
    std::uint64_t i = 0;
    LossAccount one;
    for (; i < n; ++i) {
      runs_.run(scale_of(number), zero_point_of(number), {codes + i * bytes, out, 1}, one);
      if (forbidden(cast_.policy, one)) break;
    }
    const Dims counts = box.counts();
    Dims index(counts.size());
    std::uint64_t rest = first + i;
    for (std::size_t d = counts.size(); d-- > 0; rest /= counts[d])
      index[d] = box.lo[d] + rest % counts[d];
    return refuse_element({cast_.from, cast_.to, cast_.policy}, index, codes + i * bytes, one);
  }

  LinearBoxes source_;
  ScaledCast cast_;
  const Scales& scales_;
  static constexpr ScaleUse kAllUses{true, true, true, true, 0};
  // The most indices of an axis for which each worker also keeps scales as floats.
  static constexpr std::size_t kMaxFloats = 1U << 15;

  ScaledRuns runs_;
  // Indexed by the code of a block scale.
  std::array<double, 256> block_scales_{};
  std::array<ScaleUse, 256> block_uses_{};
  ScaleTable table_;
  ScaleUse use_ = kAllUses;  // for an axis
  Losses& losses_;
  Buffer result_;
  const std::byte* block_codes_ = nullptr;
};

class QuantizingReader final : public ScalingReader {
 public:
  QuantizingReader(std::unique_ptr<SlabReader> numbers, const ScaledCast& cast,
                   const Scales& scales, Losses& losses)
      : ScalingReader(std::move(numbers), cast, scales, ScaleDirection::quantize, losses) {
    if (scales.blocks != nullptr) finder_.emplace(scales, cast);
  }

 private:
  void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                 const Number& result, Noise& noise) const override {
    noise.add(source, scaled_up(result, scale, cast.zero_point));
  }

  Result<const std::byte*> block_codes(const Box& box, const std::byte* codes) override {
    std::byte* out =
        block_codes_.reserve(*element_count(blocks_of(box, scales().blocks->block).counts()));
    finder_->find(codes, box.counts(), out);
    return out;
  }

  std::optional<BlockScaleFinder> finder_;
  Buffer block_codes_;
};

class DequantizingReader final : public ScalingReader {
 public:
  DequantizingReader(std::unique_ptr<SlabReader> codes, std::unique_ptr<SlabReader> scale_codes,
                     const ScaledCast& cast, const Scales& scales, Losses& losses)
      : ScalingReader(std::move(codes), cast, scales, ScaleDirection::dequantize, losses) {
    if (scale_codes)
      block_scales_ = std::make_unique<LinearBoxes>(std::move(scale_codes), scales.blocks->scale);
  }

 private:
  void add_noise(const ScaledCast& cast, const Number& scale, const Number& source,
                 const Number& result, Noise& noise) const override {
    noise.add(scaled_up(source, scale, cast.zero_point), result);
  }

  Result<const std::byte*> block_codes(const Box& box, const std::byte*) override {
    return block_scales_->read(blocks_of(box, scales().blocks->block));
  }

  std::unique_ptr<LinearBoxes> block_scales_;
};

class BlockScaleReader final : public SlabReader {
 public:
  BlockScaleReader(std::unique_ptr<SlabReader> numbers, const ScaledCast& cast, Dims dims,
                   const Scales& scales)
      : numbers_(std::move(numbers), cast.from),
        dims_(std::move(dims)),
        block_(scales.blocks->block),
        finder_(scales, cast) {}

  Result<SourceSlab> read(const Box& box) override {
    Box numbers = box;
    numbers.lo.back() *= block_;
    numbers.hi.back() = std::min(dims_.back(), box.hi.back() * block_);
    BTF_ASSIGN(const std::byte* codes, numbers_.read(numbers));
    const Dims counts = box.counts();
    std::byte* out = codes_.reserve(*element_count(counts));
    finder_.find(codes, numbers.counts(), out);
    return SourceSlab{out, row_major(counts)};
  }

 private:
  LinearBoxes numbers_;
  Dims dims_;
  std::uint64_t block_;
  BlockScaleFinder finder_;
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
