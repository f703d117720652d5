#include "diff/layers/spots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/layers/first_checks.h"
#include "diff/layers/noise_model.h"
#include "diff/layers/own_error.h"
#include "diff/layers/spot_check.h"
#include "elements/cast.h"
#include "network/node.h"

namespace btf {
namespace {

// The precision by the bits that results show, or else by their typical error.
struct BitsRow {
  std::uint32_t most = 0;
  std::string_view name;
};
constexpr auto kByBits = std::to_array<BitsRow>({{8, "bfloat16"}, {11, "float16"}});

struct ErrorRow {
  double below = 0;
  std::string_view name;
};

// Operands rounded to 11 bits make errors of 2e-4 in products, those rounded to 8 bits 2e-3;
// float32 sums stay below 2e-6 in any order.
constexpr std::string_view kFloat32Name = "float32";
constexpr std::string_view kTransformed = "float32 by way of Winograd's or other transformations";
constexpr auto kByError = std::to_array<ErrorRow>({
    {2e-6, kFloat32Name},
    {8e-5, kTransformed},
    {1e-3, "TF32 or float16"},
    {2e-2, "bfloat16"},
});
constexpr std::size_t kEnough = 3;

template <typename T>
T middle(std::vector<T> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

// Empty if it is no known arithmetic.
std::string_view name_of(const std::vector<const OwnSample*>& layers) {
  std::vector<std::uint32_t> bits;
  std::vector<double> errors;
  std::size_t codes = 0;
  for (const OwnSample* const layer : layers) {
    if (layer->bits > 0) bits.push_back(layer->bits);
    errors.push_back(layer->own_error);
    codes += layer->codes ? 1U : 0U;
  }
  if (errors.empty()) return {};
  if (2 * codes > layers.size()) return "8-bit codes";
  const double error = middle(errors);
  if (!bits.empty() && error > kByError.front().below) {
    const std::uint32_t shown = middle(bits);
    for (const BitsRow& row : kByBits)
      if (shown <= row.most) return row.name;
  }
  for (const ErrorRow& row : kByError)
    if (error < row.below) return row.name;
  return {};
}

// Windows of convolutions that use transforms, if other windows do not.
std::string transformed_windows(const std::vector<const OwnSample*>& products) {
  std::map<std::string, std::vector<const OwnSample*>> windows;
  for (const OwnSample* const layer : products) windows[layer->window].push_back(layer);
  std::string text;
  for (const auto& [window, layers] : windows)
    if (!window.empty() && name_of(layers) == kTransformed)
      text += (text.empty() ? "" : " and ") + window;
  return text;
}

}  // namespace

std::string arithmetic_text(const std::vector<OwnSample>& layers) {
  std::vector<const OwnSample*> products;
  std::vector<const OwnSample*> rest;
  for (const OwnSample& layer : layers) {
    // Layers without any error, such as ReLU, are no evidence.
    if (layer.own_error == 0) continue;
    if (layer.product)
      products.push_back(&layer);
    else if (!layer.moves)
      rest.push_back(&layer);
  }
  const std::string_view of_products = name_of(products);
  const std::string_view of_rest = rest.size() < kEnough ? std::string_view() : name_of(rest);
  if (of_products.empty() && of_rest.empty()) return {};
  const std::string from = " (from " + std::to_string(products.size() + rest.size()) + " layer" +
                           (products.size() + rest.size() == 1 ? ")" : "s)");
  const std::string windows = transformed_windows(products);
  if (!windows.empty() && (of_products == kTransformed || of_products == kFloat32Name))
    return windows + " convolutions in " + std::string(kTransformed) + ", the rest in " +
           std::string(of_rest.empty() ? kFloat32Name : of_rest) + from;
  if (of_products.empty()) return "all in " + std::string(of_rest) + from;
  if (of_rest.empty() || of_rest == of_products) return "all in " + std::string(of_products) + from;
  return "products in " + std::string(of_products) + ", sums and the rest in " +
         std::string(of_rest) + from;
}

namespace {

using network::kNoValue;

struct LayerChecks {
  std::optional<std::vector<std::uint64_t>> sample{};  // set when it is first needed
  SideCheck actual{};
  Peers::Kind kind{};
};

class SpotChecks {
 public:
  SpotChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
             const PairedLayers& paired, const LayerOptions& options, LayerShare* share,
             LayerReport& report)
      : report_(report),
        options_(options),
        share_(share),
        own_model_(graphs.own.has_value()),
        golden_is_other_(graphs.golden_is_other),
        quantised_(graphs.actual_is_quantised),
        model_bytes_(graphs.actual_bytes),
        levels_(spot_levels(options.accumulate)),
        first_(graphs, actual, golden, paired, options, report),
        actual_dumps_(first_.actual_dumps()),
        golden_dumps_(first_.golden_dumps()),
        actual_(first_.actual_side(level_at(run_precision(report, {}).unit_roundoff))),
        golden_(first_.golden_side()),
        checks_(report.layers.size()) {
    actual_.work = golden_.work = &budget_;
  }

