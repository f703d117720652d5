// Draws a part of a pair as it is compared: actual, golden and error.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/picture.h"
#include "btf/try.h"
#include "diff/loaded_pair.h"
#include "diff/sides/side.h"
#include "elements/cast.h"
#include "elements/elements.h"
#include "kernels/number/widen.h"
#include "picture/picture.h"

namespace btf {
namespace {

// A box is read including its gaps if it has at most kReadAnyway bytes, or at most kMaxBox bytes
// and at most kMaxGaps elements for each wanted one. Otherwise it is cut in two.
constexpr std::uint64_t kReadAnyway = 8U << 10;
constexpr std::uint64_t kMaxGaps = 16;
constexpr std::uint64_t kMaxBox = 1U << 20;

// A range of positions in each dim of the part.
struct Places {
  Dims first;
  Dims count;
};

// The product of dims of a side, which cannot overflow.
std::uint64_t product(const Dims& counts) {
  std::uint64_t all = 1;
  for (const std::uint64_t count : counts) all *= count;
  return all;
}

std::uint64_t index_at(const SlicedDim& dim, std::uint64_t place) {
  const std::uint64_t step = static_cast<std::uint64_t>(std::abs(dim.step));
  return dim.step > 0 ? dim.start + place * step : dim.start - place * step;
}

class PartReader {
 public:
  PartReader(const DiffSide& side, const PicturePart& part, const Execution& execution)
      : side_(side),
        part_(part),
        execution_(execution),
        bytes_(info(side.dtype()).buffer_bytes()),
        codes_(part.elements() * bytes_) {
    for (const SlicedDim& dim : part.dims) counts_.push_back(dim.count);
    strides_ = row_major(counts_).strides;
  }

  Result<std::vector<std::byte>> read() {
    if (side_.storage() == nullptr) {
      BTF_TRY(take_entries());
    } else {
      BTF_ASSIGN(reader_, side_.reader(*side_.storage()));
      BTF_TRY(take({Dims(counts_.size(), 0), counts_}));
    }
    return std::move(codes_);
  }

 private:
  Status take(const Places& places) {
    const Box box = box_of(places);
    const std::uint64_t wanted = product(places.count);
    const std::uint64_t read = product(box.counts());
    if (wanted == 1 || read * bytes_ <= kReadAnyway ||
        (read / wanted <= kMaxGaps && read * bytes_ <= kMaxBox))
      return copy(places, box);
    const std::size_t dim = outermost(places);
    Places half = places;
    half.count[dim] = places.count[dim] / 2;
    BTF_TRY(take(half));
    half.first[dim] += half.count[dim];
    half.count[dim] = places.count[dim] - half.count[dim];
    return take(half);
  }

  // Boxes begin at whole blocks of lanes.
  Box box_of(const Places& places) const {
    Box box;
    for (std::size_t d = 0; d < counts_.size(); ++d) {
      const std::uint64_t one = index_at(part_.dims[d], places.first[d]);
      const std::uint64_t other = index_at(part_.dims[d], places.first[d] + places.count[d] - 1);
      box.lo.push_back(std::min(one, other));
      box.hi.push_back(std::max(one, other) + 1);
    }
    const StridedLayout* const storage = side_.storage();
    if (storage == nullptr || !storage->split) return box;
    const Split& split = *storage->split;
    box.lo[split.dim] = box.lo[split.dim] / split.lanes * split.lanes;
    return box;
  }

  // Of the dims with several positions, the one with the largest steps in the stored array.
  std::size_t outermost(const Places& places) const {
    std::optional<std::size_t> found;
    const auto length = [&](std::size_t d) {
      return side_.storage()->strides[d] * static_cast<std::uint64_t>(std::abs(part_.dims[d].step));
    };
    for (std::size_t d = 0; d < counts_.size(); ++d)
      if (places.count[d] > 1 && (!found || length(d) > length(*found))) found = d;
    return *found;
  }

  Status copy(const Places& places, const Box& box) {
    BTF_TRY(check_cancelled(execution_));
    BTF_ASSIGN(const SourceSlab read, reader_->read(box));
    const SourceSlab rows = in_row_major(read, box.counts(), side_.dtype(), buffer_);
    const std::uint64_t wanted = product(places.count);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      std::uint64_t rest = i;
      std::uint64_t from = 0;
      std::uint64_t to = 0;
      for (std::size_t d = counts_.size(); d-- > 0; rest /= places.count[d]) {
        const std::uint64_t place = places.first[d] + rest % places.count[d];
        from += (index_at(part_.dims[d], place) - box.lo[d]) * rows.mapping.strides[d];
        to += place * strides_[d];
      }
      std::memcpy(codes_.data() + to * bytes_, rows.data + from * bytes_, bytes_);
    }
    return {};
  }

  // Elements that a COO tensor does not store have the code 0.
  Status take_entries() {
    const Box box = box_of({Dims(counts_.size(), 0), counts_});
    Dims last = box.hi;
    for (std::uint64_t& index : last) --index;
    BTF_ASSIGN(const auto entries, side_.entries({linear_key(side_.dims(), box.lo),
                                                  linear_key(side_.dims(), last) + 1}));
    for (;;) {
      BTF_TRY(check_cancelled(execution_));
      BTF_ASSIGN(const CooRun run, entries->next_run());
      if (run.count == 0) return {};
      for (std::uint64_t i = 0; i < run.count; ++i)
        if (const auto to = place_of(index_of(side_.dims(), run.keys[i])))
          std::memcpy(codes_.data() + *to * bytes_, run.code(i), bytes_);
    }
  }

