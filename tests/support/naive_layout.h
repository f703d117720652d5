// The layouts as TensorRT's documentation words them, written out subscript by subscript: an oracle
// for the library, with which it shares neither code nor tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace naive {

using Dims = std::vector<std::uint64_t>;

struct Name {
  std::string_view name;         // TensorRT's; the two kDLA_HWC4 have the device behind it
  std::uint8_t code;             // in a BTF file
  std::size_t channel_from_end;  // 3 is C of [.., C, H, W]
  std::size_t least_rank;
};

// Every dense layout.
std::span<const Name> names();

struct Array {
  Dims shape;  // of the stored array, padding included
  Dims place;  // position in it of every logical element, the elements in row-major order

  std::uint64_t elements() const;  // of the stored array
};

Array layout(std::string_view name, const Dims& dims, std::uint64_t element_bytes);

// Dims of this rank with C channels where the layout has them and small sizes elsewhere; rows are
// `width` long.
Dims dims_for(const Name& name, std::size_t rank, std::uint64_t channels, std::uint64_t width);

// False for what the layout cannot store: too small a rank, a C that DLA's images do not have.
bool can_hold(const Name& name, std::size_t rank, std::uint64_t channels);

// The stored array's bytes, padding zero, of a row-major tensor. Both in whole bytes.
std::vector<std::byte> store(const Array& array, std::span<const std::byte> row_major,
                             std::uint64_t element_bytes);

// Counts `index` up in row-major order; false after the last one.
bool next(Dims& index, const Dims& dims);

}  // namespace naive
