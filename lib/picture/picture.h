// Parts of tensors as pictures: choosing and reading the part, and drawing it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/picture.h"

namespace btf {

// The elements of a tensor that are drawn: tiles of rows of columns.
struct PicturePart {
  std::vector<SlicedDim> dims;  // of the tensor; one index of each dim that is not kept
  std::uint64_t tiles = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::string text;  // "[0, :, :, :]"

  std::uint64_t elements() const { return tiles * rows * columns; }
};

// If `given` is unset, the default of PictureOptions::part.
Result<PicturePart> picture_part(const Dims& dims, const std::optional<Slice>& given);

// A part with its numbers in row-major order.
struct PartNumbers : PicturePart {
  std::vector<double> numbers;
};

Result<PartNumbers> read_part(const TensorFile& file, const TensorInfo& tensor,
                              const std::optional<Slice>& part, const Execution& execution);

// The range of finite numbers.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool any() const { return least <= greatest; }
  void add(const Extent& other);
};

Extent extent_of(std::span<const double> numbers);

// Draws two parts and their difference side by side: actual | golden | error. All must have the
// same tiles, rows and columns. The facts are those of the errors.
Result<DrawnTensor> draw_panels(const PartNumbers& actual, const PartNumbers& golden,
                                const PartNumbers& error, const PictureOptions& options);

}  // namespace btf
