// One layer on one side: do its elements follow from what it is computed from?
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/layers/layers.h"
#include "diff/layers/spot/dumps.h"
#include "diff/layers/spot/ladder.h"
#include "network/evaluation.h"

namespace btf {

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
// kLeastSpotTerms; what some leave others get. Networks of hundreds of layers that are of use take
// a thirtieth of it, and half of it where a few layers take all that one may.
inline constexpr std::uint64_t kSpotTermsOfRun = 1ULL << 27;
inline constexpr std::uint64_t kLeastSpotTerms = 1ULL << 16;
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
  std::span<const SpotLevel> levels;
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
