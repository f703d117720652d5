#include "report/diff/page/chart_items.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/page/chart.h"

namespace btf::report {
namespace {

constexpr std::size_t kMost = 2000;

}  // namespace

void ChartItems::add(const std::function<std::string()>& title, const char* mark, double error) {
  Item item{.title = {}, .mark = mark, .error = error};
  const bool begins = number_ % each_ == 0;
  if (begins || item.rank() > items_.back().rank()) {
    item.title = title();
    if (begins) items_.emplace_back();
    items_.back() = std::move(item);
  }
  if (++number_ % each_ == 0 && items_.size() == 2 * kMost) halve();
}

std::string ChartItems::html() const {
  double least = HUGE_VAL;
  double most = 0;
  for (const Item& item : items_) {
    if (!(item.error > 0) || std::isinf(item.error)) continue;
    least = std::min(least, item.error);
    most = std::max(most, item.error);
  }
  return html_chart(
      {.items = items_.size(),
       .least = least,
       .most = most,
       .label = "relative error of each tensor",
       .legend = "<span class=error>relative error of each tensor, in their order: the root of "
                 "the sum of squared errors, by that of golden</span> <span "
                 "class=root>different</span> <span class=dump>missing or trouble</span>",
       .bands = {},
       .lines = {{"error",
                  [this](std::size_t i) {
                    return std::isinf(items_[i].error) ? HUGE_VAL : items_[i].error;
                  }}},
       .known = [this](std::size_t i) { return items_[i].error >= 0; },
       .rank = [this](std::size_t i) { return items_[i].rank(); },
       .low_marks = true,
       .mark = [this](std::size_t i) { return items_[i].mark; },
       .title = [this](std::size_t i) { return items_[i].title; }});
}

void ChartItems::halve() {
  for (std::size_t i = 0; i < kMost; ++i) {
    const bool second = items_[2 * i + 1].rank() > items_[2 * i].rank();
    Item worse = std::move(items_[2 * i + (second ? 1 : 0)]);
    items_[i] = std::move(worse);
  }
  items_.resize(kMost);
  each_ *= 2;
}

}  // namespace btf::report