  Status run() {
    const std::uint64_t layers = report_.layers.size();
    BTF_TRY(check_all());
    choose_levels();
    find_peers();
    // Creates all results first: a finding about one layer may concern its inputs, which a list of
    // names may put anywhere.
    for (Layer& layer : report_.layers)
      if (layer.figures) layer.spot.emplace();
    for (std::uint64_t i = 0; i < layers; ++i) {
      settle_within_budget(i);
      BTF_TRY(check_cancelled(options_.execution));
    }
    // What could not be read was not used for any of it.
    for (std::string& trouble : first_.read_troubles())
      if (std::ranges::find(report_.troubles, trouble) == report_.troubles.end())
        report_.troubles.push_back(std::move(trouble));
    tell_arithmetic();
    describe_added_errors();
    return {};
  }

  // Whether dumps of this side are read with the network's dims instead of their own.
  bool has_flat(bool of_actual) const {
    return (of_actual ? actual_dumps_ : golden_dumps_).has_flat();
  }

 private:
  // Checks all layers within the limit of a run. Those that take little come first; what they leave
  // is divided equally among the others. The division depends only on what the checks take, so
  // threads and shards do not change it.
  Status check_all() {
    std::vector<std::uint64_t> open;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i)
      if (may_check(i)) open.push_back(i);
    std::uint64_t left = kSpotTermsOfRun;
    std::uint64_t most =
        std::clamp(left / std::max<std::uint64_t>(1, open.size()), kMinSpotTerms, kSpotTerms);
    for (;;) {
      const unsigned workers =
          worker_count(options_.execution, open.size(), kSpotWorkPerLayer * open.size());
      BTF_TRY(
          for_each_slab(options_.execution, workers, open.size(), [&](unsigned, std::uint64_t k) {
            check(open[k], most);
            return Status();
          }));
      for (const std::uint64_t i : open) left -= std::min({left, checks_[i].actual.terms, most});
      std::erase_if(open, [&](std::uint64_t i) { return !checks_[i].actual.ran_out; });
      if (open.empty() || most == kSpotTerms) return {};
      const std::uint64_t more = std::min(kSpotTerms, left / open.size());
      if (more <= most) break;
      most = more;
    }
    for (const std::uint64_t i : open) {
      checks_[i].actual = {};
      checks_[i].actual.why = kSpotTermsUsedUp;
    }
    return {};
  }

  bool may_check(std::uint64_t i) {
    if (!report_.layers[i].figures) return false;
    checks_[i].actual.why = first_.obstacle(i);
    return checks_[i].actual.why.empty();
  }

  void check(std::uint64_t i, std::uint64_t most) {
    const Layer& layer = report_.layers[i];
    SideCheck& check = checks_[i].actual;
    const SideCheck* const known = known_check(layer);
    // What a shard completed would be completed here too, or would have reached the limit.
    if (known != nullptr && (!known->ran_out || most == kSpotTerms) && known->terms <= most) {
      check = *known;
    } else if (known != nullptr && most < kSpotTerms) {
      check = {};
      check.terms = most;
      check.ran_out = true;
    } else {
      check = first_.check(i, *layer.figures, sample_of(i), actual_.least_level, most);
    }
  }

