#include "convert/quantize/scale_links.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/quantize/plan_rules.h"
#include "convert/quantize/scale_names.h"

namespace btf {
namespace {

constexpr std::size_t kMostCandidates = 4;
// In a file of more tensors, of which each may ask, candidates are looked for around the codes.
constexpr std::uint64_t kMostSearched = 1024;
constexpr std::uint64_t kAround = 32;

bool no_names(const TensorFile& file) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
    if (const auto name = file.own_name(i); name && *name) return false;
  return true;
}

// Could these be scales of the codes: one, or as many as a dim has indices or equal blocks?
bool may_scale(const TensorInfo& scales, const TensorInfo& codes) {
  if (!scales.known() || !scales.storage || !info(*scales.dtype).floating()) return false;
  if (scales.storage->elements() == 1) return true;
  if (scales.dims.size() == 1)
    return std::ranges::find(codes.dims, scales.dims[0]) != codes.dims.end();
  if (scales.dims.size() != codes.dims.size()) return false;
  const auto fits = [](std::uint64_t count, std::uint64_t dim) { return count > 0 && count <= dim; };
  return std::ranges::equal(scales.dims, codes.dims, fits) && scales.dims != codes.dims;
}

std::size_t common_start(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The module that a tensor belongs to: "a.b" of "a.b.weight".
std::string_view module_of(std::string_view name) { return name.substr(0, name.rfind('.') + 1); }

// What programs write beside codes in place of a scale, whatever its dims are.
bool stands_for_scales(const TensorInfo& tensor, const TensorInfo& codes) {
  return tensor.known() && !why_no_scale(tensor.name).empty() &&
         tensor.name.starts_with(module_of(codes.name));
}

std::string shown(const TensorInfo& tensor) {
  std::string text = "'" + tensor.name + "' (" + std::string(info(*tensor.dtype).name) + " " +
                     dims_text(tensor.dims);
  if (const std::string_view why = why_no_scale(tensor.name); !why.empty())
    text += ", " + std::string(why);
  return text + ")";
}

}  // namespace

ScaleLinks ScaleLinks::of(const TensorFile& file, const FileAttributes& attributes) {
  ScaleLinks links;
  for (const auto& [index, tensor] : attributes.tensors) {
    if (tensor.quantized) links.link(index, *tensor.quantized);
    if (tensor.role == "scale" || tensor.role == "zero_point") links.parts_.insert(index);
  }
  links.by_place_ = links.links_.empty() && no_names(file);
  if (!links.by_place_) links.link_by_names(file);
  return links;
}

void ScaleLinks::link(std::uint64_t codes, const QuantizedBy& by) {
  links_.emplace(codes, by);
  for (const auto& companion : {std::optional(by.scale), by.global_scale, by.zero_point})
    if (companion) companions_.insert(*companion);
}

void ScaleLinks::link_by_names(const TensorFile& file) {
  const std::set<std::uint64_t> linked = companions_;
  NamedTensors names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto name = file.own_name(i);
    if (name && *name) add_name(names, **name, i);
  }
  for (const auto& [name, index] : names) {
    if (!index || links_.contains(*index) || linked.contains(*index) || parts_.contains(*index))
      continue;
    const auto found = scales_called_after(names, name);
    if (!found) continue;
    const auto codes = file.tensor(*index);
    if (!codes || !holds_codes(*codes)) continue;
    if (found->rival) rivals_.emplace(*index, *found->rival);
    link(*index, found->by);
  }
}

const QuantizedBy* ScaleLinks::find(std::uint64_t codes) const {
  const auto found = links_.find(codes);
  return found == links_.end() ? nullptr : &found->second;
}

Status ScaleLinks::check_clear(const TensorFile& file, std::uint64_t codes) const {
  const auto rival = rivals_.find(codes);
  if (rival == rivals_.end()) return {};
  std::string text;
  for (const std::uint64_t scale : {links_.at(codes).scale, rival->second}) {
    const auto record = file.tensor(scale);
    text += text.empty() ? "" : " or ";
    text += record && record->known() ? shown(*record) : "tensor " + std::to_string(scale);
  }
  return refuse_scaling("its scales may be " + text + ": both have the name of its scales");
}

bool ScaleLinks::is_part(const TensorInfo& record) const {
  if (links_.contains(record.index)) return false;
  return parts_.contains(record.index) || companions_.contains(record.index) ||
         (record.named && is_called_part(record.name));
}

std::string scale_candidates(const TensorFile& file, const TensorInfo& codes) {
  std::vector<TensorInfo> found;
  const std::uint64_t count = file.tensor_count();
  const bool around = count > kMostSearched;
  const std::uint64_t end = around ? std::min(count, codes.index + kAround + 1) : count;
  for (std::uint64_t i = around ? codes.index - std::min(codes.index, kAround) : 0; i < end; ++i) {
    auto record = file.tensor(i);
    if (i != codes.index && record && record->named &&
        (may_scale(*record, codes) || stands_for_scales(*record, codes)))
      found.push_back(*std::move(record));
  }
  // The closest names first: in a large checkpoint most belong to other modules.
  std::ranges::stable_sort(found, std::ranges::greater(), [&](const TensorInfo& tensor) {
    return common_start(tensor.name, codes.name);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostCandidates); ++i)
    text += (i > 0 ? ", " : "") + shown(found[i]);
  if (found.size() > kMostCandidates)
    text += " and " + std::to_string(found.size() - kMostCandidates) + " more";
  return text;
}

}  // namespace btf
