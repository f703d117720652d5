#include "btf/layers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/diff.h"
#include "btf/try.h"
#include "core/errors.h"
#include "diff/layers/first_checks.h"
#include "diff/layers/measured_pairs.h"
#include "diff/layers/order.h"
#include "diff/layers/spots.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "sets/names/match.h"

namespace btf {
namespace {

constexpr auto kOrderNames = std::to_array<Named<OrderSource>>({
    {OrderSource::file, "file"},
    {OrderSource::graph, "graph"},
    {OrderSource::recorded, "recorded"},
    {OrderSource::numbered, "numbered"},
    {OrderSource::stored, "stored"},
    {OrderSource::natural, "natural"},
});

constexpr auto kStateNames = std::to_array<Named<LayerState>>({
    {LayerState::healthy, "healthy"},
    {LayerState::root, "root"},
    {LayerState::dump, "dump"},
    {LayerState::unjudged, "unjudged"},
    {LayerState::missing, "missing"},
    {LayerState::unmeasured, "unmeasured"},
});

constexpr auto kFaultNames = std::to_array<Named<LayerFault>>({
    {LayerFault::none, "none"},
    {LayerFault::born, "born"},
    {LayerFault::shape, "shape"},
    {LayerFault::error, "error"},
    {LayerFault::local, "local"},
    {LayerFault::gain, "gain"},
    {LayerFault::offset, "offset"},
});

constexpr auto kVerdictNames = std::to_array<Named<VerdictKind>>({
    {VerdictKind::clean, "clean"},
    {VerdictKind::broke, "broke"},
    {VerdictKind::inputs, "inputs"},
    {VerdictKind::dump_wrong, "dump-wrong"},
    {VerdictKind::drift, "drift"},
    {VerdictKind::amplified, "amplified"},
    {VerdictKind::missing, "missing"},
    {VerdictKind::cannot_tell, "cannot-tell"},
});

constexpr auto kSpotNames = std::to_array<Named<SpotState>>({
    {SpotState::unchecked, "unchecked"},
    {SpotState::follows, "follows"},
    {SpotState::coarser, "coarser"},
    {SpotState::rounded, "rounded"},
    {SpotState::off, "off"},
    {SpotState::used, "used"},
    {SpotState::unused, "unused"},
});

std::vector<std::string> golden_names(const std::vector<Layer>& layers) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.golden);
  return names;
}

std::unexpected<Error> no_codes(const TensorSet& set) {
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "no compared tensor has codes to scale"}.in_file(
          set.path()));
}

// A line of a map that pairs nothing is a warning; a map that pairs nothing at all is an error.
Status add_map_findings(const PairedLayers& paired, const LayerOptions& options,
                        LayerReport& report) {
  if (options.map.empty()) return {};
  if (!paired.map.used && report.troubles.empty())
    return std::unexpected(no_use(paired.map, options.map_path));
  const std::string path = options.map_path.empty() ? "" : options.map_path + ": ";
  for (const std::string& unused : paired.map.unused) report.warnings.push_back(path + unused);
  return {};
}

// Options for another run of the device: only those about reading its elements.
LayerOptions plain_options(const LayerOptions& options) {
  LayerOptions plain;
  plain.execution = options.execution;
  plain.dequantize = options.dequantize;
  plain.actual_scale = options.actual_scale;
  return plain;
}

LayerOptions baseline_options(const LayerOptions& options) {
  LayerOptions plain = plain_options(options);
  plain.golden_scale = options.golden_scale;
  plain.map = options.map;
  return plain;
}

LayerOptions expected_options(const LayerOptions& options) {
  LayerOptions plain = plain_options(options);
  plain.golden_scale = options.actual_scale;
  return plain;
}

// What could not be read of another run is reported with this one.
void add_troubles(const PairedLayers& paired, const LayerReport& other, LayerReport& report) {
  for (const auto& troubles : {other.troubles, paired.unread})
    for (const std::string& trouble : troubles)
      if (std::ranges::find(report.troubles, trouble) == report.troubles.end())
        report.troubles.push_back(trouble);
}

// The error for a run with nothing to compare.
std::unexpected<Error> no_pairs_error(const LayerReport& report, const TensorSet& set,
                                      const TensorSet& with) {
  if (!report.troubles.empty()) return fail(ErrorCode::io, report.troubles.front());
  return std::unexpected(
      Error{ErrorCode::refused, "no tensor of it is paired with one of " + with.path()}.in_file(
          set.path()));
}