  // Further checks are done in order, as long as the limit allows.
  void settle_within_budget(std::uint64_t i) {
    budget_.used_up = false;
    settle(i);
    if (!budget_.used_up) return;
    report_.layers[i].spot.emplace().why = kSpotTermsUsedUp;
    std::erase(unused_, actual_dumps_.value_of(i));
  }

  // The result of a shard, if it checked the same thing. `read` comes from a file.
  const SideCheck* known_check(const Layer& layer) const {
    const MeasuredLayer* const known = share_ != nullptr ? share_->known(layer.number) : nullptr;
    if (known == nullptr || known->check == nullptr) return nullptr;
    const SideCheck& check = *known->check;
    const auto is_value = [&](std::uint32_t value) {
      return value < actual_.network.values().size();
    };
    const auto is_element = [&](std::uint64_t number) { return number < layer.figures->elements; };
    const bool fits =
        check.model_bytes == model_bytes_ && check.least_level == actual_.least_level &&
        std::ranges::all_of(check.read, is_value) &&
        std::ranges::all_of(
            check.off_numbers,
            [&](const auto& numbers) { return std::ranges::all_of(numbers, is_element); }) &&
        std::ranges::all_of(check.worst,
                            [&](const auto& worst) { return !worst || is_element(worst->number); });
    return fits ? &check : nullptr;
  }

  const std::vector<std::uint64_t>& sample_of(std::uint64_t i) {
    auto& sample = checks_[i].sample;
    if (!sample) sample = first_.sample(i, *report_.layers[i].figures);
    return *sample;
  }

  // The level that explains most layers of each kind, unless the options state one. Products are
  // assumed to be no finer than the rest.
  void choose_levels() {
    for (const bool product : {false, true}) {
      LevelVotes actual;
      for (const LayerChecks& checks : checks_) {
        if (checks.actual.product != product) continue;
        count(actual, checks.actual);
      }
      actual_level_[product] = options_.judge.compute
                                   ? std::optional(level_of(*options_.judge.compute))
                                   : actual.choose();
    }
    // Codes of operators other than products have ranges that were measured on other inputs, and
    // may clip.
    const bool is_float = golden_is_other_ && !quantised_;
    ranges_unknown_ =
        !own_model_ && !is_float &&
        (run_precision(report_, options_.judge).grid || actual_level_[false] == levels_.size() - 1);
    for (const Layer& layer : report_.layers)
      if (const auto said = computed_in(layer, options_.judge))
        ranges_unknown_ = ranges_unknown_ || (!own_model_ && !info(*said).floating());
    if (actual_level_[true] && actual_level_[false])
      actual_level_[true] = std::max(*actual_level_[true], *actual_level_[false]);
  }

  void find_peers() {
    for (std::uint64_t i = 0; i < checks_.size(); ++i) {
      LayerChecks& checks = checks_[i];
      if (checks.actual.checked == 0) continue;
      const auto& network = actual_.network;
      const std::uint32_t node = network.values()[actual_dumps_.value_of(i)].node;
      checks.kind = Peers::kind_of(network, network.nodes()[node], *report_.layers[i].actual_dtype,
                                   checks.actual.product);
      peers_.add(i, checks.kind, own_error_of(checks.actual));
    }
    peers_.sort();
  }

