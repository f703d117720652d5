#include "diff/layers/noise_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "diff/hints/evidence/grids.h"
#include "formats/io/file_names.h"

namespace btf {

bool is_one_of(std::string_view op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool has_word(std::string_view name, std::span<const std::string_view> words) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(words, [&](std::string_view word) {
    const std::size_t at = lower.find(word);
    const auto letter = [&](std::size_t i) {
      return i < lower.size() && lower[i] >= 'a' && lower[i] <= 'z';
    };
    return at != lower.npos &&
           (word.size() > 3 || ((at == 0 || !letter(at - 1)) && !letter(at + word.size())));
  });
}

bool is_weight(const Layer& layer) { return layer.role == "weight"; }
bool is_given(const Layer& layer) { return is_weight(layer) || layer.role == "outside"; }

bool can_judge(const Layer& layer) { return layer.placed && can_measure(layer); }

bool can_measure(const Layer& layer) {
  return layer.figures && layer.figures->pairs > 0 &&
         (layer.figures->golden.norm > 0 || layer.figures->actual.norm == 0) && !is_counted(layer);
}

bool is_recomputed(const Layer& layer) {
  return layer.spot && layer.spot->state != SpotState::unchecked;
}

bool adds_too_much(const Layer& layer, const LayerLimits& options) {
  return options.most_own_error && is_recomputed(layer) && layer.spot->own_error &&
         *layer.spot->own_error > *options.most_own_error;
}

bool is_arithmetic(SpotState state) {
  return state == SpotState::follows || state == SpotState::coarser || state == SpotState::rounded;
}

bool was_judged(const Layer& layer) {
  return layer.state == LayerState::healthy && layer.figures && layer.figures->pairs > 0;
}

Neighbours::Neighbours(const LayerReport& report)
    : by_graph_(report.linked()), consumers_(report.layers.size()) {
  // By order alone the next layers count as consumers.
  constexpr std::size_t kNext = 3;
  const auto& layers = report.layers;
  for (std::uint64_t i = 0; i < layers.size(); ++i) {
    // NaN and Inf may leave no pair of numbers, but their effects must still be followed.
    const bool special =
        layers[i].placed && layers[i].figures && layers[i].figures->one_sided() > 0;
    if (!can_judge(layers[i]) && (by_graph_ || !special)) continue;
    if (by_graph_) {
      for (const std::uint64_t input : layers[i].inputs)
        if (input != i) consumers_[input].push_back(i);
      continue;
    }
    for (std::uint64_t next = i + 1; next < layers.size() && consumers_[i].size() < kNext; ++next)
      if (can_judge(layers[next]) && !is_given(layers[next])) consumers_[i].push_back(next);
  }
}

void Inputs::take(const Layer& layer, bool add) {
  if (layer.state == LayerState::dump || !layer.figures || !layer.placed) return;
  const LayerFigures& f = *layer.figures;
  special = special || f.one_sided() > 0;
  exact = exact && f.equal == f.pairs;
  if (!can_judge(layer)) return;
  // A tensor with one slice has no other error than its own.
  const double slice = std::max(f.slice_error, f.relative_error);
  const auto merge = [&](double all, double one) {
    return add ? root_sum_of_squares(all, one) : std::max(all, one);
  };
  relative_error = merge(relative_error, f.relative_error);
  slice_error = merge(slice_error, slice);
  gain_share = std::max(gain_share, f.gain_share);
  offset_share = std::max(offset_share, f.offset_share);
  adding += f.error;
  adding_slices += slice * f.golden.norm;
  const double n = static_cast<double>(f.pairs);
  const double spread = f.golden.norm * f.golden.norm - f.golden.sum * f.golden.sum / n;
  if (f.error > 0)
    spread_error = std::max(spread_error, spread > 0 ? f.error / std::sqrt(spread) : HUGE_VAL);
  unit_roundoff = std::max(unit_roundoff, layer.unit_roundoff);
  rms_error = std::max(rms_error, f.error / std::sqrt(n));
  peak = std::max(peak, f.golden.peak);
}

Inputs order_inputs(const std::vector<Layer>& all, std::uint64_t i, const Inputs& before) {
  constexpr std::uint64_t kNear = 3;
  Inputs near;
  for (std::uint64_t last = i - std::min(i, kNear); last < i; ++last) near.take(all[last], false);
  Inputs in = before;
  in.gain_share = near.gain_share;
  in.offset_share = near.offset_share;
  in.adding = near.adding;
  in.spread_error = near.spread_error;
  in.rms_error = near.rms_error;
  in.peak = near.peak;
  in.unit_roundoff = near.unit_roundoff;
  in.direct = false;
  return in;
}

Inputs graph_inputs(const std::vector<Layer>& all, std::uint64_t i, std::uint64_t without) {
  Inputs in;
  in.direct = all[i].unseen.empty();
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> open = all[i].inputs;
  while (!open.empty()) {
    const std::uint64_t input = open.back();
    open.pop_back();
    if (!seen.insert(input).second) continue;
    const Layer& layer = all[input];
    if (input != without && layer.state != LayerState::dump && layer.figures) {
      in.take(layer, true);
      continue;
    }
    in.direct = false;
    open.insert(open.end(), layer.inputs.begin(), layer.inputs.end());
  }
  return in;
}

namespace {

constexpr unsigned kFloat32Bits = 24;
constexpr unsigned kFloat64Bits = 53;
constexpr int kFloat16Bits = 11;
constexpr int kBfloat16Bits = 8;

unsigned significand_bits(DType dtype) { return info(dtype).fp.mantissa_bits + 1U; }

// Integers that are numbers rather than indices have few bits.
bool is_number(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.floating() || (row.kind != NumberKind::boolean && row.bits <= 16);
}

double rms(const LayerSide& side, std::uint64_t pairs) {
  return pairs == 0 ? 0 : side.norm / std::sqrt(static_cast<double>(pairs));
}

// The rms error of rounding to steps, relative to the signal.
double step_u(double step, double signal) {
  return signal > 0 ? step / std::sqrt(12.0) / signal : 0;
}

// Unit roundoff of integers whose scale maps the largest number to the end of the range.
double integer_u(DType dtype, const LayerFigures& figures) {
  const auto most = static_cast<double>(hints::limits_of(dtype).highest);
  const double range = info(dtype).kind == NumberKind::unsigned_integer ? most / 2 : most;
  return step_u(figures.golden.peak / range, rms(figures.golden, figures.pairs));
}

// Significant bits of the coarser of the two stored floats.
unsigned stored_bits(const Layer& layer) {
  unsigned bits = kFloat64Bits;
  for (const DType dtype : {*layer.actual_dtype, *layer.golden_dtype})
    if (info(dtype).floating()) bits = std::min(bits, significand_bits(dtype));
  return bits;
}

// Float types by the significant bits seen in the numbers, which may be one fewer than the type
// has.
struct FloatTypeRow {
  unsigned bits = 0;
  std::string_view name;
};

constexpr auto kFloatTypes = std::to_array<FloatTypeRow>({
    {3, "float8_e5m2"},
    {4, "float8_e4m3"},
    {8, "bfloat16"},
    {11, "float16"},
});

// A few numbers may form a grid by themselves, as positions do.
bool on_grid(const Layer& layer) {
  const LayerFigures& figures = *layer.figures;
  if (!info(*layer.actual_dtype).floating()) return true;
  return figures.actual.step > 0 && (figures.pairs >= kManyElements || figures.golden.step == 0) &&
         is_coarser(figures, figures.actual.peak,
                    std::ldexp(1.0, -static_cast<int>(stored_bits(layer))));
}

// The precision in which layers were recomputed, if it is coarser than the stored dtype.
struct PrecisionRow {
  std::string_view name;
  double unit_roundoff = 0;
  bool grid = false;
};

constexpr auto kPrecisions = std::to_array<PrecisionRow>({
    {"TF32", 0x1p-11},
    {"float16", 0x1p-11},
    {"bfloat16", 0x1p-8},
    {"int8", 0, true},
});

// The coarsest of them; nullptr if all recomputed layers agree at the precision of their dtype.
const PrecisionRow* recomputed_in(const LayerReport& report) {
  const PrecisionRow* coarsest = nullptr;
  for (const Layer& layer : report.layers) {
    if (!layer.spot || layer.spot->state == SpotState::unchecked) continue;
    const auto row = std::ranges::find(kPrecisions, layer.spot->precision, &PrecisionRow::name);
    if (row != kPrecisions.end() && (coarsest == nullptr || &*row > coarsest)) coarsest = &*row;
  }
  return coarsest;
}

RunPrecision stored_precision(const LayerReport& report);

double float_u(DType dtype) { return std::ldexp(1.0, -static_cast<int>(significand_bits(dtype))); }

// The type in which most layers compute, by the engine's list; unset if it covers few layers.
std::optional<RunPrecision> engine_precision(const LayerReport& report) {
  std::vector<std::uint64_t> layers(dtypes().size(), 0);
  std::uint64_t all = 0;
  std::string names;
  for (const Layer& layer : report.layers) {
    if (!layer.figures || is_counted(layer)) continue;
    ++all;
    for (std::size_t i = 0; layer.compute && i < layers.size(); ++i) {
      if (dtypes()[i].dtype != *layer.compute) continue;
      if (layers[i]++ == 0) names += (names.empty() ? "" : ", ") + std::string(dtypes()[i].name);
    }
  }
  const auto most = std::ranges::max_element(layers);
  if (names.empty() || 2 * std::accumulate(layers.begin(), layers.end(), std::uint64_t{0}) < all)
    return std::nullopt;
  const DTypeInfo& row = dtypes()[static_cast<std::size_t>(most - layers.begin())];
  return RunPrecision{.unit_roundoff = row.floating() ? float_u(row.dtype) : 0,
                      .grid = false,
                      .source = "the engine's types (" + names + ")"};
}

// The codes of a quantised model, from the grids of its dequantised numbers.
struct QuantisedRun {
  std::uint64_t layers = 0;
  std::uint64_t wide = 0;  // of these, layers with more than 8 bits
};

double step_of(const Layer& layer) {
  const LayerFigures& figures = *layer.figures;
  if (figures.actual.scale > 0) return figures.actual.scale;
  // For a pair with one quantised side, that side's step.
  const bool golden = layer.tier == PairTier::qdq && figures.actual.step == 0;
  return golden ? figures.golden.step : figures.actual.step;
}

// More than 8 bits, by the number of steps up to the largest number.
bool is_wide(const Layer& layer, double step) {
  constexpr double kNarrow = 300;
  return layer.figures->golden.peak > kNarrow * step;
}

QuantisedRun quantised_run(const LayerReport& report) {
  QuantisedRun run;
  for (const Layer& layer : report.layers) {
    if (layer.tier != PairTier::qdq || !layer.figures) continue;
    const double step = step_of(layer);
    if (!(step > 0)) continue;
    ++run.layers;
    run.wide += is_wide(layer, step) ? 1U : 0U;
  }
  return run;
}

}  // namespace

std::string codes_text(const LayerReport& report) {
  const QuantisedRun run = quantised_run(report);
  const std::string_view bits = 2 * run.wide > run.layers ? "16-bit" : "8-bit";
  return std::string(bits) + " codes of a quantised model (" + std::to_string(run.layers) +
         " layer" + (run.layers == 1 ? ")" : "s)");
}

std::optional<DType> computed_in(const Layer& layer, const LayerLimits& options) {
  for (auto rule = options.computes.rbegin(); rule != options.computes.rend(); ++rule)
    if (glob_matches(rule->glob, layer.golden) || glob_matches(rule->glob, layer.actual))
      return rule->dtype;
  return options.compute ? options.compute : layer.compute;
}

bool is_counted(const Layer& layer) {
  return layer.golden_dtype && layer.actual_dtype &&
         (!is_number(*layer.golden_dtype) || !is_number(*layer.actual_dtype)) &&
         !info(*layer.golden_dtype).floating() &&
         !(layer.figures && layer.figures->golden.scale > 0);
}

RunPrecision run_precision(const LayerReport& report, const LayerLimits& options) {
  if (options.compute) {
    const DTypeInfo& row = info(*options.compute);
    return {.unit_roundoff = row.floating() ? float_u(row.dtype) : 0,
            .grid = !row.floating(),
            .source = "`judge.compute` " + std::string(row.name)};
  }
  if (auto precision = engine_precision(report)) return *std::move(precision);
  RunPrecision precision = stored_precision(report);
  const PrecisionRow* const row = recomputed_in(report);
  if (row == nullptr || precision.grid ||
      (!row->grid && row->unit_roundoff <= precision.unit_roundoff))
    return precision;
  return {.unit_roundoff = std::max(precision.unit_roundoff, row->unit_roundoff),
          .grid = row->grid,
          .source = std::string(row->name) + ", which explains the recomputed layers"};
}

namespace {

RunPrecision stored_precision(const LayerReport& report) {
  // The coarsest dtype that most layers of either side have, or show in their bits.
  std::vector<unsigned> stored;
  std::vector<unsigned> shown;
  std::vector<unsigned> few;  // of layers that are too small for a conclusion
  std::size_t grids = 0;
  std::size_t told = 0;
  for (const Layer& layer : report.layers) {
    if (!layer.figures || is_counted(layer) || !layer.actual_dtype || !layer.golden_dtype) continue;
    const unsigned bits = stored_bits(layer);
    // A few numbers, or a repeated one, have few bits by themselves.
    const LayerFigures& figures = *layer.figures;
    constexpr std::uint64_t kFew = 64;
    constexpr double kConstant = 0.999;
    if (figures.pairs < kFew || figures.actual.bits == 0 ||
        rms(figures.actual, figures.pairs) >= kConstant * figures.actual.peak) {
      few.push_back(bits);
      continue;
    }
    stored.push_back(bits);
    shown.push_back(std::min(bits, layer.figures->actual.bits));
    ++told;
    grids += on_grid(layer) ? 1U : 0U;
  }
  if (stored.empty()) stored = shown = few.empty() ? std::vector{kFloat32Bits} : few;
  std::ranges::sort(stored);
  std::ranges::sort(shown);
  const unsigned usual = stored[stored.size() / 2];
  const unsigned seen = shown[shown.size() / 2];
  const auto named = [](unsigned bits) -> std::string {
    for (const FloatTypeRow& row : kFloatTypes)
      if (bits <= row.bits) return std::string(row.name);
    return bits <= kFloat32Bits ? "float32" : "float64";
  };
  const auto u_of = [](unsigned bits) { return std::ldexp(1.0, -static_cast<int>(bits)); };
  if (quantised_run(report).layers > 0)
    return {.unit_roundoff = u_of(usual), .grid = true, .source = codes_text(report)};
  if (grids * 2 > told)
    return {.unit_roundoff = u_of(usual),
            .grid = true,
            .source = "few different numbers, as 8-bit types have"};
  if (seen + 1 < usual && seen <= kFloatTypes.back().bits)
    return {.unit_roundoff = u_of(seen),
            .source = "bits of " + named(seen) + " in " + named(usual)};
  return {.unit_roundoff = u_of(usual), .source = named(usual)};
}

}  // namespace

bool is_coarser(const LayerFigures& figures, double peak, double u) {
  // Where few of the steps are taken, the mean step is longer.
  const double least = figures.pairs < kManyElements ? 4 : 2;
  if (!(peak > 0) || !std::isfinite(peak)) return figures.actual.step > 0;
  return figures.actual.step > least * 2 * u * std::ldexp(1.0, std::ilogb(peak));
}

std::optional<RunPrecision> coarser_than(const RunPrecision& run, const Layer& layer, double u,
                                         const LayerLimits& options) {
  if (run.grid || computed_in(layer, options)) return std::nullopt;
  const double half = std::ldexp(1.0, -kFloat16Bits);
  if (run.unit_roundoff < half && u < half)
    return RunPrecision{.unit_roundoff = half,
                        .source = "float16 or TF32, estimated from the first product"};
  // bfloat16 products with float32 for sums and everything else leave no trace in the bits of
  // dumps.
  const double half_bfloat16 = std::ldexp(1.0, -kBfloat16Bits);
  if (run.unit_roundoff < half_bfloat16 && u < half_bfloat16)
    return RunPrecision{.unit_roundoff = half_bfloat16,
                        .source = "bfloat16, estimated from the first product"};
  if (u < integer_u(DType::int8, *layer.figures))
    return RunPrecision{.unit_roundoff = run.unit_roundoff,
                        .grid = true,
                        .source = "int8, estimated from the first product",
                        .guessed_grid = true};
  return std::nullopt;
}

double layer_u(const Layer& layer, const RunPrecision& run, const LayerLimits& options) {
  const LayerFigures& figures = *layer.figures;
  const std::optional<DType> compute = computed_in(layer, options);
  double u = compute && info(*compute).floating() ? float_u(*compute) : run.unit_roundoff;
  const double signal = rms(figures.golden, figures.pairs);
  for (const auto& [dtype, scale] : {std::pair(layer.actual_dtype, figures.actual.scale),
                                     std::pair(layer.golden_dtype, figures.golden.scale)}) {
    if (!dtype) continue;
    if (scale > 0)
      u = std::max(u, step_u(scale, signal));
    else if (info(*dtype).floating())
      u = std::max(u, float_u(*dtype));
    else if (figures.scale_fitted)
      u = std::max(u, integer_u(*dtype, figures));
    else if (is_number(*dtype))
      u = std::max(u, step_u(1, signal));
  }
  if (compute && !info(*compute).floating()) return std::max(u, integer_u(*compute, figures));
  if (run.grid && !compute) {
    // A layer on no grid is computed from layers on grids. Weights have 8 bits even where a
    // quantised model's codes have 16.
    const double step = step_of(layer);
    const bool wide = layer.tier == PairTier::qdq && is_wide(layer, step);
    u = std::max(u, step > 0 && !wide ? step_u(step, signal) : integer_u(DType::int8, figures));
  }
  return u;
}

bool is_by_baseline(const LayerReport& report) {
  const auto has = [](const Layer& layer) { return layer.baseline.has_value(); };
  return std::ranges::any_of(report.layers, has) &&
         std::ranges::all_of(report.layers,
                             [&](const Layer& layer) { return !layer.figures || has(layer); });
}

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSteps = 4;

// The error of the worst slice may grow faster.
constexpr double kSliceGrowth = 3;
constexpr double kSliceSteps = 8;

// This share of an error is proportional to the signal, or constant, where a scale or an offset is
// wrong.
constexpr double kSystematic = 0.8;
constexpr double kSystematicInputs = 0.5;

}  // namespace

