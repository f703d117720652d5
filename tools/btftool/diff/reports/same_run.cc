#include "diff/reports/same_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "diff/reports/text.h"
#include "io/text.h"

namespace btftool {

void SameRun::add(const btf::TensorDiff& diff, const Output& paint) {
  const std::uint64_t index = diff.actual->index;
  if (count_ == 0) first_ = index;
  consecutive_ = consecutive_ && index == diff.golden->index && index == first_ + count_;
  last_ = index;
  if (++count_ <= kKept)
    lines_.push_back(pair_name(diff) + ": " + paint.green("same") + ": " + headline(diff));
  else
    lines_.clear();
  compared_ += diff.compared;
  mismatched_ += diff.mismatched;
  refused_ = refused_word(diff.tolerance);
  max_abs_ = std::max(max_abs_, diff.max_abs);
  nan_.both += diff.nan.both;
  nan_.actual += diff.nan.actual;
  nan_.golden += diff.nan.golden;
  inf_.both += diff.inf.both;
  inf_.opposite += diff.inf.opposite;
  inf_.actual += diff.inf.actual;
  inf_.golden += diff.inf.golden;
}

std::string SameRun::summary() const {
  std::string text =
      counted(count_, "tensor") + ", " + counted(compared_, "element") + specials_text(nan_, inf_);
  if (mismatched_ > 0) text += fmt::format(", {} {}", mismatched_, refused_);
  if (max_abs_ > 0) text += ", worst error " + short_number(max_abs_);
  return text;
}

std::string SameRun::folded(const Output& paint) const {
  if (count_ == 1) return lines_.front();
  const std::string name = consecutive_ ? fmt::format("tensors {}-{}", first_, last_)
                                        : fmt::format("tensors {}, ..., {}", first_, last_);
  return name + ": " + paint.green("same") + ": " + summary();
}

}  // namespace btftool