  void tell_arithmetic() {
    std::vector<OwnSample> samples;
    for (std::uint64_t i = 0; i < checks_.size(); ++i) {
      const Layer& layer = report_.layers[i];
      if (!is_recomputed(layer) || !is_arithmetic(layer.spot->state) || !layer.spot->own_error)
        continue;
      const SpotCheck& spot = *layer.spot;
      samples.push_back({.product = checks_[i].actual.product,
                         .moves = is_one_of(layer.op, kMoving),
                         .window = checks_[i].kind.window,
                         .own_error = *spot.own_error,
                         .bits = layer.figures->pairs < kManyBits ? 0 : layer.figures->actual.bits,
                         .codes = spot.precision == levels_.back().name});
    }
    report_.arithmetic = arithmetic_text(samples);
    if (!quantised_) return;
    const std::string text = codes_text(report_);
    report_.arithmetic =
        text +
        (own_model_ && !report_.arithmetic.empty() ? ", between these " + report_.arithmetic : "");
  }

  // Independent errors add up as squares; the effect of the network on them is assumed to be the
  // same for all.
  void describe_added_errors() {
    double all = 0;
    double outputs = 0;
    for (const Layer& layer : report_.layers) {
      if (is_recomputed(layer) && layer.spot->own_error && std::isfinite(*layer.spot->own_error))
        all += *layer.spot->own_error * *layer.spot->own_error;
      if (layer.role == "output" && layer.figures)
        outputs = std::max(outputs, layer.figures->relative_error);
    }
    for (Layer& layer : report_.layers)
      if (layer.spot && layer.spot->state == SpotState::coarser && all > 0)
        layer.spot->adds = outputs * *layer.spot->own_error / std::sqrt(all);
  }

  OwnErrorContext own_case(std::uint64_t i, std::size_t level) const {
    const network::Arithmetic& arithmetic = levels_[level].arithmetic;
    const bool product = checks_[i].actual.product;
    return {
        .dims = first_.dims(i),
        .half_step = product ? std::max(arithmetic.operand, arithmetic.result) : arithmetic.result,
        .product = product,
        .usual = peers_.usual(i, checks_[i].kind)};
  }

  OwnErrorAssessment weigh_layer(std::uint64_t i, std::size_t level,
                                 std::span<const std::uint32_t> without = {}) {
    const auto points = points_of(actual_, actual_dumps_.value_of(i), sample_of(i),
                                  scale_of(*report_.layers[i].figures), level, without);
    OwnErrorAssessment weight = assess_own_error(points, own_case(i, level));
    // Elements recomputed through other layers may be fewer.
    constexpr std::size_t kEnough = 16;
    if (points.size() < std::min<std::size_t>(kEnough, checks_[i].actual.checked))
      weight.outcome = OwnErrorAssessment::Outcome::matters;
    return weight;
  }

  // A few elements that are off may belong to a channel that is off as a whole; checks more of its
  // elements.
  OwnErrorAssessment assess_around(std::uint64_t i, std::size_t level, OwnErrorAssessment weight) {
    constexpr std::size_t kFew = 8;
    const auto& off = checks_[i].actual.off_numbers[level];
    if (weight.outcome != OwnErrorAssessment::Outcome::coarser || off.empty() || off.size() > kFew)
      return weight;
    const Layer& layer = report_.layers[i];
    std::vector<std::uint64_t> numbers = spot_around(off.front(), first_.dims(i), layer.name());
    const auto& sample = sample_of(i);
    numbers.insert(numbers.end(), sample.begin(), sample.end());
    const auto points =
        points_of(actual_, actual_dumps_.value_of(i), numbers, scale_of(*layer.figures), level);
    const OwnErrorAssessment again = assess_own_error(points, own_case(i, level));
    return again.outcome == OwnErrorAssessment::Outcome::matters ? again : weight;
  }

  // Whether the layer's error is a distance between numbers.
  bool is_assessable(std::uint64_t i, std::size_t level) const {
    const Layer& layer = report_.layers[i];
    return level + 1 < levels_.size() && !is_counted(layer) && info(*layer.actual_dtype).floating();
  }

  // The level stated for the layer, or else the one that explains most layers of its kind.
  std::optional<std::size_t> level_of_layer(std::uint64_t i) const {
    const auto said = computed_in(report_.layers[i], options_.judge);
    return said ? std::optional(level_of(*said)) : actual_level_[checks_[i].actual.product];
  }

