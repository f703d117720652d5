// The small languages inside the options of diff. Messages name the option.
#pragma once

#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "cli/options.h"

namespace btftool {

// "1e-3", "0=1e-3,-1=1e-2" or "1e-5,2=1e-2": a bare number goes into `general`, the others are
// appended to `single`. Polygraphy's "0:1e-3" is taken too.
template <typename T>
btf::Status parse_tolerances(std::string_view option, std::string_view text,
                             std::optional<T> btf::Tolerance::*member, btf::Tolerance& general,
                             std::vector<TensorTolerance>& single);

// "0:3,1:0"
btf::Result<std::vector<TensorPair>> parse_pairs(std::string_view text);

// "10" or "0.1%"
btf::Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view text);

// A finite number in [least, most].
btf::Result<double> parse_limit(std::string_view option, std::string_view text, double least,
                                double most);

// "0.99=1e-3,0.5=1e-4", appended to `gates`.
btf::Status parse_quantiles(std::string_view text, std::vector<btf::QuantileGate>& gates);

// "2,3" or "-1": one axis or two.
btf::Result<std::vector<std::int32_t>> parse_axes(std::string_view text);

}  // namespace btftool
