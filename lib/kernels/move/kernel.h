// The view of a kernel: pointers, counts and strides, no names and no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf {

// n0 x n1 elements on both sides. Strides are in elements of the side's buffer_bytes(); a 4-bit
// element has a byte of its own, its code in the low nibble.
struct Tile {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n0 = 0, source_stride0 = 0, target_stride0 = 0;  // inner
  std::uint64_t n1 = 1, source_stride1 = 0, target_stride1 = 0;  // outer
  // Elements of a line of the inner axis that may be written in the target: those behind the n0 are
  // zero and stay so. Less than n0: n0.
  std::uint64_t width0 = 0;
  // A kernel that turns rows into columns fetches what lies so many bytes from what it reads, or
  // kByPages (stream.h).
  std::ptrdiff_t ahead = 0;
  // The target begins with a line of 64 bytes that nobody reads soon: a run is written around the
  // caches by kernels that can.
  bool stream = false;
};

struct CastJob {
  DType from{};
  DType to{};
  CastPolicy policy;
};

struct CastKernel {
  std::string_view name;
  bool (*applies)(const CastJob& job);
  // Adds every element of the tile to the account.
  void (*run)(const CastJob& job, const Tile& tile, LossAccount& account);
};

}  // namespace btf
