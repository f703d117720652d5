#include "fit/measure/lossy_inputs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "btf/try.h"
#include "fit/measure/effect.h"

namespace btf {
namespace {

bool reads_infinite(const LossyInput& input) {
  return input.infinite && input.value.infinite_from < HUGE_VAL;
}

Status visit_lossy(const LossyInput& input, const std::function<void(std::uint64_t)>& found) {
  const double limit = reading_limit(input.value, input.type, input.infinite);
  const std::uint64_t all = input.numbers.elements();
  std::vector<double> run(std::min<std::uint64_t>(kFitRun, all));
  for (std::uint64_t first = 0; first < all; first += kFitRun) {
    const auto some = std::span(run).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, all - first)));
    BTF_TRY(input.numbers.read(first, some));
    for (std::size_t i = 0; i < some.size(); ++i)
      if (std::abs(some[i]) > limit || (some[i] != 0 && input.type.round(some[i]) == 0))
        found(first + i);
  }
  return {};
}

}  // namespace

Result<RunPlan::IsLossy> lossy_runs(const LossyInput& input) {
  const LossyRuns& known = input.value.lossy;
  if (known.known() && !reads_infinite(input))
    return [&known](std::uint64_t begin, std::uint64_t end) { return known.any(begin, end); };
  const auto runs = std::make_shared<LossyRuns>(input.numbers.elements());
  BTF_TRY(visit_lossy(input, [&](std::uint64_t element) { runs->mark(element); }));
  return [runs](std::uint64_t begin, std::uint64_t end) { return runs->any(begin, end); };
}

Result<RunPlan::IsLossy> lossy_places(const LossyInput& input, const PlacedNumbers& placed) {
  const auto marked = std::make_shared<std::vector<bool>>(input.numbers.elements());
  BTF_TRY(visit_lossy(input, [&](std::uint64_t element) { (*marked)[element] = true; }));
  return [marked, &placed](std::uint64_t begin, std::uint64_t end) {
    return placed.any(begin, end, *marked);
  };
}

}  // namespace btf
