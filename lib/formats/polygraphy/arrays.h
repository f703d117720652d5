// Where the arrays of a Polygraphy file stand, and what they are called.
//
//   {"lst":[["RUNNER",[{"outputs":{"NAME":LAZY,..},..},..]],..],"polygraphy_class":"RunResults"}
//   [{"NAME":ARRAY,..},..]                                             inputs
//   LAZY  = {"values":ARRAY,"polygraphy_class":"LazyArray"}            or LazyNumpyArray
//   ARRAY = {"array":"base64 of a .npy","polygraphy_class":"ndarray"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"
#include "formats/json/token.h"

namespace btf {

inline constexpr FindingCode kPolygraphyFinding("polygraphy-json");

struct PolygraphyArray {
  std::string name;       // RUNNER/ITERATION/NAME, without parts that are the same for all
  JsonExtent text;        // base64, between the quotes
  bool escaped = false;   // the text is not as it stands there
  std::string foreign{};  // a class that is not read: "Tensor"
};

Result<std::vector<PolygraphyArray>> read_polygraphy_arrays(const ByteSource& source);

}  // namespace btf