  bool ranges_unknown(std::uint64_t i) const {
    const auto said = computed_in(report_.layers[i], options_.judge);
    return said ? !own_model_ && !info(*said).floating() : ranges_unknown_;
  }

  static void count(LevelVotes& votes, const SideCheck& check) {
    if (check.checked == 0) return;
    ++votes.layers;
    for (std::size_t level = 0; level < kSpotLevels; ++level)
      votes.follow[level] += level >= check.first_level && off_at(check, level) == 0 ? 1U : 0U;
  }

  // If the stored type is coarser than the level, it explains what is stored.
  static std::uint64_t off_at(const SideCheck& check, std::size_t level) {
    return check.off[std::max(level, check.first_level)];
  }

  void settle(std::uint64_t i) {
    Layer& layer = report_.layers[i];
    if (!layer.figures) return;
    const LayerChecks& checks = checks_[i];
    SpotCheck& spot = *layer.spot;
    if (spot.state == SpotState::unused) return;
    spot.checked = checks.actual.checked;
    spot.why = checks.actual.why;
    if (actual_dumps_.value_of(i) != kNoValue &&
        actual_.network.values()[actual_dumps_.value_of(i)].node == network::kNoNode)
      return settle_input(i, spot);
    if (spot.checked == 0) return;
    const auto level = level_of_layer(i);
    if (!level) {
      spot.why = "most layers do not follow from their inputs: a run of another model?";
      return;
    }
    const std::size_t own = std::max(*level, checks.actual.first_level);
    spot.precision = levels_[own].name;
    if (ranges_unknown(i) && (own + 1 == levels_.size() || checks.actual.off[own] > 0)) {
      spot.why = "it was computed in 8-bit codes, whose ranges only the model of that run tells";
      return;
    }
    spot.off = checks.actual.off[own];
    spot.overflowed = checks.actual.overflowed;
    if (is_assessable(i, own)) {
      spot.own_error = own_error_of(checks.actual);
      spot.usual_error = peers_.usual(i, checks.kind);
    }
    if (spot.off == 0) return follow(i, spot);
    if (is_assessable(i, own)) {
      const OwnErrorAssessment weight = assess_around(i, own, weigh_layer(i, own));
      if (weight.outcome == OwnErrorAssessment::Outcome::follows) return follow(i, spot);
      if (follows_unrounded(i, own, weight, spot)) return;
      spot.where = weight.where;
      if (!golden_agrees(i, own, spot)) return;
      if (weight.outcome == OwnErrorAssessment::Outcome::coarser) {
        spot.state = SpotState::coarser;
        spot.element = element_of(i, *checks.actual.worst[own]);
        return;
      }
    } else if (!golden_agrees(i, own, spot)) {
      return;
    }
    settle_off(i, own, spot);
  }

  // Elements beyond the type's largest number may have been finite in the device.
  void follow(std::uint64_t i, SpotCheck& spot) {
    spot.state = SpotState::follows;
    spot.off = 0;
    if (spot.overflowed == 0) return;
    const DumpVotes votes = poll_consumers(i, actual_dumps_.value_of(i), Replacement::recomputed);
    if (votes.other > votes.dump) spot.state = SpotState::rounded;
  }

