#include "diff/hints/models/region_axes.h"

#include <algorithm>

#include "core/checked_math.h"
#include "diff/hints/evidence/significance.h"
#include "diff/hints/evidence/wording.h"

namespace btf::hints {
namespace {

constexpr double kLeastPartBits = 20;  // of each part that is named
constexpr std::size_t kMostParts = 3;

}  // namespace

Axes::Axes(const HintInput& input) : dims_(input.golden.dims()), stored_(input.actual.storage()) {
  sizes_.assign(dims_.begin(), dims_.end());
  sizes_.push_back(*element_count(dims_));
  if (stored_ != nullptr) sizes_.push_back(stored_->storage_elements);
}

std::string Axes::name(std::size_t axis) const {
  if (is_dim(axis)) return dim_text(static_cast<std::uint32_t>(axis), rank());
  return axis == rank() ? "element number" : "stored position";
}

void Axes::place(std::uint64_t number, std::vector<std::uint64_t>& at) const {
  at.resize(sizes_.size());
  at[rank()] = number;
  for (std::size_t d = rank(); d-- > 0; number /= dims_[d]) at[d] = number % dims_[d];
}

void Axes::advance(std::vector<std::uint64_t>& at) const {
  ++at[rank()];
  for (std::size_t d = rank(); d-- > 0;) {
    if (++at[d] < dims_[d]) return;
    at[d] = 0;
  }
}

void Axes::stored(std::vector<std::uint64_t>& at) const {
  if (stored_ != nullptr) at.back() = offset(*stored_, std::span(at).first(rank()));
}

AllCounts counts_for(const Axes& axes) {
  AllCounts counts;
  const std::uint64_t elements = axes.sizes()[axes.rank()];
  for (std::size_t axis = 0; axis < axes.sizes().size(); ++axis) {
    const std::uint64_t size = axes.sizes()[axis];
    counts.emplace_back(size, !axes.is_dim(axis) || size == elements);
  }
  return counts;
}

void add_place(const std::vector<std::uint64_t>& at, AllCounts& counts) {
  for (std::size_t axis = 0; axis < at.size(); ++axis) counts[axis].add(at[axis]);
}

std::vector<Part> surprising_parts(const Axes& axes, const AllCounts& counts, Counted counted) {
  std::vector<Part> parts;
  double bits = 0;
  for (std::size_t d = 0; d < axes.rank(); ++d) {
    const SurprisingSet found = counts[d].tightest(counted);
    if (found.bits < kLeastPartBits) continue;
    parts.push_back({d, found.set, found.bits});
    bits += found.bits;
  }
  std::ranges::stable_sort(parts, std::greater{}, &Part::bits);
  for (std::size_t axis = axes.rank(); axis < counts.size(); ++axis) {
    const SurprisingSet found = counts[axis].tightest(counted);
    if (found.bits <= 1.1 * bits || found.bits < kNeededBits) continue;
    parts = {{axis, found.set, found.bits}};
    bits = found.bits;
  }
  if (bits < kNeededBits) parts.clear();
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  return parts;
}

std::string parts_text(const Axes& axes, const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    text += (text.empty() ? "" : " and ") + axes.name(part.axis) + " " +
            part.set.text(axes.sizes()[part.axis]);
  return text;
}

}  // namespace btf::hints
