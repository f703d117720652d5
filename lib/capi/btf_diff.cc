// Comparing.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/try.h"
#include "btf/value.h"
#include "capi/array.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

static_assert(static_cast<int>(DiffResult::same) == BTF_SAME &&
              static_cast<int>(DiffResult::different) == BTF_DIFFERENT &&
              static_cast<int>(DiffResult::shape) == BTF_SHAPE &&
              static_cast<int>(DiffResult::missing) == BTF_MISSING &&
              static_cast<int>(DiffResult::trouble) == BTF_TROUBLE);

// Figures that can be given a limit, and are handed out.
struct Figure {
  const char* name;
  std::optional<double> Gates::*limit;
  double Figures::*value;  // nullptr: no figure, but always there
};

constexpr std::array kFigures{
    Figure{"cosine", &Gates::cosine, &Figures::cosine},
    Figure{"psnr", &Gates::psnr, &Figures::psnr},
    Figure{"snr", &Gates::snr, &Figures::snr},
    Figure{"rmse", &Gates::rmse, &Figures::rmse},
    Figure{"max-abs", &Gates::max_abs, nullptr},
};

Status add_gate(const btf_gate& gate, Gates& gates) {
  const std::string name = gate.name == nullptr ? "" : gate.name;
  if (std::isnan(gate.limit)) return wrong("the limit of '" + name + "' is NaN");
  for (const Figure& figure : kFigures) {
    if (!same_name(figure.name, name)) continue;
    gates.*figure.limit = gate.limit;
    return {};
  }
  const bool percent = same_name("max-mismatch-percent", name);
  if (percent || same_name("max-mismatch", name)) {
    if (gate.limit < 0 || (percent && gate.limit > 100))
      return wrong("the limit of '" + name + "' is " + number_text(gate.limit));
    gates.max_mismatch = MismatchLimit{gate.limit, percent};
  } else if (same_name("quantile", name)) {
    if (!(gate.q >= 0 && gate.q <= 1)) return wrong("a quantile is a number from 0 to 1");
    gates.quantiles.push_back({gate.q, gate.limit});
  } else if (same_name("top-k", name)) {
    // Beyond 2^53 not every whole number is a double.
    if (!(gate.limit >= 1 && gate.limit <= 9007199254740992.0) ||
        std::floor(gate.limit) != gate.limit)
      return wrong("k of 'top-k' is a whole number from 1 on");
    gates.top_k = static_cast<std::uint64_t>(gate.limit);
  } else {
    return wrong("unknown gate '" + name + "'; there are " + name_list(kFigures) +
                 ", max-mismatch, max-mismatch-percent, quantile, top-k");
  }
  return {};
}

Result<Tolerance> tolerance_of(const btf_diff_options& options) {
  if (!(options.rtol >= 0 && options.atol >= 0)) return wrong("a tolerance is negative or NaN");
  Tolerance tolerance;
  if (options.rtol > 0) tolerance.rtol = options.rtol;
  if (options.atol > 0) tolerance.atol = options.atol;
  if (options.ulp > 0) tolerance.ulp = options.ulp;
  tolerance.close = options.close != 0;
  BTF_ASSIGN(tolerance.close_as, dtype_named(options.close_as));
  if (tolerance.close_as && !tolerance.close) return wrong("close_as is given without close");
  tolerance.equal_nan = options.nan_differs == 0;
  return tolerance;
}

struct DiffRequest {
  DiffOptions diff;
  btf_diff_report report = nullptr;
  void* user = nullptr;
};

Result<DiffRequest> request_of(const btf_diff_options* from) {
  BTF_ASSIGN(const btf_diff_options options, given(from));
  DiffRequest request{.diff = {}, .report = options.report, .user = options.user};
  DiffOptions& diff = request.diff;
  BTF_ASSIGN(diff.tolerance, tolerance_of(options));
  if (options.gate_count > 0 && options.gates == nullptr) return wrong("no gates");
  for (std::size_t i = 0; i < options.gate_count; ++i)
    BTF_TRY(add_gate(options.gates[i], diff.gates));
  if (options.actual_tensors != nullptr)
    diff.actual_tensors.emplace(options.actual_tensors,
                                options.actual_tensors + options.actual_count);
  if (options.golden_tensors != nullptr)
    diff.golden_tensors.emplace(options.golden_tensors,
                                options.golden_tensors + options.golden_count);
  BTF_ASSIGN(diff.pair_by, choose("pair_by", pair_by_names(), options.pair_by, PairBy::automatic));
  BTF_ASSIGN(diff.map, name_map_of(options.map));
  if (options.permute != nullptr)
    diff.permute = Permute{{options.permute, options.permute + options.permute_count}};
  diff.squeeze = options.squeeze != 0;
  diff.reshape_actual = options.reshape_actual != 0;
  diff.dequantize = options.dequantize != 0;
  BTF_ASSIGN(diff.actual_scale, scale_of(options.actual_scale));
  BTF_ASSIGN(diff.golden_scale, scale_of(options.golden_scale));
  diff.strict = options.strict != 0;
  diff.figures = options.figures != 0;
  diff.hints = options.hints != 0;
  diff.details = diff.hints || options.report != nullptr;
  diff.show = 1;
  diff.go_on = options.go_on != 0;
  diff.execution.jobs = options.jobs;
  return request;
}

