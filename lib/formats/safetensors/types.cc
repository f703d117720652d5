#include "formats/safetensors/types.h"

#include <algorithm>

namespace btf {
namespace {

using Dtypes = std::array<std::optional<DType>, kSafetensorsTypes.size()>;

const Dtypes& dtypes_of_types() {
  static const Dtypes kDtypes = [] {
    Dtypes found;
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const DTypeInfo& row : dtypes())
        if (row.safetensors == kSafetensorsTypes[i].name) found[i] = row.dtype;
    return found;
  }();
  return kDtypes;
}

template <typename Range, typename Value, typename... Projection>
std::optional<std::uint8_t> place(const Range& range, const Value& value, Projection... of) {
  const auto found = std::ranges::find(range, value, of...);
  if (found == range.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - range.begin());
}

}  // namespace

std::optional<std::uint8_t> find_safetensors_type(std::string_view name) {
  return place(kSafetensorsTypes, name, &SafetensorsType::name);
}

std::optional<std::uint8_t> safetensors_type_of(DType dtype) {
  return place(dtypes_of_types(), std::optional(dtype));
}

std::optional<DType> dtype_of(const SafetensorsType& type) {
  return dtypes_of_types()[static_cast<std::size_t>(&type - kSafetensorsTypes.data())];
}

}  // namespace btf
