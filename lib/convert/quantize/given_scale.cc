#include "convert/quantize/given_scale.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "btf/value.h"
#include "convert/quantize/plan_rules.h"

namespace btf {

Status check_given_scale(const GivenScale& given, const TensorInfo& codes) {
  for (const double scale : given.scales)
    if (!(scale > 0) || !std::isfinite(scale))
      return refuse_scaling("a scale of " + number_text(scale) + ": scales are positive numbers");
  if (given.axis) {
    if (*given.axis >= codes.dims.size())
      return refuse_scaling("there is no dim " + std::to_string(*given.axis) +
                            " for the scales, the tensor has rank " +
                            std::to_string(codes.dims.size()));
    if (codes.dims[*given.axis] != given.scales.size())
      return refuse_scaling(std::to_string(given.scales.size()) + " scales for the " +
                            std::to_string(codes.dims[*given.axis]) + " indices of dim " +
                            std::to_string(*given.axis));
  }
  const bool shifted = std::ranges::any_of(given.zero_points, [](auto zero) { return zero != 0; });
  if (shifted && info(*codes.dtype).floating())
    return refuse_scaling("a zero point does not apply to " + std::string(info(*codes.dtype).name) +
                          ": only integers have one");
  return {};
}

void take_given_scale(const GivenScale& given, Scales& scales) {
  scales.values = given.scales;
  scales.zero_points = given.zero_points;
  scales.axis = given.axis;
}

}  // namespace btf
