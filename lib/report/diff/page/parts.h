// The parts that the page of a comparison is made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report/report.h"

namespace btf::report {

// Dtype, layout and shape of the pair, of both sides where they differ.
std::string html_sides(const TensorDiff& diff);

// The tensors' indices: "3", "3 / 5"; "3 / –" where one side has none.
std::string html_pair(const TensorDiff& diff);

// Everything about a tensor that differs. `axes`: the requested axes of the heat map.
std::string html_section(const TensorDiff& diff, const std::string& title,
                         const std::string& anchor, const std::vector<std::int32_t>& axes,
                         const MemberNames& names);

// Errors by decade, as bars. Nothing to show: empty.
std::string html_histogram(const TensorDiff& diff);
// `picked`: the reason for other axes than requested, or empty.
std::string html_heatmap(const Heatmap& map, const Dims& dims, const std::string& picked);

}  // namespace btf::report