// Adds the errors of the baseline run, by golden's names.
Status add_baseline(TensorSet& baseline, TensorSet& golden, const LayerOptions& options,
                    const MeasurementScope& scope, LayerReport& report) {
  LayerReport other;
  BTF_ASSIGN(const PairedLayers paired,
             pair_and_measure(baseline, golden, baseline_options(options), scope, other));
  const NameMatches matches = match_names(golden_names(report.layers), golden_names(other.layers));
  std::uint64_t known = 0;
  bool equal = true;
  for (const NameMatch& match : matches.pairs) {
    const auto& figures = other.layers[match.right].figures;
    if (match.tier != PairTier::exact || !figures) continue;
    report.layers[match.left].baseline = figures->relative_error;
    equal = equal && figures->relative_error == 0;
    ++known;
  }
  if (known > 0 && equal)
    report.warnings.push_back(baseline.path() +
                              ": is equal to golden in every tensor, so that any error is unusual: "
                              "is it a run of the device?");
  add_troubles(paired, other, report);
  return known > 0 ? Status{} : no_pairs_error(report, baseline, golden);
}

// Checks that dumping did not change the result of the run.
Status add_expected(TensorSet& expected, TensorSet& actual, const LayerOptions& options,
                    const MeasurementScope& scope, LayerReport& report) {
  LayerReport other;
  BTF_ASSIGN(const PairedLayers paired,
             pair_and_measure(actual, expected, expected_options(options), scope, other));
  for (const Layer& layer : other.layers) {
    if (!layer.figures) continue;
    const LayerFigures& figures = *layer.figures;
    const bool special = figures.nan.actual + figures.nan.golden + figures.inf.actual +
                             figures.inf.golden + figures.inf.opposite >
                         0;
    report.watched_nonfinite |= special;
    const double e = special ? HUGE_VAL : figures.relative_error;
    report.watched_error = std::max(report.watched_error.value_or(0), e);
  }
  add_troubles(paired, other, report);
  return report.watched_error ? Status{} : no_pairs_error(report, expected, actual);
}

// Finds the causes of what broke and of wrong dumps, which are few.
class Causes {
 public:
  Causes(TensorSet& actual, TensorSet& golden, const PairedLayers& paired,
         const LayerOptions& options, LayerReport& report)
      : actual_(actual), golden_(golden), paired_(paired), options_(options), report_(report) {
    for (std::size_t i = 0; i < paired.actual.size(); ++i)
      tensors_.push_back({paired.actual[i], paired.golden[i]});
  }

  // Finds the location of the verdict's layer.
  Status locate() {
    LayerVerdict& verdict = report_.verdict;
    if (!verdict.layer) return {};
    const Layer& layer = report_.layers[*verdict.layer];
    const auto& [actual, golden] = tensors_[layer.number];
    BTF_ASSIGN(const auto left, actual_.file(actual.member));
    BTF_ASSIGN(const auto right, golden_.file(golden.member));
    verdict.actual_path = left->path();
    verdict.golden_path = right->path();
    if (left->tensor_count() > 1) verdict.actual_tensor = actual.index;
    if (right->tensor_count() > 1) verdict.golden_tensor = golden.index;
    BTF_ASSIGN(verdict.actual_scale,
               paired_.actual_set_scales.given(actual_, actual.member, options_.execution));
    BTF_ASSIGN(verdict.golden_scale,
               paired_.golden_set_scales.given(golden_, golden.member, options_.execution));
    return {};
  }

