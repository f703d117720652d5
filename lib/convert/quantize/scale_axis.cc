#include "convert/quantize/scale_axis.h"

#include <string>

#include "btf/try.h"
#include "convert/quantize/plan_rules.h"

namespace btf {
namespace {

// The only dim that is as long as these scales.
Result<ScaleFit> only_axis(const TensorInfo& scales, const Dims& dims) {
  ScaleFit found;
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != scales.dims[0]) continue;
    if (found.axis)
      return refuse_scaling("the " + std::to_string(dims[d]) + " scales in tensor " +
                            std::to_string(scales.index) + " could belong to dim " +
                            std::to_string(*found.axis) + " or " + std::to_string(d) +
                            ": dims of 1 around them say which; diff and layers take "
                            "`actual_scale.axis`");
    found = {.fits = true, .axis = d};
  }
  return found;
}

}  // namespace

Result<ScaleFit> fit_scales(const TensorInfo& scales, const Dims& dims, const QuantizedBy* link) {
  const bool floats = info(*scales.dtype).floating();
  if (link == nullptr ? scales.dtype != DType::float32 : !floats) return ScaleFit{};
  // With two scales, the second is for the whole tensor.
  if (link != nullptr && link->global_scale) return ScaleFit{};
  if (link != nullptr && link->kind == ScaleOf::block) return ScaleFit{};
  const bool one_dim = link != nullptr && scales.dims.size() == 1;
  if (one_dim && !link->axis && dims.size() > 1 && scales.dims[0] != 1)
    return only_axis(scales, dims);
  if (one_dim && link->axis) {
    if (*link->axis >= dims.size() || dims[*link->axis] != scales.dims[0]) return ScaleFit{};
    return ScaleFit{.fits = true, .axis = static_cast<std::uint32_t>(*link->axis)};
  }
  const bool one = scales.dims.empty() || (link != nullptr && scales.storage->elements() == 1);
  if (one) return ScaleFit{.fits = true};
  if (scales.dims.size() != dims.size()) return ScaleFit{};
  ScaleFit found{.fits = true};
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    if (scales.dims[d] == 1) continue;
    if (found.axis || scales.dims[d] != dims[d]) return ScaleFit{};
    found.axis = d;
  }
  return found;
}

}  // namespace btf
