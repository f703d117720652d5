#include "picture/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "btf/read.h"
#include "btf/try.h"

namespace btf {
namespace {

Slice default_part(std::size_t rank) {
  Slice part;
  part.parts.assign(rank > kMostPictureDims ? rank - kMostPictureDims : 0, std::int64_t{0});
  return part;
}

// "[0, :, 2:9:2]"
std::string text_of(const std::vector<SlicedDim>& part, const Dims& dims) {
  std::string text = "[";
  for (std::size_t d = 0; d < part.size(); ++d) {
    const SlicedDim& dim = part[d];
    if (d > 0) text += ", ";
    if (!dim.keep) {
      text += std::to_string(dim.start);
    } else if (dim.count == dims[d] && dim.step == 1) {
      text += ":";
    } else {
      const auto last = static_cast<std::int64_t>(dim.start) +
                        static_cast<std::int64_t>(dim.count - 1) * dim.step;
      text += std::to_string(dim.start) + ":";
      // Down to the first index a range has no end.
      if (dim.step > 0 || last > 0) text += std::to_string(dim.step > 0 ? last + 1 : last - 1);
      if (dim.step != 1) text += ":" + std::to_string(dim.step);
    }
  }
  return text + "]";
}

DimRange range_of(const SlicedDim& dim) {
  const std::uint64_t step = static_cast<std::uint64_t>(std::abs(dim.step));
  const std::uint64_t reach = (dim.count - 1) * step;
  const std::uint64_t begin = dim.step > 0 ? dim.start : dim.start - reach;
  return {begin, begin + reach + 1, step};
}

}  // namespace

Result<PicturePart> picture_part(const Dims& dims, const std::optional<Slice>& given) {
  PicturePart part;
  BTF_ASSIGN(part.dims, sliced_dims(given.value_or(default_part(dims.size())), dims));
  std::vector<std::size_t> kept;
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const SlicedDim& dim = part.dims[d];
    if (dim.keep) kept.push_back(d);
    if (dim.count == 0)
      return fail(ErrorCode::invalid_argument, "there is nothing to draw: dim " +
                                                   std::to_string(d) + " has none of its " +
                                                   std::to_string(dims[d]) + " indices left");
    if (__builtin_mul_overflow(elements, dim.count, &elements)) elements = UINT64_MAX;
  }
  part.text = text_of(part.dims, dims);
  if (elements > kMostPictureElements)
    return fail(ErrorCode::unsupported, part.text + " has " + std::to_string(elements) +
                                            " elements, and a picture at most " +
                                            std::to_string(kMostPictureElements) +
                                            ": take a part, or every n-th element");
  if (kept.size() > kMostPictureDims)
    return fail(ErrorCode::invalid_argument, "a picture has rows, columns and tiles; " + part.text +
                                                 " has " + std::to_string(kept.size()) +
                                                 " dims: give an index for the others");
  const auto count_of = [&](std::size_t from_end) {
    return kept.size() >= from_end ? part.dims[kept[kept.size() - from_end]].count : 1;
  };
  part.columns = count_of(1);
  part.rows = count_of(2);
  part.tiles = count_of(3);
  return part;
}

Result<PartNumbers> read_part(const TensorFile& file, const TensorInfo& tensor,
                              const std::optional<Slice>& part, const Execution& execution) {
  if (!tensor.known())
    return fail(ErrorCode::unsupported,
                tensor.dtype ? "unknown layout code " + std::to_string(tensor.layout_code)
                             : tensor.unknown_dtype_text());
  BTF_ASSIGN(PicturePart chosen, picture_part(tensor.dims, part));
  PartNumbers result{std::move(chosen), {}};
  const std::vector<SlicedDim>& sliced = result.dims;
  ReadOptions read;
  read.dtype = DType::float64;
  read.layout = Layout::linear;
  read.execution = execution;
  for (const SlicedDim& dim : sliced) read.region.push_back(range_of(dim));
  BTF_ASSIGN(const LoadedTensor loaded, read_tensor(file, tensor, read));
  result.numbers.resize(result.elements());
  std::memcpy(result.numbers.data(), loaded.tensor.bytes.data(),
              result.numbers.size() * sizeof(double));

  // What runs backwards was read forwards.
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < sliced.size(); ++d)
    if (sliced[d].keep) kept.push_back(d);
  const auto backwards = [&](std::size_t from_end) {
    return kept.size() >= from_end && sliced[kept[kept.size() - from_end]].step < 0;
  };
  const auto reverse = [&](std::uint64_t groups, std::uint64_t items, std::uint64_t size) {
    for (std::uint64_t group = 0; group < groups; ++group)
      for (std::uint64_t i = 0; i < items / 2; ++i) {
        double* const first = result.numbers.data() + (group * items + i) * size;
        double* const last = result.numbers.data() + (group * items + items - 1 - i) * size;
        std::swap_ranges(first, first + size, last);
      }
  };
  if (backwards(1)) reverse(result.tiles * result.rows, result.columns, 1);
  if (backwards(2)) reverse(result.tiles, result.rows, result.columns);
  if (backwards(3)) reverse(1, result.tiles, result.rows * result.columns);
  return result;
}

void Extent::add(const Extent& other) {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

Extent extent_of(std::span<const double> numbers) {
  Extent extent;
  for (const double value : numbers)
    if (std::isfinite(value)) extent.add({value, value});
  return extent;
}

}  // namespace btf
