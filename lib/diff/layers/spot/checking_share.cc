#include "diff/layers/spot/checking_share.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "btf/try.h"
#include "diff/layers/verdict/noise.h"
#include "elements/parallel.h"

namespace btf {
namespace {

// As many are lost if the process ends.
constexpr std::size_t kTogether = 16;

// What the layer's own bits show. What most layers show is known when all were measured; where that
// is another precision, the layer is asked again.
std::size_t level_shown_by(const Layer& planned, const LayerFigures& figures) {
  LayerReport alone;
  alone.layers.push_back(planned);
  alone.layers.front().figures = figures;
  return level_at(run_precision(alone, {}).unit_roundoff);
}

}  // namespace

CheckingShare::CheckingShare(const FirstChecks& checks, const LayerReport& planned,
                             const LayerOptions& options, LayerShare& share)
    : checks_(checks), planned_(planned), options_(options), share_(share) {
  for (std::uint64_t i = 0; i < planned.layers.size(); ++i) places_[planned.layers[i].number] = i;
}

Status CheckingShare::plan(std::span<const PlannedLayer> layers) {
  BTF_TRY(share_.plan(layers));
  for (std::uint64_t number = 0; number < layers.size(); ++number)
    to_come_ += share_.is_own(number) ? 1U : 0U;
  return {};
}

void CheckingShare::take(std::uint64_t number, const MeasuredLayer& layer) {
  if (!status_) return;
  taken_.push_back({number, layer});
  if (taken_.size() == kTogether) status_ = give();
}

Status CheckingShare::finish() {
  if (status_) status_ = give();
  return status_;
}

void CheckingShare::check(Taken& taken, std::uint64_t most_terms) const {
  if (!taken.layer.figures) return;
  const std::uint64_t i = places_.at(taken.number);
  if (!checks_.why_not(i).empty()) return;
  const LayerFigures& figures = *taken.layer.figures;
  taken.layer.check = std::make_shared<SideCheck>(
      checks_.check(i, figures, checks_.sample(i, figures),
                    level_shown_by(planned_.layers[i], figures), most_terms));
}

// Their states first: if they are unchanged after that, these are of what was read.
Status CheckingShare::add_inputs(Taken& taken) const {
  MeasuredLayer& layer = taken.layer;
  if (layer.check == nullptr) return {};
  const SpotDumps& dumps =
      options_.judge.isolated ? checks_.golden_as_inputs() : checks_.actual_dumps();
  std::vector<std::uint64_t> seen;  // members
  const std::uint32_t own = checks_.actual_dumps().value_of(places_.at(taken.number));
  if (const DumpedValue* const dumped = dumps.find(own)) seen.push_back(dumped->tensor.member);
  for (const std::uint32_t value : layer.check->read) {
    const std::uint64_t member = dumps.find(value)->tensor.member;
    if (std::ranges::find(seen, member) != seen.end()) continue;
    seen.push_back(member);
    const std::string path = dumps.set().member(member).path;
    layer.inputs.emplace_back(path, FileState::of(path));
    BTF_TRY(dumps.set().check_unchanged(member));
  }
  return {};
}

Status CheckingShare::give() {
  const unsigned workers =
      worker_count(options_.execution, taken_.size(), kSpotWorkPerLayer * taken_.size());
  const std::uint64_t most_terms =
      std::clamp(left_ / std::max<std::uint64_t>(1, to_come_), kLeastSpotTerms, kSpotTerms);
  BTF_TRY(for_each_slab(options_.execution, workers, taken_.size(), [&](unsigned, std::uint64_t k) {
    check(taken_[k], most_terms);
    return Status();
  }));
  for (Taken& taken : taken_) {
    to_come_ -= std::min<std::uint64_t>(to_come_, 1);
    if (taken.layer.check == nullptr) continue;
    left_ -= std::min(left_, taken.layer.check->terms);
    // Whoever merges knows whether there is more for it.
    if (taken.layer.check->ran_out && most_terms < kSpotTerms) taken.layer.check = nullptr;
  }
  // Where something could not be read, nothing is said of elements: whoever merges asks for them
  // again, and hears the error if there still is one.
  if (!checks_.read_troubles().empty())
    for (Taken& taken : taken_) taken.layer.check = nullptr;
  for (Taken& taken : taken_) {
    BTF_TRY(add_inputs(taken));
    share_.take(taken.number, taken.layer);
  }
  taken_.clear();
  return {};
}

}  // namespace btf
