// Which runs of a large result are computed twice, and how many runs each stands for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/checked_math.h"
#include "fit/measure/numbers.h"

namespace btf {

// The runs of a value in which rounding changes a number by more than a step.
class LossyRuns {
 public:
  LossyRuns() = default;  // not known
  explicit LossyRuns(std::uint64_t elements)
      : step_(kFitRun * std::max<std::uint64_t>(1, ceil_div(elements, kFitRun * kMostRuns))),
        lossy_(ceil_div(elements, step_)) {}

  bool known() const { return step_ > 0; }
  void mark(std::uint64_t element) { lossy_[element / step_] = true; }
  // Whether elements [begin, end) have a lossy run.
  bool any(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t run = begin / step_; run * step_ < end && run < lossy_.size(); ++run)
      if (lossy_[run]) return true;
    return false;
  }

 private:
  static constexpr std::uint64_t kMostRuns = 1U << 16;

  std::uint64_t step_ = 0;
  std::vector<bool> lossy_;
};

// Ordinary runs are alike, and some of them stand for all. Where a number vanishes or overflows, a
// single one may be what matters.
class RunPlan {
 public:
  // Does rounding an input change a number by more than a step, of results [begin, end)?
  using IsLossy = std::function<bool(std::uint64_t begin, std::uint64_t end)>;

  // `unit`: numbers of a run.
  RunPlan(std::uint64_t numbers, std::uint64_t unit, std::vector<IsLossy> inputs);

  // Calls take(first, weight), which returns a Status, run by run from the first on.
  template <typename Take>
  auto visit(const Take& take) const -> decltype(take(std::uint64_t{}, double{})) {
    std::uint64_t lossy = 0;
    std::uint64_t ordinary = 0;
    for (std::uint64_t first = 0; first < numbers_; first += unit_) {
      const bool is_lossy = this->is_lossy(first);
      const Part& part = is_lossy ? lossy_part_ : ordinary_part_;
      if ((is_lossy ? lossy : ordinary)++ % part.pace != 0) continue;
      if (auto done = take(first, part.weight); !done) return done;
    }
    return {};
  }

 private:
  struct Part {
    std::uint64_t pace = 1;  // every so many runs are taken
    double weight = 1;       // and stand for so many
  };

  static Part part(std::uint64_t runs, std::uint64_t most);
  bool is_lossy(std::uint64_t first) const {
    return std::ranges::any_of(inputs_, [&](const IsLossy& input) {
      return input(first, std::min(first + unit_, numbers_));
    });
  }

  std::uint64_t numbers_;
  std::uint64_t unit_;
  std::vector<IsLossy> inputs_;
  Part lossy_part_;
  Part ordinary_part_;
};

}  // namespace btf
