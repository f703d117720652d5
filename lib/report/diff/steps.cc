#include "report/diff/steps.h"

#include <cmath>

#include "btf/value.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::uint64_t kMostTold = 999'999;
constexpr std::uint64_t kAboutZero = 16;

bool tells(std::uint64_t steps) { return steps <= kMostTold; }

}  // namespace

bool tells_steps(const TensorDiff& diff) {
  const auto most = [&](const std::optional<Mismatch>& worst) {
    return worst && worst->steps == diff.max_ulp && opposite_signs(*worst, diff);
  };
  return tells(diff.max_ulp) && !most(diff.worst_abs) && !most(diff.worst_rel);
}

bool opposite_signs(const Mismatch& mismatch, const TensorDiff& diff) {
  const DType actual = diff.actual->dtype;
  const DType golden = diff.golden->dtype;
  return mismatch.steps.value_or(0) > kAboutZero && info(actual).floating() &&
         info(golden).floating() &&
         std::signbit(value_double(actual, mismatch.actual_code)) !=
             std::signbit(value_double(golden, mismatch.golden_code));
}

std::string steps_text(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  if (!mismatch.steps) return {};
  if (all) return ", " + counted(*mismatch.steps, "step");
  if (opposite_signs(mismatch, diff)) return ", opposite signs";
  return tells(*mismatch.steps) ? ", " + counted(*mismatch.steps, "step") : "";
}

std::string steps_cell(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  if (!mismatch.steps) return "-";
  if (all) return std::to_string(*mismatch.steps);
  if (opposite_signs(mismatch, diff)) return "sign";
  return tells(*mismatch.steps) ? std::to_string(*mismatch.steps) : "many";
}

}  // namespace btf::report
