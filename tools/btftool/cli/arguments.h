// Parsers for values of options: numbers, globs, indices, orders of dims, slices.
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

// These return std::nullopt unless all of the text is a number.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
std::optional<double> parse_real(std::string_view text);  // finite
// Takes "30", "30dB" and "30 dB", with the unit in any case.
std::optional<double> parse_decibels(std::string_view text);

// Returns what is wrong with a glob such as "conv*", "fc[12]" or "b?", or an empty string.
std::string glob_error(std::string_view glob);

// "0,3,1,2"
btf::Result<btf::Permute> parse_permute(std::string_view text);

// "0,3,-1,7": one number for each dim; negative ones count from the end.
btf::Result<btf::Dims> parse_index(std::string_view text, const btf::Dims& dims);

// "0.1,50,99.9": numbers from 0 to 100.
btf::Result<std::vector<double>> parse_percentiles(std::string_view text);

// "0,:,1:3,::2" with NumPy's meaning. Whether it fits a tensor is checked once the dims are known.
btf::Result<btf::Slice> parse_slice(std::string_view text);

// "0,-1", or kAllDims, the value of --squeeze without one.
inline constexpr std::string_view kAllDims = "all";
btf::Result<btf::Squeeze> parse_squeeze(std::string_view text);

btf::Result<btf::Unsqueeze> parse_unsqueeze(std::string_view text);

// "1,-1,7"
btf::Result<btf::Reshape> parse_reshape(std::string_view text);

}  // namespace btftool
