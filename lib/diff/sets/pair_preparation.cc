#include "diff/sets/pair_preparation.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "diff/sides/tensor_pairs.h"
#include "formats/io/file_names.h"
#include "sets/pairs/explicit_pairs.h"

namespace btf {
namespace {

// Whether a selection contains names, and not only numbers.
bool names_tensors(const std::string& text) {
  return text.find_first_not_of("0123456789,-") != text.npos;
}

using SelectNames = std::function<Status(const std::string& item)>;

// A selection for each side: names that only one side has are left out on the other. Unset if the
// side has none of the names. A name that neither side has is an error.
struct SidedSelection {
  std::optional<std::string> actual;
  std::optional<std::string> golden;
};

Result<SidedSelection> by_side(const std::string& text, const SelectNames& actual,
                               const SelectNames& golden) {
  SidedSelection sides;
  bool all_but = true;
  const auto add = [](std::optional<std::string>& to, const std::string& item) {
    to = to ? *to + "," + item : item;
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const bool out = item.starts_with('!');
    const std::string named = out ? item.substr(1) : item;
    const Status left = actual(named);
    const Status right = golden(named);
    if (!left && !right) return std::unexpected(left.error());
    if (left && (!out || sides.actual || all_but)) add(sides.actual, item);
    if (right && (!out || sides.golden || all_but)) add(sides.golden, item);
    all_but = all_but && out;
  }
  // With exclusions only, a side that has none of the excluded names keeps all tensors.
  if (all_but && !sides.actual) sides.actual = "*";
  if (all_but && !sides.golden) sides.golden = "*";
  return sides;
}

Status select(const TensorFile& file, const std::string& text,
              std::optional<std::vector<std::uint64_t>>& target) {
  BTF_ASSIGN(target, TensorSet::of(file).select(text));
  return {};
}

// The partners of tensors of the other side in a file without names: those with the same numbers,
// or its only tensor if there is one, as in raw bytes.
Status select_partners(const std::vector<std::uint64_t>& others, const TensorFile& file,
                       std::optional<std::vector<std::uint64_t>>& target) {
  target.emplace();
  if (others.size() == 1 && file.tensor_count() == 1) {
    BTF_ASSIGN(const std::optional<std::string> own, file.own_name(0));
    if (!own) target->push_back(0);
    if (!own) return {};
  }
  for (const std::uint64_t tensor : others)
    if (tensor < file.tensor_count()) target->push_back(tensor);
  return {};
}

// Options for lists of tensors apply to pairs too.
void set_pairs(std::vector<TensorPair> pairs, DiffOptions& options) {
  options.actual_tensors.emplace();
  options.golden_tensors.emplace();
  for (const TensorPair& pair : pairs) {
    if (pair.actual) options.actual_tensors->push_back(*pair.actual);
    if (pair.golden) options.golden_tensors->push_back(*pair.golden);
  }
  options.pairs = std::move(pairs);
}

std::optional<SetTensor> in_set(const std::optional<std::uint64_t>& member,
                                const std::optional<std::uint64_t>& tensor) {
  if (!member || !tensor) return std::nullopt;
  return SetTensor{*member, *tensor};
}

std::vector<TensorPair> all_of(const TensorPairs& pairs) {
  std::vector<TensorPair> all;
  for (std::uint64_t i = 0; i < pairs.size(); ++i) all.push_back(pairs.at(i));
  return all;
}

// The selection may find tensors without a partner: "0/*" for 0/xs and 1/xs.
Result<std::vector<TensorPair>> picked_pairs(const TensorFile& actual, const TensorFile& golden,
                                             const DiffOptions& options,
                                             const PairSelection& picked,
                                             std::vector<TensorPair> pairs) {
  const auto has = [&](const TensorPair& pair) {
    return picked.has(in_set(0, pair.actual), in_set(0, pair.golden));
  };
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> right;
  std::vector<std::uint64_t> all_left;
  std::vector<std::uint64_t> all_right;
  std::vector<TensorPair> kept;
  for (TensorPair& pair : pairs) {
    const bool wanted = has(pair);
    if (pair.actual && pair.golden) {
      if (wanted) kept.push_back(std::move(pair));
      continue;
    }
    auto& all = pair.actual ? all_left : all_right;
    all.push_back(pair.actual ? *pair.actual : *pair.golden);
    if (wanted) (pair.actual ? left : right).push_back(all.back());
  }
  if (!left.empty() || !right.empty()) {
    DiffOptions again;
    again.pair_by = options.pair_by;
    BTF_ASSIGN(const TensorPairs found,
               TensorPairs::of(actual, golden, again,
                               {left.empty() ? std::move(all_left) : std::move(left),
                                right.empty() ? std::move(all_right) : std::move(right)}));
    std::ranges::copy_if(all_of(found), std::back_inserter(kept), has);
  }
  std::ranges::stable_sort(kept, {},
                           [](const TensorPair& pair) { return pair.actual.value_or(UINT64_MAX); });
  return kept;
}

}  // namespace

Result<NameSelection> NameSelection::of(const SetDiffOptions& asked, const TensorSet& actual,
                                        const TensorSet& golden,
                                        std::span<const MemberPair> pairs) {
  NameSelection selection;
  const std::string& text = asked.tensors.value_or("");
  if (asked.tensors && std::ranges::any_of(pairs, &MemberPair::of_tensors)) {
    BTF_ASSIGN(selection.picked_, PairSelection::of(text, actual, golden));
  }
  selection.given_ = names_tensors(text);
  if (!selection.given_) return selection;
  const auto found_in = [](const TensorSet& set) {
    return [&set](const std::string& item) {
      const auto found = set.select_readable(item);
      return found ? Status() : std::unexpected(found.error());
    };
  };
  BTF_ASSIGN(const SidedSelection sides, by_side(text, found_in(actual), found_in(golden)));
  BTF_TRY(select(sides.actual, actual, selection.actual_, selection.actual_unreadable_));
  BTF_TRY(select(sides.golden, golden, selection.golden_, selection.golden_unreadable_));
  return selection;
}

Status NameSelection::select(const std::optional<std::string>& text, const TensorSet& set,
                             Selected& selected, std::set<std::uint64_t>& unreadable) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (!set.file(i)) unreadable.insert(i);
  if (!text) return {};
  BTF_ASSIGN(const auto tensors, set.select_readable(*text));
  for (const SetTensor& tensor : tensors) selected[tensor.member].push_back(tensor.index);
  return {};
}

