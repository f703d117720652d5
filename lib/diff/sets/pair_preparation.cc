#include "diff/sets/pair_preparation.h"

#include <string>
#include <utility>

#include "btf/try.h"

namespace btf {

const Error* PairPreparation::trouble(const MemberPair& pair) const {
  if (pair.error) return pair.error.get();
  const Error* found = pair.actual ? actual_.trouble(*pair.actual) : nullptr;
  if (found == nullptr && pair.golden) found = golden_.trouble(*pair.golden);
  return found;
}

Status PairPreparation::check_selection() {
  BTF_ASSIGN(names_, NameSelection::of(asked_, actual_, golden_, found_.pairs));
  if (asked_.tensor_tolerances.empty()) return {};
  for (const MemberPair& pair : found_.pairs) {
    if (!pair.actual || !pair.golden) continue;
    // A file that cannot be opened is trouble by itself, and might have the tensor.
    if (trouble(pair) != nullptr || !complete_specs(pair)) return {};
    const auto actual = actual_.file(*pair.actual);
    const auto golden = golden_.file(*pair.golden);
    if (!actual || !golden) return {};
    DiffOptions unused;
    if (!names_.narrow(pair, unused)) continue;
    if (!selection_.apply(**actual, **golden, unused)) return {};
    if (selection_.check_used()) return {};
  }
  return selection_.check_used();
}

// Specs that leave the dims out get them from the other side.
Status PairPreparation::complete_specs(const MemberPair& pair) {
  FileSpecs& actual_specs = found_.actual_specs;
  FileSpecs& golden_specs = found_.golden_specs;
  const bool left = actual_specs.waits(*pair.actual, actual_);
  const bool right = golden_specs.waits(*pair.golden, golden_);
  if (left && right && actual_specs.is_list(*pair.actual) && golden_specs.is_list(*pair.golden))
    return {};
  if (left && right) return std::unexpected(actual_specs.no_dims(*pair.actual, actual_));
  if (left) {
    BTF_ASSIGN(const File golden, golden_.file(*pair.golden));
    return actual_specs.complete(*pair.actual, actual_, asked_,
                                 {*golden, pair, &MemberPair::golden_tensor, true});
  }
  if (!right) return {};
  BTF_ASSIGN(const File actual, actual_.file(*pair.actual));
  return golden_specs.complete(*pair.golden, golden_, asked_,
                               {*actual, pair, &MemberPair::actual_tensor, false});
}

// Those that are files of their own.
Status PairPreparation::take_scales(const MemberPair& pair, DiffOptions& options) const {
  if (!options.actual_scale) {
    BTF_ASSIGN(options.actual_scale,
               found_.actual_scales.given(actual_, *pair.actual, options.execution));
  }
  if (!options.golden_scale) {
    BTF_ASSIGN(options.golden_scale,
               found_.golden_scales.given(golden_, *pair.golden, options.execution));
  }
  return {};
}

Result<PreparedPair> PairPreparation::prepare(const MemberPair& pair, DiffOptions options) {
  BTF_TRY(complete_specs(pair));
  const auto actual_opened = actual_.file(*pair.actual);
  const auto golden_opened = golden_.file(*pair.golden);
  if (!actual_opened)
    return std::unexpected(with_likely_specs(actual_opened.error(), actual_.bytes(*pair.actual),
                                             golden_opened, "`actual.specs`"));
  if (!golden_opened)
    return std::unexpected(with_likely_specs(golden_opened.error(), golden_.bytes(*pair.golden),
                                             actual_opened, "`golden.specs`"));
  const TensorFile& actual = **actual_opened;
  const TensorFile& golden = **golden_opened;
  BTF_TRY(selection_.apply(actual, golden, options));
  if (!options.map.empty()) BTF_TRY(check_map(selection_.map()));
  if (!found_.several) {
    BTF_TRY(selection_.check_used());
    BTF_TRY(check_axes(actual, golden, options));
  }
  BTF_TRY(take_scales(pair, options));
  options.figures =
      options.figures || (asked_.figures_of_several && several(actual, golden, options));
  return PreparedPair{*actual_opened, *golden_opened, std::move(options)};
}

// The only tensor of a file that is compared.
std::optional<std::uint64_t> PairPreparation::only(const TensorFile& file,
                                                   const Selected& selected) {
  const std::uint64_t count = selected ? selected->size() : file.tensor_count();
  return count == 1 ? std::optional(selected ? selected->front() : 0) : std::nullopt;
}

bool PairPreparation::several(const TensorFile& actual, const TensorFile& golden,
                              const DiffOptions& options) const {
  return found_.several || !only(actual, options.actual_tensors) ||
         !only(golden, options.golden_tensors);
}

// Among several tensors those without the axes get others; a single one must have them.
Status PairPreparation::check_axes(const TensorFile& actual, const TensorFile& golden,
                                   const DiffOptions& options) const {
  if (asked_.heatmap_axes.empty()) return {};
  const auto left = only(actual, options.actual_tensors);
  const auto right = only(golden, options.golden_tensors);
  if (!left || !right) return {};
  const auto a = actual.tensor(*left);
  const auto g = golden.tensor(*right);
  // The comparison finds all other errors.
  if (!a || !g || a->dims != g->dims) return {};
  const std::string trouble = axes_trouble(asked_.heatmap_axes, g->dims.size());
  if (trouble.empty()) return {};
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "`heatmap_axes`: " + trouble}.of_tensor(*left).in_file(
          actual.path()));
}

Status PairPreparation::check_map(const MapUse& use) const {
  if (use.used || use.unused.empty()) return {};
  // A file that cannot be read is trouble by itself, and might have the names.
  for (const MemberPair& pair : found_.pairs)
    if (trouble(pair) != nullptr) return {};
  return std::unexpected(no_use(use, asked_.map_path));
}

}  // namespace btf
