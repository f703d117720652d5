#include "capi/diff_request.h"

#include <cmath>
#include <string>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "capi/support.h"

namespace btf::capi {
namespace {

static_assert(static_cast<int>(DiffResult::same) == BTF_SAME &&
              static_cast<int>(DiffResult::different) == BTF_DIFFERENT &&
              static_cast<int>(DiffResult::shape) == BTF_SHAPE &&
              static_cast<int>(DiffResult::missing) == BTF_MISSING &&
              static_cast<int>(DiffResult::trouble) == BTF_TROUBLE);

Status add_gate(const btf_gate& gate, Gates& gates) {
  const std::string name = gate.name == nullptr ? "" : gate.name;
  if (std::isnan(gate.limit)) return wrong("the limit of '" + name + "' is NaN");
  for (const FigureInfo* const figure : figure_gates()) {
    if (!same_name(figure->name, name)) continue;
    gates.*figure->limit = gate.limit;
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
    std::string known;
    for (const FigureInfo* const figure : figure_gates()) known += std::string(figure->name) + ", ";
    return wrong("unknown gate '" + name + "'; there are " + known +
                 "max-mismatch, max-mismatch-percent, quantile, top-k");
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

// The structure of a pair, with the memory that it points to.
class Handed {
 public:
  Handed(const TensorDiff& pair, const FilePair& files) : pair_(pair) {
    out_.size = sizeof out_;
    side(pair.actual, out_.actual, out_.actual_name);
    side(pair.golden, out_.golden, out_.golden_name);
    out_.result = static_cast<std::int32_t>(pair.result);
    reason_ = pair.error ? pair.error->text() : pair.reason;
    out_.reason = reason_.c_str();
    out_.actual_file = files.actual.c_str();
    out_.golden_file = files.golden.c_str();
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
      for (const FigureInfo* const figure : figure_gates())
        if (figure->value != nullptr)
          figures_.push_back({figure->name.data(),
                              pair_.figures->pairs > 0 ? (*pair_.figures).*figure->value : kNaN});
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

}  // namespace

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

void hand_out(const TensorDiff& pair, const DiffRequest& request, const FilePair& files) {
  if (request.report != nullptr) request.report(request.user, Handed(pair, files).get());
}

}  // namespace btf::capi
