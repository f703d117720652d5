// Edits of dims as NumPy words them, element by element: an oracle for the library, with which it
// shares no arithmetic. And random chains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "btf/edit.h"
#include "support/random_tensor.h"
#include "support/shapes.h"

namespace naive {

using shapes::Dims;
using shapes::index_of;
using shapes::number_of;
using shapes::product;

// A tensor that holds the row-major numbers of the one that it was made of.
struct Edited {
  Dims dims;
  std::vector<std::uint64_t> cells;
};

inline Edited start(const Dims& dims) {
  Edited edited{dims, {}};
  for (std::uint64_t i = 0; i < product(dims); ++i) edited.cells.push_back(i);
  return edited;
}

// Positions of Python's range, found by trying: x[start:stop:step] walks from its first position in
// steps until it leaves the dim or passes stop.
inline std::vector<std::uint64_t> positions(const btf::SliceRange& range, std::uint64_t size) {
  const auto n = static_cast<std::int64_t>(size);
  const auto from_end = [&](std::int64_t bound) { return bound < 0 ? bound + n : bound; };
  std::int64_t first = range.step > 0 ? 0 : n - 1;
  std::int64_t stop = range.step > 0 ? n : -1;
  if (range.start) {
    first = from_end(*range.start);
    if (range.step > 0) first = std::max<std::int64_t>(first, 0);
    if (range.step < 0) first = std::min(first, n - 1);
  }
  if (range.stop) stop = std::max<std::int64_t>(from_end(*range.stop), -1);
  std::vector<std::uint64_t> all;
  for (std::int64_t at = first; at >= 0 && at < n; at += range.step) {
    if (range.step > 0 ? at >= stop : at <= stop) break;
    all.push_back(static_cast<std::uint64_t>(at));
  }
  return all;
}

inline Edited apply(const Edited& from, const btf::Permute& permute) {
  Edited to{Dims(from.dims.size()), {}};
  for (std::size_t d = 0; d < to.dims.size(); ++d) to.dims[d] = from.dims[permute.order[d]];
  for (std::uint64_t i = 0; i < from.cells.size(); ++i) {
    const Dims index = index_of(to.dims, i);
    Dims source(index.size());
    for (std::size_t d = 0; d < index.size(); ++d) source[permute.order[d]] = index[d];
    to.cells.push_back(from.cells[number_of(from.dims, source)]);
  }
  return to;
}

inline Edited apply(const Edited& from, const btf::Slice& slice) {
  Edited to;
  std::vector<std::vector<std::uint64_t>> taken;
  Dims counts;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const btf::SlicePart part = d < slice.parts.size() ? slice.parts[d] : btf::SliceRange{};
    if (const auto* index = std::get_if<std::int64_t>(&part)) {
      taken.push_back({static_cast<std::uint64_t>(
          *index < 0 ? *index + static_cast<std::int64_t>(from.dims[d]) : *index)});
    } else {
      taken.push_back(positions(std::get<btf::SliceRange>(part), from.dims[d]));
      to.dims.push_back(taken.back().size());
    }
    counts.push_back(taken.back().size());
  }
  for (std::uint64_t i = 0; i < product(counts); ++i) {
    Dims index = index_of(counts, i);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] = taken[d][index[d]];
    to.cells.push_back(from.cells[number_of(from.dims, index)]);
  }
  return to;
}

inline Edited apply(const Edited& from, const btf::Squeeze& squeeze) {
  const auto rank = static_cast<std::int64_t>(from.dims.size());
  Edited to{{}, from.cells};
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::uint64_t dim = from.dims[static_cast<std::size_t>(d)];
    const bool named = std::ranges::find(squeeze.dims, d) != squeeze.dims.end() ||
                       std::ranges::find(squeeze.dims, d - rank) != squeeze.dims.end();
    if (squeeze.dims.empty() ? dim != 1 : !named) to.dims.push_back(dim);
  }
  return to;
}

inline Edited apply(const Edited& from, const btf::Unsqueeze& unsqueeze) {
  Edited to = from;
  const auto rank = static_cast<std::int64_t>(from.dims.size());
  const std::int64_t at = unsqueeze.dim < 0 ? unsqueeze.dim + rank + 1 : unsqueeze.dim;
  to.dims.insert(to.dims.begin() + at, 1);
  return to;
}

