// Which dim of codes their scales belong to.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/attributes.h"
#include "btf/file.h"

namespace btf {

struct ScaleFit {
  bool fits = false;
  std::optional<std::uint32_t> axis{};  // nothing: one scale for all
};

// Scales fit codes of these dims if they are of rank 0, or have the codes' rank and all dims 1 but
// one, or, where `link` names them, are of one dim. Scales found by position alone must be
// float32. An error where they may belong to several dims.
Result<ScaleFit> fit_scales(const TensorInfo& scales, const Dims& dims, const QuantizedBy* link);

}  // namespace btf
