#include "inspect/values.h"

#include <algorithm>

#include "btf/read.h"
#include "btf/try.h"
#include "btf/value.h"
#include "io/text.h"

namespace btftool {
namespace {

constexpr std::uint64_t kEdge = 3;
constexpr std::uint64_t kMostValues = 1000000;

std::uint64_t position_of(const btf::SlicedDim& dim, std::uint64_t i) {
  // Modular arithmetic takes care of negative steps.
  return dim.start + i * static_cast<std::uint64_t>(dim.step);
}

std::uint64_t slice_elements(const std::vector<btf::SlicedDim>& slice) {
  std::uint64_t count = 1;
  for (const btf::SlicedDim& dim : slice) {
    if (dim.count == 0) return 0;
    if (__builtin_mul_overflow(count, dim.count, &count)) return UINT64_MAX;
  }
  return count;
}

}  // namespace

btf::Result<ValueView> ValueView::read(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                       const std::vector<btf::SlicedDim>& slice,
                                       std::uint64_t threshold) {
  ValueView view;
  view.dtype_ = *tensor.dtype;
  const bool summarise = slice_elements(slice) > threshold;
  if (slice_elements(slice) == 0) {
    view.shown_.emplace_back();
    return view;
  }
  std::uint64_t shown = 1;
  for (const btf::SlicedDim& dim : slice)
    if (__builtin_mul_overflow(shown, summarise ? std::min(dim.count, 2 * kEdge) : dim.count,
                               &shown) ||
        shown > kMostValues)
      return btf::fail(
          btf::ErrorCode::invalid_argument,
          "more than " + std::to_string(kMostValues) + " values to show; --slice selects a part");
  std::vector<btf::Dims> indices(1);
  for (const btf::SlicedDim& dim : slice) {
    Positions positions;
    for (std::uint64_t i = 0; i < dim.count; ++i) {
      if (summarise && i == kEdge && dim.count > 2 * kEdge) {
        positions.push_back(kGap);
        i = dim.count - kEdge;
      }
      positions.push_back(position_of(dim, i));
    }
    std::vector<btf::Dims> longer;
    for (const btf::Dims& index : indices) {
      for (const std::uint64_t position : positions) {
        if (position == kGap) continue;
        longer.push_back(index);
        longer.back().push_back(position);
      }
    }
    indices = std::move(longer);
    if (dim.keep) view.shown_.push_back(std::move(positions));
  }
  BTF_ASSIGN(const auto elements, btf::read_elements(file, tensor, indices));
  for (const btf::Element& element : elements) {
    view.codes_.push_back(element.code);
    view.texts_.push_back(btf::value_text(view.dtype_, element.code));
    view.width_ = std::max(view.width_, view.texts_.back().size());
  }
  return view;
}

std::string ValueView::text(std::size_t width) const {
  std::string out;
  std::size_t next = 0;
  print({.width = width}, next, out);
  return out;
}

void ValueView::print(Place at, std::size_t& next, std::string& out) const {
  const auto [dim, indent, line_width] = at;
  if (dim == shown_.size()) {
    out += shown_.empty() ? texts_[next] : pad_left(texts_[next], width_);
    ++next;
    return;
  }
  const bool innermost = dim + 1 == shown_.size();
  const std::string new_line = std::string(shown_.size() - dim - (innermost ? 0 : 1), '\n');
  const std::string margin(indent, ' ');
  std::size_t line_start = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  out += "[";
  bool first = true;
  for (const std::uint64_t position : shown_[dim]) {
    const std::size_t piece = position == kGap ? 3 : width_;
    if (!first && innermost && out.size() - line_start + 1 + piece > line_width) {
      out += "\n" + margin;
      line_start = out.size() - margin.size();
    } else if (!first) {
      out += innermost ? " " : new_line + margin;
    }
    first = false;
    if (position == kGap)
      out += "...";
    else
      print({dim + 1, indent + 1, line_width}, next, out);
  }
  out += "]";
}

Json ValueView::json() const {
  std::size_t next = 0;
  return nest(0, next);
}

Json ValueView::nest(std::size_t dim, std::size_t& next) const {
  if (dim == shown_.size()) return json_value(dtype_, codes_[next++]);
  Json array = Json::array();
  for (const std::uint64_t position : shown_[dim])
    array.push_back(position == kGap ? Json("...") : nest(dim + 1, next));
  return array;
}

}  // namespace btftool
