// Elements of a layer recomputed from the inputs that the same run dumped, at levels of precision.
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
#include "btf/layers/layers.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"
#include "network/evaluation.h"
#include "network/network.h"
#include "network/node.h"

namespace btf {

// The dumped tensors of one side, by the values of a network that they are.

struct DumpedValue {
  SetTensor tensor;
  std::optional<std::uint64_t> layer{};  // its place among the report's layers
  // Those of the network, where the dump has all elements in a row, or a row for each run.
  std::optional<Dims> dims{};
  bool dims_known = true;
};

// For several threads at once.
class SpotDumps {
 public:
  // All of them outlive it. `places`: where a layer is in the report, by its number; kNowhere: it
  // is not. `fitted`: codes without a scale are no numbers of the network; else the network
  // computes with codes itself.
  SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
            const LayerOptions& options, bool of_actual, const std::vector<std::uint64_t>& places,
            const LayerReport& report, bool fitted);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

  // nullptr: the value was not dumped.
  const DumpedValue* find(std::uint32_t value) const;
  // The value that a layer of the report is; kNoValue: none.
  std::uint32_t value_of(std::uint64_t layer) const;
  // The dims by which the network tells the layer's elements.
  const Dims& dims_of(std::uint64_t layer) const;
  // Has any dump other dims than these?
  bool has_flat() const;
  TensorSet& set() const { return set_; }
  // An error: why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedValue& dumped) const;
  // Errors of reading, whatever was made of the numbers.
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
  // Dumps of no layer that were read to their ends.
  mutable std::set<std::pair<std::uint64_t, std::uint64_t>> read_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  mutable std::mutex mutex_;
};

// The precisions that a run may have been computed in, from the finest on.

struct PrecisionLevel {
  std::string_view name;
  network::Arithmetic arithmetic;
};

inline constexpr std::size_t kSpotLevels = 5;

// float32, TF32 (operands of products only), float16, bfloat16, 8-bit codes. `accumulate`: what
// products are summed up in.
std::span<const PrecisionLevel> spot_levels(std::optional<DType> accumulate);

// The first level whose results are rounded no finer.
std::size_t level_at(double unit_roundoff);

// The first level that is no finer than what is stored.
std::size_t first_level(DType stored);

// That of the dtype that a device is said to compute in.
std::size_t level_of(DType compute);

// How many layers of a kind follow from their inputs, at each level.
struct LevelVotes {
  std::uint64_t layers = 0;
  std::uint64_t follow[kSpotLevels] = {};

  // The finest level that explains nearly all that any explains. Nothing: none explains half.
  std::optional<std::size_t> choose() const;
};

// One layer on one side: do its elements follow from what it is computed from?

// Elements that did not follow at the coarsest level that was asked.
struct OffElement {
  std::uint64_t number = 0;
  double dumped = 0;
  double recomputed = 0;
  double explained = 0;
};

// An element beside what its inputs give.
struct SpotPoint {
  std::uint64_t number = 0;
  double dumped = 0;
  double recomputed = 0;
  double explained = 0;  // at the level of the question
  bool off = false;      // likewise
};

// Sizes of a layer's numbers, which tell what is too small to matter.
struct LayerScale {
  double peak = 0;  // the largest magnitude of actual
  double rms = 0;   // the smaller one of both sides
};

LayerScale scale_of(const LayerFigures& figures);

struct SideCheck {
  std::size_t least_level = 0;    // as of SpotSide
  std::uint64_t model_bytes = 0;  // of the file of the graph, where a shard has asked
  std::uint64_t checked = 0;
  std::array<std::uint64_t, kSpotLevels> off{};  // levels that are finer than the stored type: all
  // Per level: the element that is off by the most, beside what is explained.
  std::array<std::optional<OffElement>, kSpotLevels> worst{};
  std::array<std::vector<std::uint64_t>, kSpotLevels> off_numbers{};
  std::size_t first_level = 0;
  // Sums of squares over elements that are finite on both sides: of what they are off by, of what
  // their inputs give. They are the same at each level.
  double off_square = 0;
  double square = 0;
  // Beyond the largest number of the type, where their inputs give a finite number.
  std::uint64_t overflowed = 0;
  bool product = false;             // a sum of products is among what it was computed by
  std::vector<std::uint32_t> read;  // dumped values that it was computed from
  std::string why;                  // nothing was checked
  std::uint64_t terms = 0;          // of the level that took most
  bool ran_out = false;             // more than it may take: the sample was cut
};

// Elements, read and computed, that the check of one layer may take, by each level.
inline constexpr std::uint64_t kSpotTerms = 1ULL << 22;

// Those of all first checks of a run together. Each has the same part, and at least
// kMinSpotTerms; what some leave others get. Networks of hundreds of layers that are of use take
// a thirtieth of it, and half of it where a few layers take all that one may.
inline constexpr std::uint64_t kSpotTermsOfRun = 1ULL << 27;
inline constexpr std::uint64_t kMinSpotTerms = 1ULL << 16;

// Those of all that is asked behind the first checks.
inline constexpr std::uint64_t kSpotTermsBehind = 1ULL << 26;

// Why a layer has no check.
inline constexpr char kSpotTermsUsedUp[] =
    "the work that a run may take to recompute elements was used up";

// What is left of the terms of a run, where one question is asked after the other.
struct SpotWork {
  std::uint64_t left = kSpotTermsBehind;
  bool used_up = false;  // a question got fewer than it wanted

  std::uint64_t most() const { return std::min(left, kSpotTerms); }
  void take(const network::Evaluation& evaluation) {
    used_up = used_up || (evaluation.ran_out() && left < kSpotTerms);
    left -= std::min(left, evaluation.all_terms());
  }
};

// What checks of one side have in common. All of it outlives them.
struct SpotSide {
  const network::Network& network;
  const SpotDumps& dumps;        // of the outputs
  const SpotDumps& input_dumps;  // of what they are computed from
  std::span<const PrecisionLevel> levels;
  std::size_t least_level = 0;            // what the bits of most dumps show
  std::uint64_t most_terms = kSpotTerms;  // of one check
  SpotWork* work = nullptr;               // in place of that, what is left

  std::uint64_t terms() const { return work != nullptr ? work->most() : most_terms; }
};

// `sample`: numbers of elements. `without`: dumped values that are recomputed, too.
SideCheck check_layer(const SpotSide& side, std::uint32_t value,
                      std::span<const std::uint64_t> sample, const LayerScale& scale,
                      std::span<const std::uint32_t> without = {});

// The elements of the sample, as far as they can be recomputed, judged by one level.
std::vector<SpotPoint> points_of(const SpotSide& side, std::uint32_t value,
                                 std::span<const std::uint64_t> sample, const LayerScale& scale,
                                 std::size_t level, std::span<const std::uint32_t> without = {});

// As far as `recomputed` from an element that is stored in this dtype, rounding explains.
double explained_distance(const network::Estimate& recomputed, const network::StoredNumbers& stored,
                          std::uint64_t number, const network::Arithmetic& arithmetic,
                          const LayerScale& scale);

// May a device have any number here, as codes of NaN?
bool is_anything(const network::Estimate& recomputed);

// Does a stored number follow?
bool follows(double dumped, const network::Estimate& recomputed, double explained, DType dtype,
             const network::Arithmetic& arithmetic);

// Reads dumps where there are any; adds to `read` what was read.
network::FindStored stored_in(const SpotDumps& dumps, std::vector<std::uint32_t>& read);

// Bytes of work of a layer, in whose terms threads are counted: enough for one.
inline constexpr std::uint64_t kSpotWorkPerLayer = 1ULL << 20;

}  // namespace btf
