#include "diff/layers/spot/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "diff/hints/evidence/value_limits.h"

namespace btf {
namespace {

using network::Estimate;
using network::Evaluation;
using network::StoredNumbers;
using network::Tensor;

// Estimates are bounds of what is likely, not of what is possible.
constexpr double kSlack = 2;
// Below these a device may flush a result to zero: 2^-14 of float16; of others 2^-126, for each of
// the many terms of a sum.
constexpr double kLeastFloat16 = 0x1p-14;
constexpr double kLeastFloat32 = 0x1p-110;
constexpr double kLargestFloat16 = 65504;

bool is_product(std::string_view op) {
  return op.contains("Conv") || op.contains("MatMul") || op == "Gemm" || op == "Einsum" ||
         op == "LSTM" || op == "GRU" || op == "RNN";
}

bool is_float16(const network::Arithmetic& arithmetic) { return arithmetic.result == 0x1p-11; }

class LayerCheck {
 public:
  LayerCheck(const SpotSide& side, std::uint32_t value, const LayerScale& scale,
             std::span<const std::uint32_t> without)
      : side_(side),
        value_(value),
        scale_(scale),
        levels_end_(side.levels.size()),
        evaluation_(side.network, stored_in(side.input_dumps, found_.read), side.terms()) {
    for (const std::uint32_t other : without) evaluation_.leave_out(other);
  }
  ~LayerCheck() {
    if (side_.work != nullptr) side_.work->take(evaluation_);
  }
  LayerCheck(const LayerCheck&) = delete;
  LayerCheck& operator=(const LayerCheck&) = delete;

  SideCheck run(std::span<const std::uint64_t> sample) {
    found_.least_level = side_.least_level;
    if (const Status status = check(sample); !status) {
      found_.why = status.error().text();
      found_.checked = 0;
    }
    found_.terms = evaluation_.most_terms_taken();
    found_.ran_out = evaluation_.ran_out();
    return std::move(found_);
  }

  // As many as can be had.
  std::vector<SpotPoint> points(std::span<const std::uint64_t> sample, std::size_t level) {
    std::vector<SpotPoint> points;
    const Status unused = collect(sample, level, points);
    return points;
  }

 private:
  Status collect(std::span<const std::uint64_t> sample, std::size_t level,
                 std::vector<SpotPoint>& points) {
    const DumpedValue* const dumped = side_.dumps.find(value_);
    if (dumped == nullptr) return {};
    BTF_ASSIGN(StoredNumbers stored, side_.dumps.open(*dumped));
    const network::Arithmetic& arithmetic = side_.levels[level].arithmetic;
    BTF_ASSIGN(Tensor* const tensor, computed_at(level, stored));
    for (const std::uint64_t number : sample) {
      BTF_ASSIGN(const double actual, stored.at(number));
      const Estimate recomputed = tensor->at(number);
      if (!evaluation_.effort().trouble.empty()) break;
      const double explained = explained_distance(recomputed, stored, number, arithmetic, scale_);
      BTF_ASSIGN(const bool at_end, stored.at_end(number));
      const bool off =
          !follows(actual, recomputed, explained, *stored.tensor().dtype, arithmetic) &&
          !(at_end && std::abs(recomputed.value) > std::abs(actual));
      points.push_back({number, actual, recomputed.value, explained, off});
    }
    return {};
  }

  Status check(std::span<const std::uint64_t> sample) {
    const DumpedValue* const dumped = side_.dumps.find(value_);
    if (dumped == nullptr) return network::not_computed("it is not in the graph");
    if (side_.network.values()[value_].node == network::kNoNode)
      return network::not_computed("no node of the graph makes it");
    BTF_ASSIGN(StoredNumbers stored, side_.dumps.open(*dumped));
    const DType dtype = *stored.tensor().dtype;
    found_.first_level =
        std::max(side_.least_level, stored.scaled() ? std::size_t{0} : first_level(dtype));
    // An element at all levels before the next one: what it is computed from is read once.
    for (const std::uint64_t number : sample) {
      if (levels_end_ == found_.first_level) break;
      for (std::size_t level = found_.first_level; level < levels_end_; ++level) {
        BTF_ASSIGN(const bool off, is_off(level, number, stored));
        if (!off) break;
      }
    }
    for (std::size_t level = 0; level < side_.levels.size(); ++level)
      found_.off[level] = found_.off_numbers[level].size();
    found_.product = std::ranges::any_of(evaluation_.operators(), is_product);
    return {};
  }

  Result<Tensor*> computed_at(std::size_t level, const StoredNumbers& stored) {
    evaluation_.set(side_.levels[level].arithmetic);
    BTF_ASSIGN(Tensor* const tensor, evaluation_.computed(value_));
    if (tensor->elements() != stored.elements())
      return network::not_computed("it should have the dims " + dims_text(tensor->dims()) +
                                   ", and has " + dims_text(stored.tensor().dims));
    if (tensor->floating() && !info(*stored.tensor().dtype).floating() && !stored.scaled())
      return network::not_computed("its numbers are codes without a scale");
    return tensor;
  }