  // A device may use a finer number than it dumps. Then what is computed from it follows from what
  // that number is computed from.
  bool follows_unrounded(std::uint64_t i, std::size_t level, const OwnErrorAssessment& weight,
                         SpotCheck& spot) {
    constexpr double kNearer = 4;
    std::vector<std::uint32_t> finer;
    for (const std::uint32_t read : checks_[i].actual.read) {
      const SpotCheck* const input = spot_of(read);
      if (input != nullptr && checks_[*actual_dumps_.find(read)->layer].actual.checked > 0 &&
          (input->state == SpotState::follows || input->state == SpotState::rounded))
        finer.push_back(read);
    }
    const auto explains = [&](std::span<const std::uint32_t> without) {
      const OwnErrorAssessment again = weigh_layer(i, level, without);
      const bool nearer = !(kNearer * again.own_error > weight.own_error);
      if (again.outcome != OwnErrorAssessment::Outcome::follows || !nearer) return false;
      spot.own_error = again.own_error;
      return true;
    };
    if (finer.empty() || !explains(finer)) return false;
    for (const std::uint32_t one : finer)
      if (explains(std::span(&one, 1))) {
        finer = {one};
        break;
      }
    spot.state = SpotState::follows;
    spot.off = 0;
    for (const std::uint32_t read : finer)
      report_.layers[*actual_dumps_.find(read)->layer].spot->state = SpotState::rounded;
    return true;
  }

  const SpotCheck* spot_of(std::uint32_t value) const {
    const DumpedValue* const dumped = actual_dumps_.find(value);
    if (dumped == nullptr || !dumped->layer) return nullptr;
    const auto& spot = report_.layers[*dumped->layer].spot;
    return spot ? &*spot : nullptr;
  }

  // If golden does not follow either, the model or its operator is not what was computed. Checked
  // where it matters.
  bool golden_agrees(std::uint64_t i, std::size_t level, SpotCheck& spot) {
    if (golden_is_other_) return true;
    const std::uint32_t value = golden_dumps_.value_of(i);
    SideCheck golden;
    if (value != kNoValue)
      golden = check_layer(golden_, value, sample_of(i), scale_of(*report_.layers[i].figures));
    spot.golden_checked = golden.checked;
    if (spot.golden_checked == 0) {
      if (own_model_) return true;
      spot.why = golden.why.empty() ? "golden cannot be checked" : golden.why;
      return false;
    }
    spot.golden_off = golden.off[std::max(level, golden.first_level)];
    if (spot.golden_off == 0) return true;
    // Golden has its own arithmetic, so its error need not be the same as actual's.
    constexpr double kApart = 4;
    if (spot.own_error && kApart * own_error_of(golden) < *spot.own_error) return true;
    spot.why = "golden does not follow from its own inputs either";
    if (!own_model_) {
      // The error is the model's, not the layer's.
      spot.own_error.reset();
      spot.usual_error.reset();
      spot.where.clear();
    }
    return own_model_;
  }

  void settle_off(std::uint64_t i, std::size_t level, SpotCheck& spot) {
    const LayerChecks& checks = checks_[i];
    const std::uint32_t value = actual_dumps_.value_of(i);
    if (follows_without_unused(i, level, spot)) return;
    if (blame_input(i, level)) {
      spot.why = "an input's dump is not what it was computed from";
      return;
    }
    spot.state = SpotState::off;
    spot.element = element_of(i, *checks.actual.worst[level]);
    spot.holds = layer_with_same_numbers(i);
    const DumpVotes votes = poll_consumers(i, value, Replacement::recomputed);
    if (votes.dump + votes.other > 0)
      spot.state = votes.other > votes.dump ? SpotState::unused : SpotState::used;
    // A ReLU that removes the fault leaves no trace of either version.
    else if (votes.both > 0 && votes.neither == 0)
      spot.state = SpotState::used;
    if (spot.state == SpotState::unused) unused_.push_back(value);
  }

  // Another layer that has exactly these numbers, its inputs first.
  std::string layer_with_same_numbers(std::uint64_t i) const {
    const LayerFigures& own = *report_.layers[i].figures;
    if (own.actual.peak == 0 || own.pairs < kManyHeld) return {};
    const auto is_same = [&](std::uint64_t other) {
      const auto& figures = report_.layers[other].figures;
      return other != i && figures && figures->elements == own.elements &&
             figures->actual.fingerprint == own.actual.fingerprint &&
             figures->actual.samples == own.actual.samples;
    };
    for (const std::uint32_t read : checks_[i].actual.read)
      if (const DumpedValue* const dumped = actual_dumps_.find(read);
          dumped != nullptr && dumped->layer && is_same(*dumped->layer))
        return report_.layers[*dumped->layer].name();
    for (std::uint64_t other = 0; other < report_.layers.size(); ++other)
      if (is_same(other)) return report_.layers[other].name();
    return {};
  }