bool NameSelection::narrow(const MemberPair& pair, DiffOptions& options) const {
  if (pair.of_tensors()) {
    set_pairs({{.actual = pair.actual_tensor,
                .golden = pair.golden_tensor,
                .tier = pair.tier,
                .note = pair.note}},
              options);
    return !picked_ || picked_->has(in_set(pair.actual, pair.actual_tensor),
                                    in_set(pair.golden, pair.golden_tensor));
  }
  if (!given_) return true;
  if ((pair.actual && actual_unreadable_.contains(*pair.actual)) ||
      (pair.golden && golden_unreadable_.contains(*pair.golden)))
    return true;
  const auto narrowed = [](const Selected& selected, const std::optional<std::uint64_t>& member) {
    const auto found = member ? selected.find(*member) : selected.end();
    return found == selected.end() ? std::vector<std::uint64_t>() : found->second;
  };
  options.actual_tensors = narrowed(actual_, pair.actual);
  options.golden_tensors = narrowed(golden_, pair.golden);
  return !options.actual_tensors->empty() || !options.golden_tensors->empty();
}

Status DiffSelection::apply(const TensorFile& actual, const TensorFile& golden,
                            DiffOptions& options) {
  if (!options.pairs && !requested_.pairs.empty()) {
    BTF_ASSIGN(auto pairs, find_pairs_of(requested_.pairs, actual, golden));
    set_pairs(std::move(pairs), options);
  }
  const bool selected = options.actual_tensors || options.golden_tensors;
  if (!options.map.empty() || (requested_.tensors && !options.pairs)) {
    BTF_ASSIGN(const bool done, select_of_tiers(actual, golden, selected, options));
    if (!done && !selected && requested_.tensors) BTF_TRY(select_both(actual, golden, options));
  }
  BTF_TRY(note_names(actual, options.actual_tensors));
  BTF_TRY(note_names(golden, options.golden_tensors));
  return apply_tolerances(actual.tensor_count(), options);
}

