#include "support/naive_layout.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

namespace naive {
namespace {

constexpr std::array<Name, 14> kNames{{
    {"kLINEAR", 0, 3, 0},
    {"kCHW2", 129, 3, 3},
    {"kHWC8", 130, 3, 3},
    {"kCHW4", 131, 3, 3},
    {"kCHW16", 132, 3, 3},
    {"kCHW32", 133, 3, 3},
    {"kDHWC8", 134, 4, 4},
    {"kCDHW32", 135, 4, 4},
    {"kHWC", 136, 3, 3},
    {"kDLA_LINEAR", 137, 3, 3},
    {"kDLA_HWC4 orin", 138, 3, 3},
    {"kHWC16", 139, 3, 3},
    {"kDHWC", 140, 4, 4},
    {"kDLA_HWC4 xavier", 154, 3, 3},
}};

// The least multiple of m that is not below n, by counting.
std::uint64_t up(std::uint64_t n, std::uint64_t m) {
  std::uint64_t multiple = 0;
  while (multiple < n) multiple += m;
  return multiple;
}

// The position of a subscript in an array of this shape, last index fastest.
std::uint64_t ravel(const Dims& shape, const Dims& subscript) {
  std::uint64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + subscript[axis];
  return position;
}

// "matrix coordinate (.., c, d, h, w) maps to array subscript": subscript_of(leading, c, d, h, w).
template <typename SubscriptOf>
Array fill(const Dims& dims, Dims shape, std::size_t channel, SubscriptOf subscript_of) {
  Array array{std::move(shape), {}};
  for (const std::uint64_t dim : dims)
    if (dim == 0) return array;
  Dims index(dims.size(), 0);
  do {
    Dims subscript(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(channel));
    const bool deep = dims.size() - channel == 4;
    const std::uint64_t c = index[channel];
    const std::uint64_t d = deep ? index[channel + 1] : 0;
    const std::uint64_t h = index[dims.size() - 2];
    const std::uint64_t w = index[dims.size() - 1];
    for (const std::uint64_t part : subscript_of(c, d, h, w)) subscript.push_back(part);
    array.place.push_back(ravel(array.shape, subscript));
  } while (next(index, dims));
  return array;
}

Array row_major(const Dims& dims) {
  Array array{dims, {}};
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  for (std::uint64_t i = 0; i < count; ++i) array.place.push_back(i);
  return array;
}

}  // namespace

std::span<const Name> names() { return kNames; }

std::uint64_t Array::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

bool next(Dims& index, const Dims& dims) {
  for (std::size_t d = index.size(); d > 0; --d) {
    if (++index[d - 1] < dims[d - 1]) return true;
    index[d - 1] = 0;
  }
  return false;
}

Array layout(std::string_view name, const Dims& dims, std::uint64_t element_bytes) {
  using Subscript = std::vector<std::uint64_t>;
  if (name == "kLINEAR") return row_major(dims);

  const bool deep = name == "kDHWC8" || name == "kCDHW32" || name == "kDHWC";
  const std::size_t channel = dims.size() - (deep ? 4 : 3);
  const std::uint64_t C = dims[channel];
  const std::uint64_t D = deep ? dims[channel + 1] : 1;
  const std::uint64_t H = dims[dims.size() - 2];
  const std::uint64_t W = dims[dims.size() - 1];
  const auto shape = [&](Subscript behind) {
    Dims whole(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(channel));
    whole.insert(whole.end(), behind.begin(), behind.end());
    return whole;
  };

  // [N][C][H][W] -> [N][ceil(C/V)][H][W][V], (n, c, h, w) -> [n][c/V][h][w][c%V]
  const auto blocks_of = [&](std::uint64_t V) {
    return fill(dims, shape({up(C, V) / V, H, W, V}), channel, [V](auto c, auto, auto h, auto w) {
      return Subscript{c / V, h, w, c % V};
    });
  };
  if (name == "kCHW2") return blocks_of(2);
  if (name == "kCHW4") return blocks_of(4);
  if (name == "kCHW16") return blocks_of(16);
  if (name == "kCHW32") return blocks_of(32);

  // [N][C][H][W] -> [N][H][W][ceil(C/V)*V], (n, c, h, w) -> [n][h][w][c]
  const auto channels_last = [&](std::uint64_t V) {
    return fill(dims, shape({H, W, up(C, V)}), channel, [](auto c, auto, auto h, auto w) {
      return Subscript{h, w, c};
    });
  };
  if (name == "kHWC8") return channels_last(8);
  if (name == "kHWC16") return channels_last(16);
  if (name == "kHWC") return channels_last(1);

  // [N][C][D][H][W] -> [N][ceil(C/32)][D][H][W][32]
  if (name == "kCDHW32")
    return fill(dims, shape({up(C, 32) / 32, D, H, W, 32}), channel,
                [](auto c, auto d, auto h, auto w) {
                  return Subscript{c / 32, d, h, w, c % 32};
                });
  // [N][C][D][H][W] -> [N][D][H][W][ceil(C/V)*V]
  if (name == "kDHWC8" || name == "kDHWC")
    return fill(dims, shape({D, H, W, name == "kDHWC8" ? up(C, 8) : C}), channel,
                [](auto c, auto d, auto h, auto w) {
                  return Subscript{d, h, w, c};
                });

  // "the step along the W axis is rounded up to 64 bytes"
  if (name == "kDLA_LINEAR")
    return fill(dims, shape({C, H, up(W, 64 / element_bytes)}), channel,
                [](auto c, auto, auto h, auto w) {
                  return Subscript{c, h, w};
                });
  // "[N][H][roundUp(W, 64/C'/elementSize)][C'] where C' = {1, 4, 4} for C = {1, 3, 4}"; the rows of
  // Xavier are 32 bytes.
  if (name == "kDLA_HWC4 orin" || name == "kDLA_HWC4 xavier") {
    const std::uint64_t row = name == "kDLA_HWC4 orin" ? 64 : 32;
    const std::uint64_t stored = C == 1 ? 1 : 4;
    return fill(dims, shape({H, up(W, row / stored / element_bytes), stored}), channel,
                [](auto c, auto, auto h, auto w) {
                  return Subscript{h, w, c};
                });
  }
  throw std::invalid_argument("no such layout: " + std::string(name));
}

Dims dims_for(const Name& name, std::size_t rank, std::uint64_t channels, std::uint64_t width) {
  // From the end; what lies before the channels is small.
  const Dims sizes = name.channel_from_end == 4 ? Dims{width, 3, 2, channels, 2, 3}
                                                : Dims{width, 3, channels, 2, 1, 3};
  Dims dims(rank);
  for (std::size_t from_end = 1; from_end <= rank; ++from_end)
    dims[rank - from_end] = sizes[from_end - 1];
  return dims;
}

bool can_hold(const Name& name, std::size_t rank, std::uint64_t channels) {
  if (rank < name.least_rank) return false;
  const bool image = name.code == 138 || name.code == 154;
  return !image || channels == 1 || channels == 3 || channels == 4;
}

std::vector<std::byte> store(const Array& array, std::span<const std::byte> row_major,
                             std::uint64_t element_bytes) {
  std::vector<std::byte> stored(array.elements() * element_bytes);
  for (std::size_t i = 0; i < array.place.size(); ++i)
    std::memcpy(stored.data() + array.place[i] * element_bytes,
                row_major.data() + i * element_bytes, element_bytes);
  return stored;
}

}  // namespace naive
