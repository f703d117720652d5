// Parts of tensors as pictures: the numbers, colours, the canvas, PNG, and forms for terminals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/picture.h"

namespace btf {

// The part of a tensor that becomes a picture, as numbers.

// Which elements of a tensor: tiles of rows of columns.
struct PicturePart {
  std::vector<SlicedDim> dims;  // the tensor's; of a dim that is not kept one index
  std::uint64_t tiles = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::string text;  // "[0, :, :, :]"

  std::uint64_t elements() const { return tiles * rows * columns; }
};

// Nothing given: the part that PictureOptions says.
Result<PicturePart> picture_part(const Dims& dims, const std::optional<Slice>& given);

// The same with its numbers, row-major.
struct PartNumbers : PicturePart {
  std::vector<double> numbers;
};

Result<PartNumbers> read_part(const TensorFile& file, const TensorInfo& tensor,
                              const std::optional<Slice>& part, const Execution& execution);

// The least and the greatest finite number.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool any() const { return least <= greatest; }
  void add(const Extent& other);
};

Extent extent_of(std::span<const double> numbers);

// Two parts and their difference, side by side: actual | golden | error.

// Parts of as many tiles, rows and columns. The facts count what the errors are.
Result<DrawnTensor> draw_panels(const PartNumbers& actual, const PartNumbers& golden,
                                const PartNumbers& error, const PictureOptions& options);

}  // namespace btf
