#include "diff/selection.h"

#include <algorithm>
#include <map>

#include "cli/arguments.h"

namespace btftool {
namespace {

using btf::Status;

Status select(const btf::TensorFile& file, const std::string& text,
              std::optional<std::vector<std::uint64_t>>& target) {
  auto tensors = parse_selection(text, file.tensor_count());
  if (!tensors) return std::unexpected(tensors.error().in_file(file.path()));
  target = *std::move(tensors);
  return {};
}

Status select_pairs(const btf::TensorFile& file, const std::vector<TensorPair>& pairs,
                    std::int64_t TensorPair::*side,
                    std::optional<std::vector<std::uint64_t>>& target) {
  target.emplace();
  for (const TensorPair& pair : pairs) {
    const auto index = resolve_index(pair.*side, file.tensor_count());
    if (!index)
      return std::unexpected(btf::Error{btf::ErrorCode::invalid_argument,
                                        "--pair " + std::to_string(pair.actual) + ":" +
                                            std::to_string(pair.golden) + ": there is no tensor " +
                                            std::to_string(pair.*side) + ", the file has " +
                                            std::to_string(file.tensor_count())}
                                 .in_file(file.path()));
    target->push_back(*index);
  }
  return {};
}

// What one word gives, added to what others give for the same tensor. False if that was given.
bool merge(const btf::Tolerance& more, btf::Tolerance& tolerance) {
  const auto take = [](const auto& value, auto& target) {
    if (!value) return true;
    if (target) return false;
    target = value;
    return true;
  };
  return take(more.rtol, tolerance.rtol) && take(more.atol, tolerance.atol) &&
         take(more.ulp, tolerance.ulp);
}

}  // namespace

Status DiffSelection::apply(const btf::TensorFile& actual, const btf::TensorFile& golden,
                            btf::DiffOptions& options) {
  Status status;
  if (command_.tensors) {
    status = select(actual, *command_.tensors, options.actual_tensors);
    if (status) status = select(golden, *command_.tensors, options.golden_tensors);
  } else if (!command_.pairs.empty()) {
    status = select_pairs(actual, command_.pairs, &TensorPair::actual, options.actual_tensors);
    if (status)
      status = select_pairs(golden, command_.pairs, &TensorPair::golden, options.golden_tensors);
  }
  return status ? apply_tolerances(actual.tensor_count(), options) : status;
}

Status DiffSelection::apply_tolerances(std::uint64_t tensors, btf::DiffOptions& options) {
  for (std::size_t i = 0; i < command_.tensor_tolerances.size(); ++i) {
    const TensorTolerance& given = command_.tensor_tolerances[i];
    const auto index = resolve_index(given.tensor, tensors);
    const auto& selected = options.actual_tensors;
    if (!index || (selected && std::ranges::find(*selected, *index) == selected->end())) continue;
    used_[i] = true;
    if (!merge(given.tolerance, options.tensor_tolerance[*index]))
      return btf::fail(btf::ErrorCode::invalid_argument, given.option + " " + given.word +
                                                             ": tensor " + std::to_string(*index) +
                                                             " has been given another value");
  }
  return {};
}

Status DiffSelection::check_used() const {
  const auto unused = std::ranges::find(used_, false);
  if (unused == used_.end()) return {};
  const TensorTolerance& given =
      command_.tensor_tolerances[static_cast<std::size_t>(unused - used_.begin())];
  return btf::fail(btf::ErrorCode::invalid_argument,
                   given.option + " " + given.word + ": no tensor " + std::to_string(given.tensor) +
                       " of actual is compared");
}

}  // namespace btftool