  std::optional<std::uint64_t> place_of(const Dims& index) const {
    std::uint64_t to = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const SlicedDim& dim = part_.dims[d];
      const std::uint64_t step = static_cast<std::uint64_t>(std::abs(dim.step));
      const bool reached = dim.step > 0 ? index[d] >= dim.start : index[d] <= dim.start;
      const std::uint64_t distance = dim.step > 0 ? index[d] - dim.start : dim.start - index[d];
      if (!reached || distance % step != 0 || distance / step >= dim.count) return std::nullopt;
      to += distance / step * strides_[d];
    }
    return to;
  }

  const DiffSide& side_;
  const PicturePart& part_;
  const Execution& execution_;
  std::uint64_t bytes_;
  std::vector<std::byte> codes_;
  Dims counts_;   // positions in each dim
  Dims strides_;  // of the result
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
};

// The codes of a part of one side, of buffer_bytes() each, in the row-major order of the part.
Result<std::vector<std::byte>> side_codes(const DiffSide& side, const PicturePart& part,
                                          const Execution& execution) {
  return PartReader(side, part, execution).read();
}

PartNumbers numbers_of(const PicturePart& part, DType dtype, const std::vector<std::byte>& codes) {
  PartNumbers numbers{part, std::vector<double>(part.elements())};
  widener<double>(dtype)(codes.data(), 1, part.elements(), numbers.numbers.data());
  return numbers;
}

// The error of two elements; 0 if both are NaN or the same Inf.
double error_of(long double actual, long double golden) {
  if ((std::isnan(actual) && std::isnan(golden)) || actual == golden) return 0;
  return static_cast<double>(actual - golden);
}

// As in a comparison, errors of 64-bit integers have all digits.
PartNumbers errors_of(const PicturePart& part, DType actual,
                      const std::vector<std::byte>& actual_codes, DType golden,
                      const std::vector<std::byte>& golden_codes) {
  PartNumbers errors{part, std::vector<double>(part.elements())};
  const auto left = widener<long double>(actual);
  const auto right = widener<long double>(golden);
  const std::uint64_t left_bytes = info(actual).buffer_bytes();
  const std::uint64_t right_bytes = info(golden).buffer_bytes();
  for (std::size_t i = 0; i < errors.numbers.size(); ++i) {
    long double a = 0;
    long double g = 0;
    left(actual_codes.data() + i * left_bytes, 1, 1, &a);
    right(golden_codes.data() + i * right_bytes, 1, 1, &g);
    errors.numbers[i] = error_of(a, g);
  }
  return errors;
}

Result<DrawnTensor> drawn(const DiffSide& actual, const DiffSide& golden,
                          const PictureOptions& options) {
  if (actual.dims() != golden.dims())
    return fail(ErrorCode::invalid_argument, "a picture of a difference needs equal dims, not " +
                                                 dims_text(actual.dims()) + " and " +
                                                 dims_text(golden.dims()));
  BTF_ASSIGN(const PicturePart part, picture_part(golden.dims(), options.part));
  BTF_ASSIGN(std::vector<std::byte> left, side_codes(actual, part, options.execution));
  BTF_ASSIGN(std::vector<std::byte> right, side_codes(golden, part, options.execution));
  const PartNumbers errors = errors_of(part, actual.dtype(), left, golden.dtype(), right);
  const PartNumbers left_numbers = numbers_of(part, actual.dtype(), std::exchange(left, {}));
  const PartNumbers right_numbers = numbers_of(part, golden.dtype(), std::exchange(right, {}));
  return draw_panels(left_numbers, right_numbers, errors, options);
}

}  // namespace

Result<DrawnTensor> draw_difference(const TensorFile& actual, const TensorFile& golden,
                                    const TensorPair& pair, const DiffOptions& options,
                                    const PictureOptions& picture) {
  if (!pair.actual || !pair.golden)
    return fail(ErrorCode::invalid_argument, "a picture of a difference needs both tensors");
  BTF_ASSIGN(const PairLoader loader, PairLoader::of(actual, golden, options));
  BTF_ASSIGN(const LoadedPair loaded, loader.load(pair));
  BTF_ASSIGN(const ShapeEdits edits, shape_edits(loaded.a.dims, loaded.b.dims, options));
  const auto draw_sides = [&]() -> Result<DrawnTensor> {
    BTF_ASSIGN(const auto left, loader.actual(loaded, edits.actual, picture.execution));
    BTF_ASSIGN(const auto right, loader.golden(loaded, edits.golden, picture.execution));
    return drawn(*left, *right, picture);
  };
  Result<DrawnTensor> result = draw_sides();
  if (!result) return std::unexpected(actual.about(loaded.a.index, result.error()));
  BTF_TRY(actual.check_unchanged());
  BTF_TRY(golden.check_unchanged());
  return result;
}

}  // namespace btf
