// The small languages inside arguments: indices, orders of dims, slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/edit.h"
#include "btf/error.h"
#include "btf/layout.h"

namespace btftool {

std::vector<std::string_view> split(std::string_view text, char separator);

// The whole text as a number, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
std::optional<double> parse_real(std::string_view text);  // finite
// Likewise of "30", "30dB", "30 dB"; the unit may be in lower or upper case.
std::optional<double> parse_decibels(std::string_view text);

// Why it is no glob; empty: it is one. "conv*", "fc[12]", "b?"
std::string glob_trouble(std::string_view glob);

// "0,3,1,2"
btf::Result<btf::Permute> parse_permute(std::string_view text);

// "0,3,-1,7": one number a dim, negative ones from the end.
btf::Result<btf::Dims> parse_index(std::string_view text, const btf::Dims& dims);

// "0.1,50,99.9": numbers from 0 to 100.
btf::Result<std::vector<double>> parse_percentiles(std::string_view text);

// "0,:,1:3,::2" with NumPy's meaning. That there is something to take is seen with the dims.
btf::Result<btf::Slice> parse_slice(std::string_view text);

// "0,-1", and the value of a bare --squeeze.
inline constexpr std::string_view kAllDims = "all";
btf::Result<btf::Squeeze> parse_squeeze(std::string_view text);

btf::Result<btf::Unsqueeze> parse_unsqueeze(std::string_view text);

// "1,-1,7"
btf::Result<btf::Reshape> parse_reshape(std::string_view text);

}  // namespace btftool
