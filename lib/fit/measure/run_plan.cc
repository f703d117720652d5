#include "fit/measure/run_plan.h"

namespace btf {
namespace {

constexpr std::uint64_t kMostOrdinary = 1U << 18;  // numbers
constexpr std::uint64_t kMostLossy = 1U << 22;

}  // namespace

RunPlan::RunPlan(std::uint64_t numbers, std::uint64_t unit, std::vector<IsLossy> inputs)
    : numbers_(numbers), unit_(unit), inputs_(std::move(inputs)) {
  std::uint64_t count = 0;
  for (std::uint64_t first = 0; first < numbers; first += unit) count += is_lossy(first) ? 1 : 0;
  lossy_part_ = part(count, kMostLossy / unit);
  ordinary_part_ = part(ceil_div(numbers, unit) - count, kMostOrdinary / unit);
}

RunPlan::Part RunPlan::part(std::uint64_t runs, std::uint64_t most) {
  const std::uint64_t pace =
      std::max<std::uint64_t>(1, ceil_div(runs, std::max<std::uint64_t>(1, most)));
  const std::uint64_t taken = ceil_div(runs, pace);
  return {.pace = pace,
          .weight = taken == 0 ? 1 : static_cast<double>(runs) / static_cast<double>(taken)};
}

}  // namespace btf
