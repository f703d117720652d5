// Are two tensors the same, within a tolerance, and if not, where, by how much and why?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/diff/criteria.h"
#include "btf/diff/tensor_diff.h"
#include "btf/edit.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layers/pair_names.h"
#include "btf/quantize.h"
#include "btf/tensor_view.h"

namespace btf {

// The most cells of a heat map. Axes: none (they are picked), one (across) or two (down, across);
// negative ones count from the last dim. For a tensor that lacks them they are picked.
struct HeatmapRequest {
  std::vector<std::int32_t> axes{};
  std::uint32_t rows = 24;
  std::uint32_t columns = 64;
};

// The reason why a tensor of this rank lacks these axes: "there is no dim 4 in rank 4"; else empty.
BTF_API std::string axes_trouble(const std::vector<std::int32_t>& axes, std::size_t rank);

// Tensors of two files that are compared with each other, by their indices.
struct TensorPair {
  std::optional<std::uint64_t> actual{};  // nothing: the other tensor has no partner
  std::optional<std::uint64_t> golden{};
  std::optional<PairTier> tier{};  // as TensorDiff's, and the next
  std::string note{};

  bool operator==(const TensorPair&) const = default;
};

// A pair of tensors of two files before it is compared.
struct PlannedTensor {
  std::string name{};       // golden's, else actual's
  std::uint64_t bytes = 0;  // of elements, of both
};

// Chooses among all pairs by their numbers, which ascend.
using PickTensors =
    std::function<Result<std::vector<std::uint64_t>>(std::span<const PlannedTensor> pairs)>;

struct DiffOptions {
  Tolerance tolerance{};
  std::map<std::uint64_t, Tolerance> tensor_tolerance{};  // by index in actual: what it gives goes
                                                          // before `tolerance`
  // The same as a function of the pair, with `actual` and `golden` set. Called on any thread.
  std::function<Tolerance(const TensorDiff&)> pair_tolerance{};
  Gates gates{};
  // Nothing: all; of golden, where pairs go by names: those of the names that actual's have.
  std::optional<std::vector<std::uint64_t>> actual_tensors{};
  std::optional<std::vector<std::uint64_t>> golden_tensors{};
  PairBy pair_by = PairBy::automatic;
  NameMap map{};  // for pairs by name: its pairs take precedence over all other names
  // These and nothing else, in this order; selections and `pair_by` say nothing then.
  std::optional<std::vector<TensorPair>> pairs{};
  // Edits of the dims before the comparison, in this order. Tensors of actual with another rank
  // than the permutation's are left as they are.
  std::optional<Permute> permute{};  // of actual
  bool squeeze = false;              // both sides, without their dims of 1
  bool reshape_actual = false;       // actual, with the dims of golden, if its elements are as many
  // Files only: compares codes as the numbers that they stand for, by the scales that their file or
  // a name gives them, which are then not compared themselves; blocks of GGUF too.
  bool dequantize = false;
  std::vector<std::uint64_t> scale_blocks{};  // with `dequantize`: as in Quantization
  // Files only: blocks of GGUF as their bytes. Without it two tensors of blocks are compared as the
  // numbers that they stand for, and equal bytes of one type are the same.
  bool codes = false;
  std::optional<GivenScale> actual_scale{};  // of all codes; takes precedence over the file's
  std::optional<GivenScale> golden_scale{};
  bool strict = false;     // another dtype or layout is a difference too
  bool details = true;     // mismatches in TensorDiff; without, only the counts
  bool figures = false;    // of tensors that are the same, too
  bool hints = true;       // look for causes
  std::uint64_t show = 5;  // how many of the first and of the largest mismatches are kept
  std::optional<HeatmapRequest> heatmap{};
  // A pair of tensors that cannot be compared is reported as trouble, and the others are compared.
  // Without it the first is the error that diff() returns.
  bool go_on = false;
  // For one pair of several, where only comparing nothing in all of them is an error.
  bool may_compare_nothing = false;
  PickTensors pick{};  // of files; comparing nothing is then no error
  Execution execution{};
};

using TensorDiffSink = std::function<void(const TensorDiff&)>;

// Reports every pair, in order; returns whether all were the same. Trouble counts as not the same.
// Comparing nothing is an error, as is everything that cannot be compared.
BTF_API Result<bool> diff(const TensorFile& actual, const TensorFile& golden,
                          const DiffOptions& options, const TensorDiffSink& report);

// Tensors in memory. `index` and the offsets count within the views.
BTF_API Result<TensorDiff> diff(const TensorView& actual, const TensorView& golden,
                                const DiffOptions& options = {});

// Judges a result again by other criteria: sets `tolerance`, `criteria`, `mismatched`
// (where it is known) and `result`. An error says which figure is missing to decide.
BTF_API Status rejudge(TensorDiff& diff, const Tolerance& tolerance, const Gates& gates);

}  // namespace btf
