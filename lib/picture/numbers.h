// The part of a tensor that becomes a picture, as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/inspect/picture.h"

namespace btf {

// Tiles of rows of columns, row-major.
struct PartNumbers {
  std::vector<double> numbers;
  std::uint64_t tiles = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::string text;  // "[0, :, :, :]"
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

}  // namespace btf