  // Dumps that were not used explain what seems to be off after them.
  bool follows_without_unused(std::uint64_t i, std::size_t level, SpotCheck& spot) {
    const SideCheck& own = checks_[i].actual;
    std::vector<std::uint32_t> without;
    for (const std::uint32_t read : own.read)
      if (std::ranges::find(unused_, read) != unused_.end()) without.push_back(read);
    if (without.empty()) return false;
    const SideCheck again = check_layer(actual_, actual_dumps_.value_of(i), own.off_numbers[level],
                                        scale_of(*report_.layers[i].figures), without);
    if (again.checked > 0 && again.off[level] > 0 &&
        !(is_assessable(i, level) &&
          weigh_layer(i, level, without).outcome != OwnErrorAssessment::Outcome::matters))
      return false;
    spot.state = again.checked > 0 ? SpotState::follows : SpotState::unchecked;
    spot.why = "";
    spot.off = 0;
    if (again.checked == 0) spot.why = "the dump of an input is wrong";
    return true;
  }

  // An input that could not be checked itself may be dumped wrongly, which shows here.
  bool blame_input(std::uint64_t i, std::size_t level) {
    if (options_.judge.isolated || own_model_ || ranges_unknown_) return false;
    const SideCheck& own = checks_[i].actual;
    bool blamed = false;
    for (const std::uint32_t read : own.read) {
      const DumpedValue* const dumped = actual_dumps_.find(read);
      if (dumped == nullptr || !dumped->layer) continue;
      const Layer& input = report_.layers[*dumped->layer];
      if (!input.figures || input.spot->state != SpotState::unchecked ||
          input.figures->relative_error == 0)
        continue;
      const DumpVotes votes =
          consumer_votes(actual_, first_.golden_as_inputs(), read, actual_dumps_.value_of(i),
                         Replacement::golden, {level, level}, own.off_numbers[level]);
      if (votes.other <= votes.dump || votes.other * 2 < own.off[level]) continue;
      report_.layers[*dumped->layer].spot->state = SpotState::unused;
      unused_.push_back(read);
      blamed = true;
    }
    return blamed;
  }

  // Decides for an input of the network that differs from golden's whether the run used the dumped
  // numbers.
  void settle_input(std::uint64_t i, SpotCheck& spot) {
    const Layer& layer = report_.layers[i];
    const bool equal = layer.figures->equal == layer.figures->pairs;
    if (ranges_unknown_ || (equal && layer.figures->one_sided() == 0)) return;
    const std::uint32_t value = actual_dumps_.value_of(i);
    const DumpVotes votes = poll_consumers(i, value, Replacement::golden);
    if (votes.dump + votes.other == 0) return;
    spot.state = votes.other > votes.dump ? SpotState::unused : SpotState::used;
    if (spot.state == SpotState::unused) unused_.push_back(value);
  }

  DumpVotes poll_consumers(std::uint64_t i, std::uint32_t value, Replacement replacement) {
    constexpr std::size_t kMax = 4;
    DumpVotes all;
    std::size_t asked = 0;
    for (std::uint64_t c = 0; c < checks_.size() && asked < kMax; ++c) {
      const SideCheck& check = checks_[c].actual;
      if (c == i || check.checked == 0 || std::ranges::find(check.read, value) == check.read.end())
        continue;
      const auto level = level_of_layer(c);
      if (!level) continue;
      ++asked;
      // The recomputed numbers are as far from the device's as the layer's own arithmetic takes
      // them.
      const std::size_t asked_level = std::max(*level, check.first_level);
      const std::size_t own_level =
          std::max(level_of_layer(i).value_or(0), checks_[i].actual.first_level);
      const VoteLevels levels{.consumer = asked_level, .other = std::max(asked_level, own_level)};
      const DumpVotes votes =
          consumer_votes(actual_, first_.golden_as_inputs(), value, actual_dumps_.value_of(c),
                         replacement, levels, sample_of_consumer(c, i));
      // If the arithmetic is not known well enough for a single element, all together may decide.
      constexpr double kFarther = 64;
      if (votes.dump + votes.other == 0 && replacement == Replacement::recomputed) {
        all.dump += kFarther * votes.to_dump < votes.to_other ? 1U : 0U;
        all.other += kFarther * votes.to_other < votes.to_dump ? 1U : 0U;
      }
      all.dump += votes.dump;
      all.other += votes.other;
      all.both += votes.both;
      all.neither += votes.neither;
    }
    return all;
  }