double times_noise(double e, double noise) {
  if (e == 0) return 0;
  return noise > 0 ? e / noise : kInf;
}

LayerFault systematic_fault(const LayerFigures& figures, const Inputs& in) {
  if (figures.gain_share >= kSystematic && in.gain_share < kSystematicInputs)
    return LayerFault::gain;
  if (figures.offset_share >= kSystematic && in.offset_share < kSystematicInputs)
    return LayerFault::offset;
  return LayerFault::none;
}

bool is_op(const Layer& layer, std::span<const std::string_view> ops,
           std::span<const std::string_view> words) {
  return layer.op.empty() ? has_word(layer.name(), words) : is_one_of(layer.op, ops);
}

bool is_off_unplaced(const Layer& layer) {
  return !layer.placed && layer.state == LayerState::unjudged &&
         layer.error_to_noise >= kBrokenLimit;
}

double floor_of(const Layer& layer) { return kSteps * layer.unit_roundoff; }

bool NoiseModel::adds(const Layer& layer, const Inputs& in) const {
  return neighbours_.by_graph() && in.direct && is_one_of(layer.op, kAdding);
}

// A quantised product is as coarse as its operands.
double NoiseModel::u_of(const Layer& layer, const Inputs& in) const {
  return precision_.grid ? std::max(layer.unit_roundoff, in.unit_roundoff) : layer.unit_roundoff;
}

double NoiseModel::noise(const Layer& layer, const Inputs& in) const {
  const double carried = adds(layer, in) ? in.adding / layer.figures->golden.norm
                                         : options_.growth * in.relative_error;
  return root_sum_of_squares(carried, kSteps * u_of(layer, in));
}

double NoiseModel::slice_noise(const Layer& layer, const Inputs& in) const {
  const double carried = adds(layer, in) ? in.adding_slices / layer.figures->golden.norm
                                         : kSliceGrowth * in.slice_error;
  return root_sum_of_squares(carried, kSliceSteps * u_of(layer, in));
}

// Operators that only move numbers have other slices than their input, and a difference among
// logits is larger among probabilities.
double NoiseModel::slice_limit(const Layer& layer) const {
  if (is_op(layer, kMoving, kMovingWords)) return kInf;
  const bool exponential = is_op(layer, kExponentials, kExponentialWords);
  return exponential ? std::max(options_.limit, kBrokenLimit) : options_.limit;
}

}  // namespace btf
