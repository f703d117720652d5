// The parts that the page of html.h is made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff/tensor_diff.h"

namespace btftool {

std::string_view html_style();

// "different" and the like as a coloured word.
std::string html_result(std::string_view word);

// What is compared: dtype, layout and shape, of both sides where they differ.
std::string html_sides(const btf::TensorDiff& diff);

// The tensors' indices: "3", "3 / 5"; "3 / –" where one side has none.
std::string html_pair(const btf::TensorDiff& diff);

// Everything about a tensor that differs. `axes`: those that the heat map was asked for.
std::string html_section(const btf::TensorDiff& diff, const std::string& title,
                         const std::string& anchor, const std::vector<std::int32_t>& axes);

// Errors by decade, as bars. Nothing to show: empty.
std::string html_histogram(const btf::TensorDiff& diff);
// `picked`: why these are not the axes that were asked for, or empty.
std::string html_heatmap(const btf::Heatmap& map, const btf::Dims& dims, const std::string& picked);

}  // namespace btftool
