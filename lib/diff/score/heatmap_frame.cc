#include "diff/score/heatmap_frame.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "elements/coo.h"

namespace btf {
namespace {

// Chi-squared per degree of freedom of the sample's indices in one dim: about 1 when they are
// spread evenly.
double unevenness(const Dims& dims, std::size_t dim, std::span<const std::uint64_t> sample) {
  const std::uint64_t buckets = std::min<std::uint64_t>(dims[dim], 16);
  if (buckets < 2 || sample.empty()) return 0;
  const auto bucket_of = [&](std::uint64_t index) {
    return static_cast<std::size_t>(static_cast<double>(index) / static_cast<double>(dims[dim]) *
                                    static_cast<double>(buckets));
  };
  std::array<double, 16> count{};
  for (const std::uint64_t number : sample) ++count[bucket_of(index_of(dims, number)[dim])];
  const double expected = static_cast<double>(sample.size()) / static_cast<double>(buckets);
  double sum = 0;
  for (std::size_t b = 0; b < buckets; ++b)
    sum += (count[b] - expected) * (count[b] - expected) / expected;
  return sum / static_cast<double>(buckets - 1);
}

std::vector<std::uint32_t> picked_axes(const Dims& dims, std::span<const std::uint64_t> sample) {
  constexpr double kUneven = 4;
  struct Candidate {
    std::uint32_t dim = 0;
    double unevenness = 0;
  };
  std::vector<Candidate> candidates;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] < 2) continue;
    const double found = unevenness(dims, d, sample);
    candidates.push_back({static_cast<std::uint32_t>(d), found > kUneven ? found : 0});
  }
  // The later of equal dims comes first.
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::unevenness);
  std::vector<std::uint32_t> axes;
  for (const Candidate& candidate : candidates)
    if (axes.size() < 2) axes.push_back(candidate.dim);
  std::ranges::sort(axes);
  return axes;
}

// Nothing if the tensor lacks one of them.
std::optional<std::vector<std::uint32_t>> given_axes(const Dims& dims,
                                                     const HeatmapRequest& request) {
  std::vector<std::uint32_t> axes;
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (const std::int32_t axis : request.axes) {
    const std::int64_t dim = axis < 0 ? axis + rank : axis;
    if (dim < 0 || dim >= rank) return std::nullopt;
    axes.push_back(static_cast<std::uint32_t>(dim));
  }
  if (axes.empty() || axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    return std::nullopt;
  return axes;
}

std::uint64_t steps_in(std::uint64_t size, std::uint64_t step) {
  return size == 0 ? 0 : (size - 1) / step + 1;
}

}  // namespace

Heatmap heatmap_frame(const Dims& dims, const HeatmapRequest& request,
                      std::span<const std::uint64_t> sample) {
  const std::vector<std::uint32_t> axes =
      given_axes(dims, request).value_or(picked_axes(dims, sample));
  Heatmap map;
  // Steps are powers of two, as blocks of channels and tiles are.
  const auto axis_of = [&](std::uint32_t dim, std::uint64_t most) {
    std::uint64_t step = 1;
    while (steps_in(dims[dim], step) > std::max<std::uint64_t>(most, 1) && step < 1ULL << 63)
      step *= 2;
    return Heatmap::Axis{dim, step};
  };
  if (!axes.empty()) {
    map.across = axis_of(axes.back(), request.columns);
    map.columns = steps_in(dims[axes.back()], map.across->step);
  }
  if (axes.size() == 2) {
    map.down = axis_of(axes.front(), request.rows);
    map.rows = steps_in(dims[axes.front()], map.down->step);
  }
  std::uint64_t others = 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (std::ranges::find(axes, d) == axes.end()) others *= dims[d];
  const auto covered = [&](const std::optional<Heatmap::Axis>& axis, std::uint64_t cell) {
    return axis ? std::min(axis->step, dims[axis->dim] - cell * axis->step) : 1;
  };
  for (std::uint64_t r = 0; r < map.rows; ++r)
    for (std::uint64_t c = 0; c < map.columns; ++c)
      map.elements.push_back(others * covered(map.down, r) * covered(map.across, c));
  map.mismatched.assign(map.elements.size(), 0);
  return map;
}

bool needs_no_sample(const Dims& dims, const HeatmapRequest& request) {
  const auto wide = std::ranges::count_if(dims, [](std::uint64_t dim) { return dim > 1; });
  return wide <= 2 || given_axes(dims, request);
}

std::string axes_trouble(const std::vector<std::int32_t>& axes, std::size_t rank) {
  const auto dims = static_cast<std::int64_t>(rank);
  const auto dim_of = [&](std::int64_t axis) { return axis < 0 ? axis + dims : axis; };
  const std::string in_rank = " in rank " + std::to_string(rank);
  for (const std::int32_t axis : axes)
    if (dim_of(axis) < 0 || dim_of(axis) >= dims)
      return "there is no dim " + std::to_string(axis) + in_rank;
  if (axes.size() == 2 && dim_of(axes[0]) == dim_of(axes[1]))
    return "dims " + std::to_string(axes[0]) + " and " + std::to_string(axes[1]) +
           " are the same" + in_rank;
  return "";
}

}  // namespace btf