  // Elements of a consumer: its own sample, and those that depend on elements that are off.
  std::vector<std::uint64_t> sample_of_consumer(std::uint64_t consumer, std::uint64_t i) {
    constexpr std::size_t kOfOff = 64;
    std::vector<std::uint64_t> numbers;
    const Dims& from = first_.dims(i);
    const Dims& to = first_.dims(consumer);
    const SideCheck& own = checks_[i].actual;
    std::size_t taken = 0;
    for (const std::uint64_t number : own.off_numbers[own.first_level]) {
      if (taken++ == kOfOff) break;
      const auto shadow = spot_shadow(number, from, to);
      numbers.insert(numbers.end(), shadow.begin(), shadow.end());
    }
    const auto& sample = sample_of(consumer);
    numbers.insert(numbers.end(), sample.begin(), sample.end());
    return numbers;
  }

  SpotElement element_of(std::uint64_t i, const OffElement& off) const {
    SpotElement element{.index = network::index_of(off.number, first_.dims(i)),
                        .actual = off.dumped,
                        .recomputed = off.recomputed,
                        .explained = std::isnan(off.explained) ? 0 : off.explained};
    const std::uint32_t value = golden_dumps_.value_of(i);
    if (value == kNoValue) return element;
    auto golden = golden_dumps_.open(*golden_dumps_.find(value));
    if (!golden || off.number >= golden->elements()) return element;
    if (const auto number = golden->at(off.number)) element.golden = *number;
    return element;
  }

  LayerReport& report_;
  const LayerOptions& options_;
  LayerShare* share_;     // results of shards, or nullptr
  bool own_model_;        // actual is a run of another model
  bool golden_is_other_;  // golden is not a run of the graph
  bool quantised_;        // only actual is a run of a quantised model
  std::uint64_t model_bytes_;
  std::span<const PrecisionLevel> levels_;
  InitialSpotChecks first_;
  const SpotDumps& actual_dumps_;
  const SpotDumps& golden_dumps_;
  SpotSide actual_;
  SpotSide golden_;
  static constexpr std::uint64_t kManyBits = 64;  // numbers that suffice to tell a type by its bits
  static constexpr std::uint64_t kManyHeld = 8;   // numbers that are not equal by chance

  std::vector<LayerChecks> checks_;
  SpotBudget budget_;  // for checks after the first ones
  Peers peers_;
  std::array<std::optional<std::size_t>, 2> actual_level_;  // of products, and of other operators
  bool ranges_unknown_ = false;        // of the codes in which actual was computed
  std::vector<std::uint32_t> unused_;  // dumps that the device did not use
};

}  // namespace

Status check_spots(TensorSet& actual, TensorSet& golden, const PairedLayers& paired,
                   const LayerOptions& options, LayerShare* share, LayerReport& report) {
  BTF_ASSIGN(const SpotGraphs graphs, SpotGraphs::read(options, report));
  if (options.actual_graph) report.actual_graph_path = *options.actual_graph;
  SpotChecks checks(graphs, actual, golden, paired, options, share, report);
  report.actual_flat |= checks.has_flat(true);
  report.golden_flat |= checks.has_flat(false);
  BTF_TRY(checks.run());
  return graphs.check_unchanged();
}

}  // namespace btf
