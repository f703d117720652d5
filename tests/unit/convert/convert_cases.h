// Arrays to convert, in memory and as files, and what must come out.
#pragma once

#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"

namespace convert_cases {

namespace fs = std::filesystem;
using btf::ConvertOptions;
using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::StridedLayout;
using Bytes = std::vector<std::byte>;

inline constexpr std::byte kJunk{0xa5};

inline Layout layout_of(const naive::Name& name) { return static_cast<Layout>(name.code); }

inline StridedLayout resolved(Layout layout, const Dims& dims, DType dtype) {
  auto result = btf::resolve(layout, dims, dtype);
  REQUIRE(result);
  return *std::move(result);
}

inline StridedLayout linear(const Dims& dims, DType dtype) {
  return resolved(Layout::linear, dims, dtype);
}

inline std::uint64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

// 4-bit codes, one in a byte, and packed: the first one in the low half of the first byte.
inline Bytes random_nibbles(std::uint64_t count, std::uint64_t seed) {
  Bytes codes = random_bytes(count, seed);
  for (std::byte& code : codes) code &= std::byte{15};
  return codes;
}

inline Bytes pack(const Bytes& codes) {
  Bytes packed((codes.size() + 1) / 2);
  for (std::size_t i = 0; i < codes.size(); ++i) packed[i / 2] |= codes[i] << (i % 2 == 0 ? 0 : 4);
  return packed;
}

// The elements of a row-major tensor with its dims in another order.
inline Bytes transposed(const Dims& dims, const Bytes& row_major,
                        const std::vector<std::uint32_t>& order, std::uint64_t element_bytes) {
  Dims result_dims;
  for (const std::uint32_t d : order) result_dims.push_back(dims[d]);
  Bytes result;
  Dims index(dims.size(), 0);
  do {
    Dims source(dims.size());
    for (std::size_t d = 0; d < order.size(); ++d) source[order[d]] = index[d];
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + source[d];
    const auto element = row_major.begin() + static_cast<std::ptrdiff_t>(at * element_bytes);
    result.insert(result.end(), element, element + static_cast<std::ptrdiff_t>(element_bytes));
  } while (naive::next(index, result_dims));
  return result;
}

inline btf::Result<std::uint64_t> try_convert(const std::string& input, const std::string& output,
                                              const ConvertOptions& options = {},
                                              const btf::TensorReportSink& report = {}) {
  const auto file = btf::TensorFile::open(input);
  if (!file) return std::unexpected(file.error());
  return btf::convert(*file, output, options, report);
}

// The bytes of the result; its size must be what convert() says.
inline Bytes converted(const std::string& input, const ConvertOptions& options = {}) {
  const ScratchDir dir;
  const auto size = try_convert(input, dir / "out", options);
  INFO((size ? "" : size.error().text()));
  REQUIRE(size);
  Bytes result = read_file(dir / "out");
  CHECK(result.size() == *size);
  return result;
}

}  // namespace convert_cases
