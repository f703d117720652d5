#include "btf/fit.h"

#include <algorithm>
#include <array>
#include <set>

#include "btf/fit/share.h"
#include "btf/try.h"
#include "fit/inputs.h"
#include "fit/items/item_pieces.h"
#include "fit/one_type.h"
#include "fit/rule/judge.h"
#include "fit/scales/scaled_types.h"

namespace btf {
namespace {

constexpr auto kReasonNames = std::to_array<Named<FitReason>>({
    {FitReason::overflow_output, "overflow-output"},
    {FitReason::overflow_input, "overflow-input"},
    {FitReason::overflow_inside, "overflow-inside"},
    {FitReason::variance, "variance"},
    {FitReason::nonfinite, "nonfinite"},
    {FitReason::lost, "lost"},
    {FitReason::rounding, "rounding"},
    {FitReason::feeds, "feeds"},
});

constexpr auto kStateNames = std::to_array<Named<FitState>>({
    {FitState::narrow, "narrow"},
    {FitState::wide, "wide"},
    {FitState::unjudged, "unjudged"},
});

template <typename Tensor>
void warn_of_nonfinite(const std::vector<Tensor>& tensors, std::vector<std::string>& warnings) {
  for (const Tensor& tensor : tensors) {
    if (tensor.weight || tensor.nan + tensor.infinite == 0) continue;
    const bool all = tensor.nan + tensor.infinite == tensor.elements;
    warnings.push_back("'" + tensor.name + "' has " + std::to_string(tensor.nan) + " NaN and " +
                       std::to_string(tensor.infinite) + " Inf as dumped" +
                       (all ? " and nothing else" : "") + "; they are left out");
  }
}

Status measure_scaled(const FitInputs& inputs, std::span<const DType> dtypes,
                      const ScaledPieces* pieces, const FitOptions& options, FitReport& report) {
  BTF_ASSIGN(ScalesFound found,
             fit_scales(inputs.network.get(), inputs.dumps, dtypes, options.execution, pieces));
  std::ranges::move(found.troubles, std::back_inserter(report.troubles));
  std::ranges::move(found.warnings, std::back_inserter(report.warnings));
  if (report.types.empty()) warn_of_nonfinite(found.types[0].tensors, report.warnings);
  report.scaled = std::move(found.types);
  return {};
}

// Errors of reading, by whatever path a value was read: none of them leaves a report that looks
// whole. Each is said once.
void take_read_troubles(const FitInputs& inputs, FitReport& report) {
  const auto take = [&](const std::vector<std::string>& troubles) {
    report.troubles.insert(report.troubles.end(), troubles.begin(), troubles.end());
  };
  for (const Dump& dump : inputs.dumps) take(dump.read_troubles());
  if (inputs.network != nullptr) take(inputs.network->read_troubles());
  std::set<std::string> said;
  std::erase_if(report.troubles,
                [&](const std::string& trouble) { return !said.insert(trouble).second; });
}

// `pieces`: nullptr, where all is measured here.
Result<FitReport> judge(FitInputs& inputs, std::span<TensorSet> dumps, const ItemPieces* pieces,
                        const FitOptions& options) {
  FitReport report = std::move(inputs.report);
  std::vector<DType> scaled;
  for (const DType dtype : options.dtypes) {
    if (fits_by_scale(dtype)) {
      scaled.push_back(dtype);
      continue;
    }
    const NarrowType type(dtype);
    const KnownOfType known{.pieces = pieces, .type = report.types.size()};
    BTF_ASSIGN(FitOfType found,
               inputs.network != nullptr
                   ? judge_all(*inputs.network, inputs.dumps, type, known, options.execution)
                   : measure_alone(inputs.dumps, type, known, options.execution, report));
    take_read_troubles(inputs, report);
    if (found.unjudged > 0 && found.unjudged == found.layers.size() && !report.troubles.empty())
      return fail(ErrorCode::io, report.troubles.front());
    if (found.unjudged > 0 && found.unjudged == found.layers.size())
      return fail(ErrorCode::refused, "no layer can be judged, as '" + found.layers[0].name +
                                          "': " + found.layers[0].why);
    if (report.types.empty()) warn_of_nonfinite(found.tensors, report.warnings);
    report.types.push_back(std::move(found));
  }
  if (!scaled.empty())
    BTF_TRY(measure_scaled(inputs, scaled, pieces != nullptr ? &pieces->scaled() : nullptr, options,
                           report));
  take_read_troubles(inputs, report);
  for (const TensorSet& set : dumps) BTF_TRY(set.check_unchanged());
  return report;
}

}  // namespace

Result<FitReport> fit(std::span<TensorSet> dumps, const FitOptions& options) {
  BTF_ASSIGN(FitInputs inputs, open_fit(dumps, options));
  return judge(inputs, dumps, nullptr, options);
}

Result<FitReport> judge_measured(std::span<TensorSet> dumps, const FitOptions& options,
                                 FitShare& share) {
  BTF_ASSIGN(FitInputs inputs, open_fit(dumps, options));
  const FitPlan plan(inputs.network.get(), inputs.dumps, options.dtypes);
  BTF_TRY(share.plan(plan.planned()));
  BTF_ASSIGN(const ItemPieces pieces, ItemPieces::gather(plan, share));
  return judge(inputs, dumps, &pieces, options);
}

bool fits(const FitReport& report) {
  const auto holds = [](const FitScaledTensor& tensor) {
    return tensor.state == FitScaling::held || tensor.state == FitScaling::nothing;
  };
  for (const FitOfScales& type : report.scaled)
    if (!std::ranges::all_of(type.tensors, holds)) return false;
  return std::ranges::all_of(report.types, [](const FitOfType& type) {
    if (!type.layers.empty()) return type.wide == 0;
    return std::ranges::all_of(type.tensors, [&](const FitTensor& tensor) {
      return tensor.beyond == 0 && tensor.error <= kFitTolerance * type.unit_roundoff;
    });
  });
}

namespace {

template <typename T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& names, T value) {
  return std::ranges::find(names, value, &Named<T>::value)->name;
}

}  // namespace

std::string_view fit_reason_name(FitReason reason) { return name_in(kReasonNames, reason); }
std::string_view fit_state_name(FitState state) { return name_in(kStateNames, state); }

}  // namespace btf