// A report as C sees it, with the memory that it points to.
class Handed {
 public:
  explicit Handed(const TensorDiff& pair) : pair_(pair) {
    out_.size = sizeof out_;
    side(pair.actual, out_.actual, out_.actual_name);
    side(pair.golden, out_.golden, out_.golden_name);
    out_.result = static_cast<std::int32_t>(pair.result);
    reason_ = pair.error ? pair.error->text() : pair.reason;
    out_.reason = reason_.c_str();
    counts();
    worst();
    lists();
  }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;

  const btf_tensor_diff* get() const { return &out_; }

 private:
  static void side(const std::optional<DiffTensor>& tensor, std::uint64_t& number,
                   const char*& name) {
    number = tensor ? tensor->index : BTF_NONE;
    name = tensor ? tensor->name.c_str() : "";
  }

  void counts() {
    out_.compared = pair_.compared;
    out_.mismatched = pair_.mismatched;
    out_.max_abs = pair_.max_abs;
    out_.max_rel = pair_.max_rel;
    out_.max_ulp = pair_.max_ulp;
    out_.nan_both = pair_.nan.both;
    out_.nan_actual = pair_.nan.actual;
    out_.nan_golden = pair_.nan.golden;
    out_.inf_both = pair_.inf.both;
    out_.inf_opposite = pair_.inf.opposite;
    out_.inf_actual = pair_.inf.actual;
    out_.inf_golden = pair_.inf.golden;
    out_.required_atol = pair_.required_atol.value_or(kNaN);
    out_.required_rtol = pair_.required_rtol.value_or(kNaN);
  }

  void worst() {
    out_.worst_actual = out_.worst_golden = kNaN;
    if (!pair_.worst_abs) return;
    out_.worst = pair_.worst_abs->index.data();
    out_.worst_rank = pair_.worst_abs->index.size();
    out_.worst_actual = value_double(pair_.actual->dtype, pair_.worst_abs->actual_code);
    out_.worst_golden = value_double(pair_.golden->dtype, pair_.worst_abs->golden_code);
  }

  void lists() {
    if (pair_.figures)
      for (const Figure& figure : kFigures)
        if (figure.value != nullptr)
          figures_.push_back({figure.name, (*pair_.figures).*figure.value});
    for (const CriterionResult& criterion : pair_.criteria)
      criteria_.push_back(
          {criterion.name.c_str(), criterion.text.c_str(), criterion.passed ? 1 : 0});
    for (const Hint& hint : pair_.hints)
      hints_.push_back({cause_name(hint.cause).data(), hint.evidence.c_str()});
    out_.figures = figures_.data();
    out_.figure_count = figures_.size();
    out_.criteria = criteria_.data();
    out_.criterion_count = criteria_.size();
    out_.hints = hints_.data();
    out_.hint_count = hints_.size();
  }

  const TensorDiff& pair_;
  std::string reason_;
  std::vector<btf_figure> figures_;
  std::vector<btf_criterion> criteria_;
  std::vector<btf_hint> hints_;
  btf_tensor_diff out_{};
};

void take(const TensorDiff& pair, const DiffRequest& request, btf_diff_result& total,
          std::string& reason) {
  if (pair.result != DiffResult::same && total.different++ == 0) {
    total.first = total.tensors;
    reason = pair.error ? pair.error->text() : pair.reason;
  }
  ++total.tensors;
  total.compared += pair.compared;
  total.mismatched += pair.mismatched;
  total.max_abs = std::max(total.max_abs, pair.max_abs);
  total.max_rel = std::max(total.max_rel, pair.max_rel);
  total.max_ulp = std::max(total.max_ulp, pair.max_ulp);
  if (request.report != nullptr) request.report(request.user, Handed(pair).get());
}

Status give_result(btf_diff_result* result, btf_diff_result total, bool same,
                   const std::string& reason) {
  total.same = same ? 1 : 0;
  total.reason = reason.c_str();
  return give(result, total);
}

Status check_result(btf_diff_result* result) {
  if (result == nullptr) return wrong("no room for the result");
  return can_give(result);
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                    btf_diff_result* result) {
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return wrong("no golden file");
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    btf_diff_result total{};
    actual->reason.clear();
    BTF_ASSIGN(const bool same, btf::diff(actual->file, golden->file, request.diff,
                                          [&](const btf::TensorDiff& pair) {
                                            take(pair, request, total, actual->reason);
                                          }));
    return give_result(result, total, same, actual->reason);
  });
}

btf_status btf_diff_arrays(const btf_array* actual, const btf_array* golden,
                           const btf_diff_options* options, btf_diff_result* result) {
  return guarded(nullptr, [&]() -> btf::Status {
    thread_local std::string reason;
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    BTF_ASSIGN(const Array left, array_of(actual));
    BTF_ASSIGN(const Array right, array_of(golden));
    BTF_ASSIGN(const btf::TensorDiff pair, btf::diff(left.view, right.view, request.diff));
    btf_diff_result total{};
    reason.clear();
    take(pair, request, total, reason);
    return give_result(result, total, pair.result == btf::DiffResult::same, reason);
  });
}
}
