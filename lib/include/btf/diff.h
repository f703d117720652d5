// Are two tensors the same, within a tolerance, and if not, where and by how much?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"

namespace btf {

// A pair is accepted when |actual - golden| <= atol + rtol * |golden| (NumPy's formula), or when
// both are the same number or the same Inf, or when both are NaN and equal_nan is set.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = true;
};

struct DiffOptions {
  Tolerance tolerance;
  std::optional<std::vector<std::uint64_t>> actual_tensors;  // paired in this order; nothing: all
  std::optional<std::vector<std::uint64_t>> golden_tensors;
  bool strict = false;               // another dtype or layout is a difference too
  std::uint64_t show = 5;            // how many of the first mismatches are kept
  std::uint64_t memory = 32U << 20;  // bytes that sorting COO entries may take
  Execution execution;
};

struct NanCount {
  std::uint64_t both = 0;
  std::uint64_t actual = 0;  // in actual only
  std::uint64_t golden = 0;  // in golden only
};

struct InfCount {
  std::uint64_t both = 0;      // of the same sign
  std::uint64_t opposite = 0;  // of opposite signs
  std::uint64_t actual = 0;
  std::uint64_t golden = 0;
};

// One pair of elements. Byte offsets are into the files; nothing for an element that a COO tensor
// does not store.
struct Mismatch {
  Dims index;  // logical
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  double abs_error = 0;
  double rel_error = 0;
  double allowed = 0;  // the largest error that the tolerance accepts here
  std::optional<std::uint64_t> actual_offset;
  std::optional<std::uint64_t> golden_offset;
};

enum class DiffResult : std::uint8_t { same, different, shape, missing };

// What a pair of tensors is compared as.
struct DiffTensor {
  std::uint64_t index = 0;
  DType dtype{};
  Layout layout{};
  Dims dims;
};

struct TensorDiff {
  std::optional<DiffTensor> actual;  // nothing: there is none (DiffResult::missing)
  std::optional<DiffTensor> golden;
  DiffResult result = DiffResult::same;
  std::string reason;  // of a difference that is not one of values: shape, dtype, layout, missing
  std::uint64_t compared = 0;
  std::uint64_t mismatched = 0;
  double max_abs = 0;  // over all pairs of finite numbers
  double max_rel = 0;
  NanCount nan;
  InfCount inf;
  std::optional<Mismatch> worst_abs;  // among the mismatches; of finite numbers if there are any
  std::optional<Mismatch> worst_rel;
  std::vector<Mismatch> first;  // in row-major order
  // The least tolerance of one kind alone that would accept everything; nothing if none would.
  std::optional<double> required_atol;
  std::optional<double> required_rtol;
};

using TensorDiffSink = std::function<void(const TensorDiff&)>;

// Reports every pair, in order, and returns whether all were the same. Comparing nothing is an
// error, as is everything that cannot be compared.
BTF_API Result<bool> diff(const TensorFile& actual, const TensorFile& golden,
                          const DiffOptions& options, const TensorDiffSink& report);

// Tensors in memory. `index` and the offsets count within the views.
BTF_API Result<TensorDiff> diff(const TensorView& actual, const TensorView& golden,
                                const DiffOptions& options = {});

}  // namespace btf
