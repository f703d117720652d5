#include "report/fit/range_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/fit/words.h"
#include "report/page/chart.h"
#include "report/page/html_text.h"

namespace btf::report {
namespace {

// An end of the type that is further from all numbers has no line: they would shrink to nothing.
constexpr double kNear = 1e6;

bool drawable(const FitTensor& tensor) { return tensor.largest > 0; }

std::string told_of(const FitTensor& tensor) {
  std::string text = html_text(tensor.name) + ": " + size_words(tensor.smallest) + " to " +
                     size_words(tensor.largest);
  if (tensor.beyond > 0) text += "; " + html_count(tensor.beyond) + " become Inf";
  if (tensor.lost > 0) text += "; " + html_count(tensor.lost) + " become 0";
  return text;
}

}  // namespace

std::string fit_range_chart(const FitOfType& type) {
  const auto& tensors = type.tensors;
  double least = HUGE_VAL;
  double most = 0;
  for (const FitTensor& tensor : tensors) {
    if (!drawable(tensor)) continue;
    least = std::min(least, tensor.smallest);
    most = std::max(most, tensor.largest);
  }
  if (most == 0) return "";
  if (type.smallest > least / kNear) least = std::min(least, type.smallest);
  if (type.largest < most * kNear) most = std::max(most, type.largest);
  return html_chart(
      {.items = tensors.size(),
       .least = least,
       .most = most,
       .label = "smallest and largest number of each tensor",
       .legend = "<span class=noise>numbers of each tensor, smallest to largest</span> "
                 "<span class=worst>smallest and largest of the type</span> "
                 "<span class=root>suffers from the type</span>",
       .ranges = {{"noise", [&](std::size_t i) { return tensors[i].smallest; },
                   [&](std::size_t i) { return tensors[i].largest; }}},
       .levels = {{"worst", type.largest}, {"worst", type.smallest}},
       .shares = false,
       .known = [&](std::size_t i) { return drawable(tensors[i]); },
       .rank =
           [&](std::size_t i) {
             return (is_poor(tensors[i], type) ? 1e300 : 0) + tensors[i].largest;
           },
       .low_marks = true,
       .mark = [&](std::size_t i) { return is_poor(tensors[i], type) ? "root" : "plain"; },
       .title = [&](std::size_t i) { return told_of(tensors[i]); }});
}

}  // namespace btf::report