  Status run() {
    constexpr std::size_t kMax = 4;
    std::vector<std::uint64_t> asked(report_.roots.begin(), report_.roots.end());
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i)
      if (report_.layers[i].state == LayerState::dump) asked.push_back(i);
    if (asked.size() > kMax) asked.resize(kMax);
    for (const std::uint64_t i : asked) BTF_TRY(find(report_.layers[i]));
    return {};
  }

 private:
  Status find(Layer& layer) {
    if (!layer.figures || layer.number >= tensors_.size()) return {};
    const auto& [actual, golden] = tensors_[layer.number];
    BTF_ASSIGN(const auto left, actual_.file(actual.member));
    BTF_ASSIGN(const auto right, golden_.file(golden.member));
    const LayerFigures& figures = *layer.figures;
    DiffOptions options;
    options.actual_tensors = {actual.index};
    options.golden_tensors = {golden.index};
    options.pair_by = PairBy::number;
    options.may_compare_nothing = true;
    options.dequantize = options_.dequantize;
    BTF_ASSIGN(options.actual_scale, paired_.given_scale(options_, actual_, actual.member, true));
    BTF_ASSIGN(options.golden_scale, paired_.given_scale(options_, golden_, golden.member, false));
    options.execution = options_.execution;
    options.execution.progress = {};
    // Single elements with an error of up to this many times the layer's rms noise are noise too.
    constexpr double kPeaks = 4;
    if (figures.pairs > 0)
      options.tolerance.atol = kPeaks * layer.noise * figures.golden.norm /
                               std::sqrt(static_cast<double>(figures.pairs));
    const auto found =
        diff(*left, *right, options, [&](const TensorDiff& diff) { layer.hints = diff.hints; });
    if (found) return {};
    if (found.error().code == ErrorCode::cancelled) return std::unexpected(found.error());
    // A failed search for a cause does not change the verdict; read errors are reported.
    if (is_read_error(found.error())) report_.troubles.push_back(found.error().text());
    return {};
  }

  TensorSet& actual_;
  TensorSet& golden_;
  const PairedLayers& paired_;
  const LayerOptions& options_;
  LayerReport& report_;
  std::vector<std::pair<SetTensor, SetTensor>> tensors_;
};

}  // namespace

std::span<const Named<OrderSource>> order_source_names() { return kOrderNames; }
std::span<const Named<LayerState>> layer_state_names() { return kStateNames; }
std::span<const Named<LayerFault>> layer_fault_names() { return kFaultNames; }
std::span<const Named<VerdictKind>> verdict_kind_names() { return kVerdictNames; }
std::span<const Named<SpotState>> spot_state_names() { return kSpotNames; }

namespace {

// The sets of a comparison, of its baseline, and of the run without dumps.
struct LayerSets {
  TensorSet& actual;
  TensorSet& golden;
  TensorSet* baseline;
  TensorSet* expected;
};

// Where the pairs of the other runs begin among all pairs.
struct PlanStarts {
  std::uint64_t baseline = 0;
  std::uint64_t expected = 0;
};

// Checks that there is something to judge.
Status check_paired(const LayerSets& sets, const PairedLayers& paired, const LayerOptions& options,
                    LayerReport& report) {
  if (report.paired == 0 && !report.troubles.empty())
    return std::unexpected(Error{ErrorCode::io, report.troubles.front()});
  BTF_TRY(add_map_findings(paired, options, report));
  if (report.paired == 0) {
    std::string why = "no name is on both sides";
    if (!report.actual_only.empty() && !report.layers.empty())
      why += ": '" + report.actual_only.front() + "' in " + sets.actual.path() + ", '" +
             report.layers.front().golden + "' in " + sets.golden.path() + "; `map` pairs them";
    return std::unexpected(Error{ErrorCode::refused, "nothing is paired: " + why});
  }
  if (options.actual_scale && !paired.actual_scaled) return no_codes(sets.actual);
  if (options.golden_scale && !paired.golden_scaled) return no_codes(sets.golden);
  for (std::uint64_t i = 0; i < report.layers.size(); ++i) report.layers[i].number = i;
  return order_layers(report, paired.places, paired.actual_rest, paired.quantised_order,
                      ordered_side(sets.actual), ordered_side(sets.golden), options);
}

// Adds all pairs to the plan of a share, and finds everything that is wrong before a pair is
// measured. `report` and `paired` are of the comparison itself.
Result<PlanStarts> plan_layers(const LayerSets& sets, const LayerOptions& options,
                               LayerShare& share, LayerReport& report, PairedLayers& paired) {
  std::vector<PlannedLayer> planned;
  const MeasurementScope scope{.share = nullptr, .first = 0, .plan = &planned};
  BTF_ASSIGN(paired, pair_and_measure(sets.actual, sets.golden, options, scope, report));
  BTF_TRY(check_paired(sets, paired, options, report));
  PlanStarts starts{.baseline = planned.size()};
  const auto add = [&](TensorSet& left, TensorSet& right, const LayerOptions& of) -> Status {
    LayerReport unused;
    BTF_ASSIGN(const PairedLayers pairs, pair_and_measure(left, right, of, scope, unused));
    return {};
  };
  if (sets.baseline != nullptr)
    BTF_TRY(add(*sets.baseline, sets.golden, baseline_options(options)));
  starts.expected = planned.size();
  if (sets.expected != nullptr)
    BTF_TRY(add(sets.actual, *sets.expected, expected_options(options)));
  BTF_TRY(share.plan(planned));
  return starts;
}

// The files of a comparison as they are when it begins. Models are opened more than once: for the
// order, and for the spot checks of each side.
class LayerFiles {
 public:
  static Result<LayerFiles> of(const LayerSets& sets, const LayerOptions& options) {
    LayerFiles files({&sets.actual, &sets.golden, sets.baseline, sets.expected});
    for (const auto* const path : {&options.graph, &options.actual_graph, &options.engine}) {
      if (!*path) continue;
      BTF_ASSIGN(auto stamp, path_stamp(**path));
      files.models_.emplace_back(**path, stamp);
    }
    return files;
  }