// Where different names mean one tensor: selects pairs. Returns false if names match exactly.
Result<bool> DiffSelection::select_of_tiers(const TensorFile& actual, const TensorFile& golden,
                                            bool of_sets, DiffOptions& options) {
  if (options.map.empty()) {
    if (options.pair_by == PairBy::exact) return false;
    BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
    if (!by_name) return false;
  }
  DiffOptions whole;
  whole.pair_by = options.pair_by;
  whole.map = options.map;
  BTF_ASSIGN(const TensorPairs found, TensorPairs::of(actual, golden, whole, {}));
  std::vector<TensorPair> all = all_of(found);
  map_ = found.map();
  const auto equal = [](const TensorPair& pair) {
    return pair.actual && pair.golden && !pair.tier;
  };
  if (!requested_.tensors || (options.map.empty() && std::ranges::any_of(all, equal))) return false;
  BTF_ASSIGN(const PairSelection picked,
             PairSelection::of(*requested_.tensors, TensorSet::of(actual), TensorSet::of(golden),
                               of_sets));
  BTF_ASSIGN(std::vector<TensorPair> pairs,
             picked_pairs(actual, golden, options, picked, std::move(all)));
  set_pairs(std::move(pairs), options);
  return true;
}

// Records the globs that match a tensor; stops reading names once each glob has one.
Status DiffSelection::note_names(const TensorFile& file,
                                 const std::optional<std::vector<std::uint64_t>>& selected) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (requested_.tensor_tolerances[i].glob && !used_[i]) open.push_back(i);
  const std::uint64_t count = selected ? selected->size() : file.tensor_count();
  for (std::uint64_t i = 0; i < count && !open.empty(); ++i) {
    BTF_ASSIGN(const std::string name, file.name(selected ? (*selected)[i] : i));
    std::erase_if(open, [&](std::size_t rule) {
      used_[rule] = used_[rule] || glob_matches(*requested_.tensor_tolerances[rule].glob, name);
      return used_[rule];
    });
  }
  return {};
}

Status DiffSelection::select_both(const TensorFile& actual, const TensorFile& golden,
                                  DiffOptions& options) {
  const std::string& text = *requested_.tensors;
  if (!names_tensors(text)) {
    BTF_TRY(select(actual, text, options.actual_tensors));
    // Numbers refer to actual; its names say which tensors of golden are meant.
    BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
    return by_name ? Status{} : select(golden, text, options.golden_tensors);
  }
  const auto found_in = [](const TensorFile& file) {
    return [&file](const std::string& item) {
      const auto found = TensorSet::of(file).select(item);
      return found ? Status() : std::unexpected(found.error());
    };
  };
  BTF_ASSIGN(const SidedSelection sides, by_side(text, found_in(actual), found_in(golden)));
  options.actual_tensors.emplace();
  options.golden_tensors.emplace();
  if (sides.actual) BTF_TRY(select(actual, *sides.actual, options.actual_tensors));
  if (sides.golden) BTF_TRY(select(golden, *sides.golden, options.golden_tensors));
  BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
  if (by_name || sides.actual.has_value() == sides.golden.has_value()) return {};
  // Pairs are made by number, and the names of one side say which.
  return sides.actual ? select_partners(*options.actual_tensors, golden, options.golden_tensors)
                      : select_partners(*options.golden_tensors, actual, options.actual_tensors);
}

Status DiffSelection::apply_tolerances(std::uint64_t tensors, DiffOptions& options) {
  for (std::size_t i = 0; i < requested_.tensor_tolerances.size(); ++i) {
    const TensorTolerance& given = requested_.tensor_tolerances[i];
    if (given.glob) continue;
    const auto index = resolve_index(given.tensor, tensors);
    const auto& selected = options.actual_tensors;
    if (!index || (selected && std::ranges::find(*selected, *index) == selected->end())) continue;
    used_[i] = true;
    if (!options.tensor_tolerance[*index].add(given.tolerance))
      return fail(ErrorCode::invalid_argument, given.source + ": tensor " + std::to_string(*index) +
                                                   " has been given another value");
  }
  return {};
}

Status DiffSelection::check_used() const {
  const auto unused = std::ranges::find(used_, false);
  if (unused == used_.end()) return {};
  const TensorTolerance& given =
      requested_.tensor_tolerances[static_cast<std::size_t>(unused - used_.begin())];
  return fail(ErrorCode::invalid_argument,
              given.source + (given.glob ? ": no compared tensor matches"
                                         : ": no tensor " + std::to_string(given.tensor) +
                                               " of actual is compared"));
}

const Error* PairPreparation::trouble(const MemberPair& pair) const {
  if (pair.error) return pair.error.get();
  const Error* found = pair.actual ? actual_.trouble(*pair.actual) : nullptr;
  if (found == nullptr && pair.golden) found = golden_.trouble(*pair.golden);
  return found;
}

