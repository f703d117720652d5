// One spot check: recomputes elements of one layer of one run from the inputs that the same run
// dumped, at several precisions, and finds those that are off.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/layers.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"
#include "network/evaluation.h"
#include "network/network.h"
#include "network/node.h"

namespace btf {

// The dumped tensor of one side that is a value of a network.
struct DumpedValue {
  SetTensor tensor;
  std::optional<std::uint64_t> layer{};  // its position among the report's layers
  // The network's dims, if the dump has all elements in one row, or a row for each run.
  std::optional<Dims> dims{};
  bool dims_known = true;
};

// The dumps of one side, by the values of a network. May be used from several threads.
class SpotDumps {
 public:
  // All of them must outlive it. `places`: the position of each layer in the report, by its number,
  // or kNowhere. `fitted`: codes without a scale are not numbers of the network; otherwise the
  // network itself computes with codes.
  SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
            const LayerOptions& options, bool of_actual, const std::vector<std::uint64_t>& places,
            const LayerReport& report, bool fitted);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

  // nullptr if the value was not dumped.
  const DumpedValue* find(std::uint32_t value) const;
  // The value that a layer of the report is; kNoValue if none.
  std::uint32_t value_of(std::uint64_t layer) const;
  // The dims in which the network numbers the layer's elements.
  const Dims& dims_of(std::uint64_t layer) const;
  // Whether any dump has other dims than the network.
  bool has_flat() const;
  TensorSet& set() const { return set_; }
  // Fails with the reason why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedValue& dumped) const;
  // All read errors, even if the numbers were not needed.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }

 private:
  void find_dims(const network::Network& network);
  std::optional<Dims> own_dims(const DumpedValue& dumped) const;
  Result<network::StoredNumbers> open_locked(const DumpedValue& dumped) const;
  Status read_once(const DumpedValue& dumped, network::StoredNumbers& numbers) const;
  std::string name_of(const DumpedValue& dumped) const;

  TensorSet& set_;
  const PairedLayers& paired_;
  const LayerOptions& options_;
  bool of_actual_;
  const LayerReport& report_;
  bool fitted_;
  std::unordered_map<std::uint32_t, DumpedValue> dumped_;
  std::unordered_map<std::uint64_t, std::uint32_t> values_;  // of layers
  // Dumps without a layer that were read completely.
  mutable std::set<std::pair<std::uint64_t, std::uint64_t>> read_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  mutable std::mutex mutex_;
};

// A precision in which a run may have been computed.
struct PrecisionLevel {
  std::string_view name;
  network::Arithmetic arithmetic;
};

inline constexpr std::size_t kSpotLevels = 5;

// From the finest to the coarsest: float32, TF32 (operands of products only), float16, bfloat16,
// 8-bit codes. `accumulate`: the type in which products are summed.
std::span<const PrecisionLevel> spot_levels(std::optional<DType> accumulate);

// The first level whose results are rounded at least as coarsely.
std::size_t level_at(double unit_roundoff);

// The first level that is no finer than the stored dtype.
std::size_t first_level(DType stored);

// The level of the dtype in which a device is known to compute.
std::size_t level_of(DType compute);

// How many layers of a kind follow from their inputs at each level.
struct LevelVotes {
  std::uint64_t layers = 0;
  std::uint64_t follow[kSpotLevels] = {};

  // The finest level that explains nearly as many layers as any level; unset if none explains half
  // of them.
  std::optional<std::size_t> choose() const;
};

// An element that did not follow at the coarsest level that was tried.
struct OffElement {
  std::uint64_t number = 0;
  double dumped = 0;
  double recomputed = 0;
  double explained = 0;
};

// An element and what its inputs give.
struct SpotPoint {
  std::uint64_t number = 0;
  double dumped = 0;
  double recomputed = 0;
  double explained = 0;  // at the level in question
  bool off = false;      // at the level in question
};

// Sizes of a layer's numbers, to tell what is too small to matter.
struct LayerScale {
  double peak = 0;  // the largest magnitude of actual
  double rms = 0;   // the smaller of the two sides
};

LayerScale scale_of(const LayerFigures& figures);