  Status check_unchanged() const {
    for (const TensorSet* const set : sets_)
      if (set != nullptr) BTF_TRY(set->check_unchanged());
    for (const auto& [path, stamp] : models_) BTF_TRY(check_stamp(path, stamp));
    return {};
  }

 private:
  using Sets = std::array<const TensorSet*, 4>;

  explicit LayerFiles(const Sets& sets) : sets_(sets) {}

  Sets sets_;
  std::vector<std::pair<std::string, std::optional<FileStamp>>> models_;
};

// `share`: nullptr if everything is measured by this process.
Result<LayerReport> compare(const LayerSets& sets, const LayerOptions& options, LayerShare* share) {
  auto& [actual, golden, baseline, expected] = sets;
  BTF_ASSIGN(const LayerFiles files, LayerFiles::of(sets, options));
  PlanStarts starts;
  if (share != nullptr) {
    LayerReport planned;
    PairedLayers unused;
    BTF_ASSIGN(starts, plan_layers(sets, options, *share, planned, unused));
  }
  LayerReport report;
  BTF_ASSIGN(const PairedLayers paired,
             pair_and_measure(actual, golden, options, {.share = share}, report));
  BTF_TRY(check_paired(sets, paired, options, report));
  if (baseline != nullptr)
    BTF_TRY(add_baseline(*baseline, golden, options, {.share = share, .first = starts.baseline},
                         report));
  if (expected != nullptr)
    BTF_TRY(add_expected(*expected, actual, options, {.share = share, .first = starts.expected},
                         report));
  if (options.graph && options.spot_checks)
    BTF_TRY(check_spots(actual, golden, paired, options, share, report));
  judge_layers(report, options.judge);
  Causes causes(actual, golden, paired, options, report);
  BTF_TRY(causes.locate());
  if (options.hints) BTF_TRY(causes.run());
  BTF_TRY(files.check_unchanged());
  return report;
}

}  // namespace

Result<LayerReport> compare_layers(TensorSet& actual, TensorSet& golden, TensorSet* baseline,
                                   TensorSet* expected, const LayerOptions& options) {
  return compare({actual, golden, baseline, expected}, options, nullptr);
}

Result<LayerReport> judge_measured(TensorSet& actual, TensorSet& golden, TensorSet* baseline,
                                   TensorSet* expected, const LayerOptions& options,
                                   LayerShare& share) {
  return compare({actual, golden, baseline, expected}, options, &share);
}

Status measure_layers(TensorSet& actual, TensorSet& golden, TensorSet* baseline,
                      TensorSet* expected, const LayerOptions& options, LayerShare& share) {
  const LayerSets sets{actual, golden, baseline, expected};
  BTF_ASSIGN(const LayerFiles files, LayerFiles::of(sets, options));
  LayerReport planned;
  PairedLayers paired;
  BTF_ASSIGN(const PlanStarts starts, plan_layers(sets, options, share, planned, paired));
  const auto measure = [&](TensorSet& left, TensorSet& right, const LayerOptions& of,
                           LayerShare& to, std::uint64_t first) -> Status {
    LayerReport unused;
    BTF_ASSIGN(const PairedLayers pairs,
               pair_and_measure(left, right, of, {.share = &to, .first = first}, unused));
    return {};
  };
  if (options.graph && options.spot_checks) {
    BTF_ASSIGN(const SpotGraphs graphs, SpotGraphs::read(options, planned));
    const InitialSpotChecks checks(graphs, actual, golden, paired, options, planned);
    SpotCheckingPartition checking(checks, planned, options, share);
    BTF_TRY(measure(actual, golden, options, checking, 0));
    BTF_TRY(checking.finish());
  } else {
    BTF_TRY(measure(actual, golden, options, share, 0));
  }
  if (baseline != nullptr)
    BTF_TRY(measure(*baseline, golden, baseline_options(options), share, starts.baseline));
  if (expected != nullptr)
    BTF_TRY(measure(actual, *expected, expected_options(options), share, starts.expected));
  return files.check_unchanged();
}

}  // namespace btf