  // One that is off is asked again at the next level.
  Result<bool> is_off(std::size_t level, std::uint64_t number, StoredNumbers& stored) {
    constexpr std::uint64_t kEnough = 16;
    const network::Arithmetic& arithmetic = side_.levels[level].arithmetic;
    BTF_ASSIGN(Tensor* const tensor, computed_at(level, stored));
    BTF_ASSIGN(const double dumped, stored.at(number));
    const Estimate recomputed = tensor->at(number);
    if (!evaluation_.effort().trouble.empty()) {
      // The first ones are the worst, so that a part of the sample tells something.
      if (level == found_.first_level && found_.checked < kEnough)
        return network::not_computed(evaluation_.effort().trouble);
      levels_end_ = level;
      return false;
    }
    if (level == found_.first_level) {
      ++found_.checked;
      add_own(dumped, recomputed.value);
    }
    const double explained = explained_distance(recomputed, stored, number, arithmetic, scale_);
    if (follows(dumped, recomputed, explained, *stored.tensor().dtype, arithmetic)) {
      found_.overflowed += std::isinf(dumped) && std::isfinite(recomputed.value) ? 1U : 0U;
      return false;
    }
    BTF_ASSIGN(const bool at_end, stored.at_end(number));
    if (at_end && std::abs(recomputed.value) > std::abs(dumped)) return false;
    found_.off_numbers[level].push_back(number);
    const double distance = std::abs(dumped - recomputed.value);
    const double times = std::isfinite(distance) && explained > 0
                             ? distance / explained
                             : std::numeric_limits<double>::max();
    if (!found_.worst[level] || times > worst_[level]) {
      worst_[level] = times;
      found_.worst[level] = {number, dumped, recomputed.value, explained};
    }
    return true;
  }

  void add_own(double dumped, double recomputed) {
    if (!std::isfinite(dumped) || !std::isfinite(recomputed)) return;
    found_.off_square += (dumped - recomputed) * (dumped - recomputed);
    found_.square += recomputed * recomputed;
  }

  const SpotSide& side_;
  std::uint32_t value_;
  LayerScale scale_;
  SideCheck found_;
  std::array<double, kSpotLevels> worst_{};  // times what is explained
  std::size_t levels_end_;                   // the first that takes more effort than is allowed
  Evaluation evaluation_;
};

}  // namespace

network::FindStored stored_in(const SpotDumps& dumps, std::vector<std::uint32_t>& read) {
  return [&dumps, &read](std::uint32_t value) -> Result<std::optional<StoredNumbers>> {
    const DumpedValue* const dumped = dumps.find(value);
    if (dumped == nullptr) return std::nullopt;
    BTF_ASSIGN(StoredNumbers numbers, dumps.open(*dumped));
    read.push_back(value);
    return numbers;
  };
}

bool is_anything(const Estimate& recomputed) {
  return std::isnan(recomputed.value) && std::isinf(recomputed.error);
}

double explained_distance(const Estimate& recomputed, const StoredNumbers& stored,
                          std::uint64_t number, const network::Arithmetic& arithmetic,
                          const LayerScale& scale) {
  // What is below the type's normal range, or below a half step of the tensor's usual numbers, is
  // no evidence.
  const double least = std::max(is_float16(arithmetic) ? kLeastFloat16 : kLeastFloat32,
                                arithmetic.result * scale.rms);
  const bool floats = stored.scaled() || info(*stored.tensor().dtype).floating();
  const double half = std::max(stored.half_step(number, recomputed.value),
                               floats ? arithmetic.result * std::abs(recomputed.value) : 0);
  return kSlack * recomputed.error + half + least + kSlack * arithmetic.grid * scale.peak;
}

bool follows(double dumped, const Estimate& recomputed, double explained, DType dtype,
             const network::Arithmetic& arithmetic) {
  const double value = recomputed.value;
  if (is_anything(recomputed)) return true;
  if (std::isnan(value) || std::isnan(dumped)) return std::isnan(value) && std::isnan(dumped);
  if (std::abs(dumped - value) <= explained || dumped == value) return true;
  // Beyond the largest number of the type there is Inf, or that number again.
  const double limit =
      std::min(static_cast<double>(hints::limits_of(dtype).highest),
               is_float16(arithmetic) ? kLargestFloat16 : std::numeric_limits<double>::max());
  return std::abs(value) + explained >= limit && std::abs(dumped) >= limit &&
         std::signbit(value) == std::signbit(dumped);
}

LayerScale scale_of(const LayerFigures& figures) {
  const double n = std::sqrt(static_cast<double>(std::max<std::uint64_t>(figures.pairs, 1)));
  return {.peak = figures.actual.peak,
          .rms = std::min(figures.actual.norm, figures.golden.norm) / n};
}

SideCheck check_layer(const SpotSide& side, std::uint32_t value,
                      std::span<const std::uint64_t> sample, const LayerScale& scale,
                      std::span<const std::uint32_t> without) {
  return LayerCheck(side, value, scale, without).run(sample);
}

std::vector<SpotPoint> points_of(const SpotSide& side, std::uint32_t value,
                                 std::span<const std::uint64_t> sample, const LayerScale& scale,
                                 std::size_t level, std::span<const std::uint32_t> without) {
  return LayerCheck(side, value, scale, without).points(sample, level);
}

}  // namespace btf
