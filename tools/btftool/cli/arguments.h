// The small languages inside arguments: indices, orders of dims, slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"

namespace btftool {

std::vector<std::string_view> split(std::string_view text, char separator);

// The whole text as a number, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);  // finite

// Negative numbers count from the end. Nothing if it is outside [0, count).
std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count);

// "0,3,1,2"
btf::Result<std::vector<std::uint32_t>> parse_permute(std::string_view text);

// "0,3,-1,7": one number a dim, negative ones from the end.
btf::Result<btf::Dims> parse_index(std::string_view text, const btf::Dims& dims);

// What a slice takes of one dim.
struct SliceDim {
  std::uint64_t start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
  bool keep = true;  // false: a single index, the dim is dropped from the result
};

// "0,:,1:3,::2" with NumPy's meaning, bounds beyond the dim included; dims that are not named are
// taken whole.
btf::Result<std::vector<SliceDim>> parse_slice(std::string_view text, const btf::Dims& dims);

}  // namespace btftool