inline Edited apply(const Edited& from, const btf::Reshape& reshape) {
  Edited to{{}, from.cells};
  std::uint64_t known = 1;
  for (const std::int64_t dim : reshape.dims)
    if (dim != -1) known *= static_cast<std::uint64_t>(dim);
  for (const std::int64_t dim : reshape.dims)
    to.dims.push_back(dim == -1 ? from.cells.size() / known : static_cast<std::uint64_t>(dim));
  return to;
}

// The edits must go with the dims.
inline Edited edited(const Dims& dims, const std::vector<btf::Edit>& edits) {
  Edited all = start(dims);
  for (const btf::Edit& edit : edits)
    all = std::visit([&](const auto& one) { return apply(all, one); }, edit);
  return all;
}

// Elements at most about `most`.
inline Dims random_dims(Random& random, std::uint64_t rank, std::uint64_t most) {
  Dims dims;
  std::uint64_t left = most;
  for (std::uint64_t d = 0; d < rank; ++d) {
    dims.push_back(random.between(1, std::clamp<std::uint64_t>(left, 1, 40)));
    left /= dims.back();
  }
  for (std::size_t d = dims.size(); d > 1; --d) std::swap(dims[d - 1], dims[random.below(d)]);
  return dims;
}

inline btf::Slice random_slice(Random& random, const Dims& dims) {
  btf::Slice slice;
  const auto bound = [&](std::uint64_t dim) -> std::optional<std::int64_t> {
    if (random.below(2) == 0) return std::nullopt;
    const auto most = static_cast<std::int64_t>(dim) + 2;
    return static_cast<std::int64_t>(random.below(2 * dim + 5)) - most;
  };
  for (const std::uint64_t dim : dims) {
    const std::uint64_t kind = random.below(8);
    if (kind == 0 && dim > 0) {
      slice.parts.emplace_back(static_cast<std::int64_t>(random.below(2 * dim)) -
                               static_cast<std::int64_t>(dim));
    } else if (kind < 4) {
      slice.parts.emplace_back(btf::SliceRange{});
    } else {
      constexpr std::int64_t kSteps[] = {1, 1, 1, 2, 3, 4, 8, 16, -1, -1, -2, -7};
      slice.parts.emplace_back(
          btf::SliceRange{bound(dim), bound(dim), kSteps[random.below(std::size(kSteps))]});
    }
  }
  return slice;
}

// Neighbours joined and dims split.
inline btf::Reshape random_reshape(Random& random, Dims dims) {
  for (std::uint64_t round = random.between(1, 3); round > 0; --round) {
    if (dims.empty()) dims.push_back(1);
    const auto at = static_cast<std::ptrdiff_t>(random.below(dims.size()));
    std::uint64_t& dim = dims[static_cast<std::size_t>(at)];
    if (at > 0 && random.below(2) == 0) {
      dim *= dims[static_cast<std::size_t>(at - 1)];
      dims.erase(dims.begin() + at - 1);
    } else {
      std::uint64_t outer = random.between(1, std::max<std::uint64_t>(dim, 1));
      while (dim % outer != 0) --outer;
      dim /= outer;
      dims.insert(dims.begin() + at, outer);
    }
  }
  btf::Reshape reshape;
  for (const std::uint64_t dim : dims) reshape.dims.push_back(static_cast<std::int64_t>(dim));
  if (std::ranges::find(dims, 0U) == dims.end() && random.below(3) == 0)
    reshape.dims[random.below(reshape.dims.size())] = -1;
  return reshape;
}

// Up to four, which go with the dims.
inline std::vector<btf::Edit> random_edits(Random& random, const Dims& dims) {
  std::vector<btf::Edit> edits;
  Dims now = dims;
  for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
    const std::uint64_t kind = random.below(6);
    if (kind == 0) {
      btf::Permute permute;
      for (std::uint32_t d = 0; d < now.size(); ++d) permute.order.push_back(d);
      for (std::size_t d = now.size(); d > 1; --d)
        std::swap(permute.order[d - 1], permute.order[random.below(d)]);
      edits.emplace_back(permute);
    } else if (kind < 3) {
      edits.emplace_back(random_slice(random, now));
    } else if (kind == 3) {
      edits.emplace_back(btf::Squeeze{});
    } else if (kind == 4) {
      const auto rank = static_cast<std::int64_t>(now.size());
      edits.emplace_back(btf::Unsqueeze{
          static_cast<std::int64_t>(random.below(2 * now.size() + 2)) - rank - 1});
    } else {
      edits.emplace_back(random_reshape(random, now));
    }
    now = edited(now, {edits.back()}).dims;
    if (now.size() > 7) break;
  }
  return edits;
}

}  // namespace naive