// The result for one layer on one side: do its elements follow from its inputs?
struct SideCheck {
  std::size_t least_level = 0;    // see SpotSide
  std::uint64_t model_bytes = 0;  // size of the graph's file, if a shard did the check
  std::uint64_t checked = 0;
  std::array<std::uint64_t, kSpotLevels>
      off{};  // for levels finer than the stored type: all elements
  // Per level: the element that is furthest off, relative to what is explained.
  std::array<std::optional<OffElement>, kSpotLevels> worst{};
  std::array<std::vector<std::uint64_t>, kSpotLevels> off_numbers{};
  std::size_t first_level = 0;
  // Sums of squares over elements that are finite on both sides: of the differences, and of what
  // the inputs give. They are the same at each level.
  double off_square = 0;
  double square = 0;
  // Elements beyond the largest number of the type whose inputs give a finite number.
  std::uint64_t overflowed = 0;
  bool product = false;             // a sum of products was involved
  std::vector<std::uint32_t> read;  // dumped values that it was computed from
  std::string why;                  // the reason if nothing was checked
  std::uint64_t terms = 0;          // of the level that took the most
  bool ran_out = false;             // the limit on terms was reached, so the sample was cut
};

// The limit on the check of one layer, in elements read and computed per level.
inline constexpr std::uint64_t kSpotTerms = 1ULL << 22;

// The limit on all first checks of a run together. Each check gets an equal part, at least
// kMinSpotTerms, and the rest that others leave. Real networks of hundreds of layers take a
// thirtieth of it, or half if a few layers take all that a check may.
inline constexpr std::uint64_t kSpotTermsOfRun = 1ULL << 27;
inline constexpr std::uint64_t kMinSpotTerms = 1ULL << 16;

// The limit on everything that is recomputed after the first checks.
inline constexpr std::uint64_t kSpotTermsAfterFirst = 1ULL << 26;

// Why a layer has no check.
inline constexpr char kSpotTermsUsedUp[] =
    "the work that a run may take to recompute elements was used up";

// The rest of a run's terms, where one check follows the other.
struct SpotBudget {
  std::uint64_t left = kSpotTermsAfterFirst;
  bool used_up = false;  // a check got fewer than it needed

  std::uint64_t most() const { return std::min(left, kSpotTerms); }
  void take(const network::Evaluation& evaluation) {
    used_up = used_up || (evaluation.ran_out() && left < kSpotTerms);
    left -= std::min(left, evaluation.all_terms());
  }
};

// What the checks of one side have in common. All members must outlive them.
struct SpotSide {
  const network::Network& network;
  const SpotDumps& dumps;        // with the outputs
  const SpotDumps& input_dumps;  // with the inputs
  std::span<const PrecisionLevel> levels;
  std::size_t least_level = 0;            // the level that the bits of most dumps show
  std::uint64_t most_terms = kSpotTerms;  // of one check
  SpotBudget* work = nullptr;             // if set, replaces most_terms by the rest that it has

  std::uint64_t terms() const { return work != nullptr ? work->most() : most_terms; }
};

// `sample`: row-major numbers of elements. `without`: dumped values that are to be recomputed as
// well.
SideCheck check_layer(const SpotSide& side, std::uint32_t value,
                      std::span<const std::uint64_t> sample, const LayerScale& scale,
                      std::span<const std::uint32_t> without = {});

// The elements of the sample that can be recomputed, judged at one level.
std::vector<SpotPoint> points_of(const SpotSide& side, std::uint32_t value,
                                 std::span<const std::uint64_t> sample, const LayerScale& scale,
                                 std::size_t level, std::span<const std::uint32_t> without = {});

// The distance from `recomputed` that rounding explains for an element stored in this dtype.
double explained_distance(const network::Estimate& recomputed, const network::StoredNumbers& stored,
                          std::uint64_t number, const network::Arithmetic& arithmetic,
                          const LayerScale& scale);

// Whether a device may have any number here, as for codes of NaN.
bool is_anything(const network::Estimate& recomputed);

// Whether a stored number follows from what was recomputed.
bool follows(double dumped, const network::Estimate& recomputed, double explained, DType dtype,
             const network::Arithmetic& arithmetic);

// Finds dumped numbers of a value, and adds to `read` the values for which it did.
network::FindStored stored_in(const SpotDumps& dumps, std::vector<std::uint32_t>& read);

// The bytes that a check counts as when threads are chosen: enough for one thread per layer.
inline constexpr std::uint64_t kSpotWorkPerLayer = 1ULL << 20;

}  // namespace btf
