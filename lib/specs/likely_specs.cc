#include <algorithm>

#include "btf/layout.h"
#include "btf/tensor_spec.h"

namespace btf {
namespace {

// Rank of a pair among those of one size: the lower, the more usual.
enum class Usual : std::uint8_t { row_major, held_by_tensorrt, other };

Usual how_usual(const LayoutSpec& layout, DType dtype) {
  if (layout.layout == Layout::linear) return Usual::row_major;
  for (const TensorRtSupport& row : layout.tensorrt) {
    const auto held = std::span(row.dtypes).first(row.count);
    if (std::ranges::find(held, dtype) != held.end()) return Usual::held_by_tensorrt;
  }
  return Usual::other;
}

}  // namespace

std::vector<std::string> specs_of_size(std::span<const std::uint64_t> dims, std::uint64_t bytes,
                                       DType like, std::size_t most) {
  // Floats before integers; layouts by their codes, of which the first are the usual ones.
  std::vector<const DTypeInfo*> types{&info(like)};
  for (const bool floating : {true, false})
    for (const DTypeInfo& row : dtypes())
      if (row.dtype != like && row.floating() == floating) types.push_back(&row);
  std::vector<std::string> specs;
  for (const Usual usual : {Usual::row_major, Usual::held_by_tensorrt, Usual::other})
    for (const LayoutSpec& layout : layouts())
      for (const DTypeInfo* const dtype : types) {
        if (!layout.dense() || layout.shuffled() || how_usual(layout, dtype->dtype) != usual)
          continue;
        const auto storage = resolve(layout.layout, dims, dtype->dtype);
        if (!storage || storage_bytes(*storage, dtype->dtype) != bytes) continue;
        if (specs.size() == most) return specs;
        specs.push_back(spec_text(dtype->dtype, layout.layout, dims));
      }
  return specs;
}

}  // namespace btf
