#include "convert/attribute_merge.h"

namespace btf {

// A tensor that is selected twice is linked to by its first copy.
std::optional<std::uint64_t> AttributeMerge::target_of(std::uint64_t member,
                                                       std::uint64_t index) const {
  const auto found = targets_.lower_bound({member, index});
  if (found == targets_.end() || found->first != std::pair(member, index)) return std::nullopt;
  return found->second;
}

std::optional<QuantizedBy> AttributeMerge::linked(std::uint64_t member,
                                                  const QuantizedBy& by) const {
  const auto scale = target_of(member, by.scale);
  if (!scale) return std::nullopt;
  QuantizedBy moved = by;
  moved.scale = *scale;
  for (auto* link : {&moved.global_scale, &moved.zero_point}) {
    if (!*link) continue;
    *link = target_of(member, **link);
    // Scales without their zero points, or half of them, would be another meaning.
    if (!*link) return std::nullopt;
  }
  return moved;
}

void AttributeMerge::quantized(std::uint64_t target, const std::vector<ScaleRecord>& scales,
                               const Quantization& how) {
  QuantizedBy by;
  bool scaled = false;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::uint64_t index = target + 1 + i;
    if (scales[i].kind == ScaleKind::zero_points) {
      by.zero_point = index;
    } else if (scaled) {
      by.global_scale = index;
    } else {
      by.scale = index;
      scaled = true;
    }
  }
  if (!scaled) return;
  if (how.block) {
    by.kind = ScaleOf::block;
    by.axis = scales.front().storage.dims.size() - 1;
    by.block = info(*how.block).block;
  } else if (how.axis) {
    by.kind = ScaleOf::channel;
    by.axis = *how.axis;
  }
  merged_.tensors[target].quantized = by;
}

void AttributeMerge::add(std::uint64_t member, const FileAttributes& attributes) {
  if (merged_.producer.empty()) merged_.producer = attributes.producer;
  merged_.metadata.insert(attributes.metadata.begin(), attributes.metadata.end());
  merged_.others.insert(attributes.others.begin(), attributes.others.end());
  for (const auto& [index, tensor] : attributes.tensors) {
    const auto [first, last] = targets_.equal_range({member, index});
    for (auto at = first; at != last; ++at) {
      TensorAttributes moved = tensor;
      if (moved.quantized) {
        moved.quantized = linked(member, *moved.quantized);
        if (!moved.quantized && !dequantized_.contains(at->second)) unlinked_.insert(at->second);
      }
      std::optional<QuantizedBy>& written = merged_.tensors[at->second].quantized;
      if (written) moved.quantized = std::move(written);
      merged_.tensors[at->second] = std::move(moved);
    }
  }
}

}  // namespace btf