Status PairPreparation::check_selection() {
  BTF_ASSIGN(names_, NameSelection::of(requested_, actual_, golden_, found_.pairs));
  if (requested_.tensor_tolerances.empty()) return {};
  for (const MemberPair& pair : found_.pairs) {
    if (!pair.actual || !pair.golden) continue;
    // A file that cannot be opened is reported separately, and might have the tensor.
    if (trouble(pair) != nullptr || !complete_specs(pair)) return {};
    const auto actual = actual_.file(*pair.actual);
    const auto golden = golden_.file(*pair.golden);
    if (!actual || !golden) return {};
    DiffOptions unused;
    if (!names_.narrow(pair, unused)) continue;
    if (const Status applied = selection_.apply(**actual, **golden, unused); !applied) {
      // One of the system may not come again, and then nobody would ask for the name.
      if (is_system_error(applied.error())) return applied;
      return {};
    }
    if (selection_.check_used()) return {};
  }
  return selection_.check_used();
}

// Completes specs without dims by those of the other side.
Status PairPreparation::complete_specs(const MemberPair& pair) {
  FileSpecs& actual_specs = found_.actual_specs;
  FileSpecs& golden_specs = found_.golden_specs;
  BTF_ASSIGN(const bool left, actual_specs.waits(*pair.actual, actual_));
  BTF_ASSIGN(const bool right, golden_specs.waits(*pair.golden, golden_));
  if (left && right && actual_specs.is_list(*pair.actual) && golden_specs.is_list(*pair.golden))
    return {};
  if (left && right) return std::unexpected(actual_specs.no_dims(*pair.actual, actual_));
  if (left) {
    BTF_ASSIGN(const File golden, golden_.file(*pair.golden));
    return actual_specs.complete(*pair.actual, actual_, requested_,
                                 {*golden, pair, &MemberPair::golden_tensor, true});
  }
  if (!right) return {};
  BTF_ASSIGN(const File actual, actual_.file(*pair.actual));
  return golden_specs.complete(*pair.golden, golden_, requested_,
                               {*actual, pair, &MemberPair::actual_tensor, false});
}

// Uses scales that are files of their own.
Status PairPreparation::use_scale_files(const MemberPair& pair, DiffOptions& options) const {
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
  if (!actual_opened) {
    BTF_ASSIGN(const std::uint64_t bytes, actual_.bytes(*pair.actual));
    return std::unexpected(
        with_likely_specs(actual_opened.error(), bytes, golden_opened, "`actual.specs`"));
  }
  if (!golden_opened) {
    BTF_ASSIGN(const std::uint64_t bytes, golden_.bytes(*pair.golden));
    return std::unexpected(
        with_likely_specs(golden_opened.error(), bytes, actual_opened, "`golden.specs`"));
  }
  const TensorFile& actual = **actual_opened;
  const TensorFile& golden = **golden_opened;
  BTF_TRY(selection_.apply(actual, golden, options));
  if (!options.map.empty()) BTF_TRY(check_map(selection_.map()));
  if (!found_.several) {
    BTF_TRY(selection_.check_used());
    BTF_TRY(check_axes(actual, golden, options));
  }
  BTF_TRY(use_scale_files(pair, options));
  options.figures =
      options.figures || (requested_.figures_of_several && several(actual, golden, options));
  return PreparedPair{*actual_opened, *golden_opened, std::move(options)};
}

// The only tensor of a file that is compared; unset if there are several.
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

// Among several tensors, those without the axes get others; a single tensor must have them.
Status PairPreparation::check_axes(const TensorFile& actual, const TensorFile& golden,
                                   const DiffOptions& options) const {
  if (requested_.heatmap_axes.empty()) return {};
  const auto left = only(actual, options.actual_tensors);
  const auto right = only(golden, options.golden_tensors);
  if (!left || !right) return {};
  const auto a = actual.tensor(*left);
  const auto g = golden.tensor(*right);
  // All other errors are found by the comparison.
  if (!a || !g || a->dims != g->dims) return {};
  const std::string trouble = axes_trouble(requested_.heatmap_axes, g->dims.size());
  if (trouble.empty()) return {};
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "`heatmap_axes`: " + trouble}.of_tensor(*left).in_file(
          actual.path()));
}

Status PairPreparation::check_map(const MapUse& use) const {
  if (use.used || use.unused.empty()) return {};
  // A file that cannot be read is reported separately, and might have the names.
  for (const MemberPair& pair : found_.pairs)
    if (trouble(pair) != nullptr) return {};
  return std::unexpected(no_use(use, requested_.map_path));
}

}  // namespace btf
