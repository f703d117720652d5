// A heat map for the terminal: block characters, at most 80 columns of them.
#pragma once

#include <string>
#include <vector>

#include "btf/diff/tensor_diff.h"
#include "btf/layout.h"

namespace btf::report {

// A title, the rows with the indices beside and above them, the worst cell and a legend. `picked`:
// why these are not the axes that were asked for, or empty. Sentences have `columns`, the map those
// that it was made for. `color`: colours of 256 may be used; what they say the characters say too.
std::vector<std::string> heatmap_lines(const Heatmap& map, const Dims& dims,
                                       const std::string& picked, std::size_t columns, bool color);

}  // namespace btf::report
