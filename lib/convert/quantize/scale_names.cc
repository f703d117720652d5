#include "convert/quantize/scale_names.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "btf/quantize.h"

namespace btf {
namespace {

constexpr std::array<std::string_view, 2> kScale{"_scale", ".scale"};
constexpr std::array<std::string_view, 4> kZeroPoint{"_zero_point", ".zero_point", "_zp", ".zp"};
constexpr std::array<std::string_view, 1> kGlobalScale{"_scale_2"};

// A name that several have is no one's.
using ByName = std::unordered_map<std::string, std::optional<std::uint64_t>>;

std::optional<std::uint64_t> find_companion(const ByName& names, const std::string& codes,
                                            const auto& endings) {
  for (const std::string_view ending : endings)
    if (const auto at = names.find(codes + std::string(ending)); at != names.end())
      return at->second;
  return std::nullopt;
}

}  // namespace

void link_by_names(const TensorFile& file, FileAttributes& attributes) {
  std::set<std::uint64_t> linked;
  for (const auto& [index, tensor] : attributes.tensors) {
    if (!tensor.quantized) continue;
    const QuantizedBy& by = *tensor.quantized;
    linked.insert({index, by.scale});
    for (const auto& other : {by.zero_point, by.global_scale})
      if (other) linked.insert(*other);
  }
  ByName names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto record = file.tensor(i);
    if (!record || record->name.empty()) continue;
    const auto [at, added] = names.emplace(record->name, i);
    if (!added) at->second.reset();
  }
  for (const auto& [name, index] : names) {
    if (!index || linked.contains(*index)) continue;
    const auto scale = find_companion(names, name, kScale);
    if (!scale) continue;
    const auto codes = file.tensor(*index);
    if (!codes || !codes->known() || !codes->storage || !can_scale(*codes->dtype)) continue;
    QuantizedBy by{.scale = *scale};
    by.zero_point = find_companion(names, name, kZeroPoint);
    by.global_scale = find_companion(names, name, kGlobalScale);
    attributes.tensors[*index].quantized = by;
  }
}

}  // namespace btf
