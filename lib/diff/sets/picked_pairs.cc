#include "diff/sets/picked_pairs.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "btf/try.h"

namespace btf {
namespace {

// In place of a tensor's number.
constexpr std::uint64_t kWholePair = UINT64_MAX;

std::uint64_t bytes_of_tensor(const TensorSet& set, const std::optional<std::uint64_t>& member,
                              const std::optional<std::uint64_t>& tensor) {
  if (!member || !tensor) return 0;
  const auto file = set.file(*member);
  const auto info = file ? (*file)->tensor(*tensor) : std::unexpected(file.error());
  return info ? info->data_bytes : 0;
}

PlannedPair planned(const FilePair& other) {
  const auto bytes = [](const std::string& path) -> std::uint64_t {
    std::error_code unknown;
    const auto size = path.empty() ? 0 : std::filesystem::file_size(path, unknown);
    return unknown ? 0 : size;
  };
  PlannedPair plan{
      .name = other.name, .actual_bytes = bytes(other.actual), .golden_bytes = bytes(other.golden)};
  plan.bytes = plan.actual_bytes + plan.golden_bytes;
  return plan;
}

}  // namespace

PlannedPair PickedPairs::planned(const MemberPair& pair) const {
  PlannedPair plan{.name = found_.several ? pair.name : std::string_view()};
  if (pair.actual) plan.actual_bytes = actual_.bytes(*pair.actual);
  if (pair.golden) plan.golden_bytes = golden_.bytes(*pair.golden);
  plan.bytes = pair.of_tensors() ? bytes_of_tensor(actual_, pair.actual, pair.actual_tensor) +
                                       bytes_of_tensor(golden_, pair.golden, pair.golden_tensor)
                                 : plan.actual_bytes + plan.golden_bytes;
  return plan;
}

// The pairs of tensors of two files. None: they are one item, as when they cannot be compared.
std::vector<PlannedTensor> PickedPairs::tensors_of(const MemberPair& pair,
                                                   PairPreparation& preparation,
                                                   DiffOptions options) const {
  std::vector<PlannedTensor> tensors;
  if (!asked_.pick_tensors || pair.of_tensors() || !pair.actual || !pair.golden ||
      preparation.trouble(pair) != nullptr || !preparation.narrow(pair, options))
    return tensors;
  Result<PreparedPair> ready = preparation.prepare(pair, std::move(options));
  if (!ready) return tensors;
  ready->options.pick = [&](std::span<const PlannedTensor> all) {
    tensors.assign(all.begin(), all.end());
    return std::vector<std::uint64_t>();
  };
  const auto compared = diff(*ready->actual, *ready->golden, ready->options, {});
  return compared ? tensors : std::vector<PlannedTensor>();
}

Status PickedPairs::choose(PairPreparation& preparation, const DiffOptions& options) {
  std::vector<PlannedPair> all;
  std::vector<ChosenPair::Tensor> of;  // of each item that is no other file: its tensor and pair
  std::deque<std::string> names;
  for (std::uint64_t i = 0; i < found_.pairs.size(); ++i) {
    const PlannedPair whole = planned(found_.pairs[i]);
    const std::vector<PlannedTensor> tensors = tensors_of(found_.pairs[i], preparation, options);
    for (std::uint64_t t = 0; t < tensors.size(); ++t) {
      PlannedPair& item = all.emplace_back(whole);
      item.name = names.emplace_back(std::string(whole.name) + "\n" + tensors[t].name);
      item.bytes = tensors[t].bytes;
      of.push_back({.tensor = t, .number = i});
    }
    if (!tensors.empty()) continue;
    all.push_back(whole);
    of.push_back({.tensor = kWholePair, .number = i});
  }
  if (options.strict)
    for (const FilePair& other : found_.others) all.push_back(btf::planned(other));
  BTF_ASSIGN(const std::vector<std::uint64_t> picked, asked_.pick(all));
  const bool ascending = std::ranges::is_sorted(picked, std::ranges::less_equal());
  if (!ascending || (!picked.empty() && picked.back() >= all.size()))
    return fail(ErrorCode::invalid_argument,
                "numbers of pairs ascend, and are below " + std::to_string(all.size()));
  std::vector<MemberPair> kept;
  std::vector<FilePair> others;
  std::uint64_t last = UINT64_MAX;
  for (const std::uint64_t number : picked) {
    if (number >= of.size()) {
      others.push_back(std::move(found_.others[number - of.size()]));
      others.back().number = number;
      continue;
    }
    const auto [tensor, pair] = of[number];
    if (std::exchange(last, pair) != pair) {
      kept.push_back(std::move(found_.pairs[pair]));
      chosen_.push_back({.number = number});
    }
    if (tensor != kWholePair) chosen_.back().tensors.push_back({tensor, number});
  }
  found_.pairs = std::move(kept);
  found_.others = std::move(others);
  return {};
}

const ChosenPair& PickedPairs::of(const MemberPair& pair) const {
  static const ChosenPair kWhole;
  return asked_.pick ? chosen_[static_cast<std::size_t>(&pair - found_.pairs.data())] : kWhole;
}

}  // namespace btf
