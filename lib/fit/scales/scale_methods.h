// The ways to a scale.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "btf/fit/scales.h"
#include "fit/scales/magnitudes.h"
#include "fit/scales/scale_search.h"

namespace btf {

struct ScaleMethod {
  Named<FitScaleMethod> name;
  // The scale of magnitudes that are not all zero, as a float32. Nothing: it would be zero.
  std::optional<double> (*find)(const Magnitudes& magnitudes, const CodeGrid& grid, DType dtype,
                                double part);
  double part = 0;  // of the numbers, within the range of codes
};

std::span<const ScaleMethod> scale_methods();

}  // namespace btf
