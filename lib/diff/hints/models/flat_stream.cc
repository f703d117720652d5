#include "diff/hints/models/flat_stream.h"

#include <algorithm>
#include <cstring>

#include "btf/convert.h"
#include "btf/try.h"
#include "elements/row_major.h"

namespace btf::hints {

struct FlatStream::State {
  const DiffSide& side;
  StridedLayout view;
  StridedLayout order;  // whose offsets number the elements
  SlabGrid grid;
  std::uint64_t slab = 0;
  std::unique_ptr<SlabReader> reader;
  Buffer buffer;
  const std::byte* codes = nullptr;  // what is left of the slab
  std::uint64_t left = 0;

  std::uint64_t bytes() const { return info(side.dtype()).buffer_bytes(); }

  Status load() {
    const Box box = grid.box(slab++);
    BTF_ASSIGN(const SourceSlab read, reader->read(box));
    left = footprint(order, box).elements;
    // A box of a COO side is one run of its arrangement already.
    const bool sparse = side.storage() == nullptr;
    codes = sparse ? read.data : in_row_major(read, box.counts(), side.dtype(), buffer).data;
    return {};
  }

  // The slab that holds element `begin`.
  std::uint64_t find(std::uint64_t begin) const {
    std::uint64_t low = 0;
    std::uint64_t high = grid.count();
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (footprint(order, grid.box(middle)).base <= begin ? low : high) = middle;
    }
    return low;
  }

  Status seek(std::uint64_t begin) {
    const bool sparse = side.storage() == nullptr;
    slab = sparse ? 0 : find(begin);
    std::uint64_t at = footprint(order, grid.box(slab)).base;
    for (;;) {
      BTF_TRY(load());
      if (begin - at < left) break;
      at += left;
    }
    codes += (begin - at) * bytes();
    left -= begin - at;
    return {};
  }
};

Result<FlatStream> FlatStream::open(const DiffSide& side, const StridedLayout& view,
                                    std::uint64_t begin) {
  const bool sparse = side.storage() == nullptr;
  StridedLayout order = view;
  if (!sparse) {
    BTF_ASSIGN(order, linear_view(view.dims, side.dtype()));
  }
  const std::uint64_t bytes = info(side.dtype()).buffer_bytes();
  SlabGrid grid =
      choose_slabs({&view, bytes}, {&order, bytes}, {.bytes = 1U << 20, .target_contiguous = true});
  auto state = std::make_shared<State>(State{.side = side,
                                             .view = view,
                                             .order = std::move(order),
                                             .grid = std::move(grid),
                                             .reader = {},
                                             .buffer = {}});
  BTF_ASSIGN(state->reader, side.reader(state->view));
  BTF_TRY(state->seek(begin));
  return FlatStream(std::move(state));
}

Status FlatStream::read(std::uint64_t count, std::byte* out) {
  State& s = *state_;
  while (count > 0) {
    if (s.left == 0) BTF_TRY(s.load());
    const std::uint64_t part = std::min(count, s.left);
    std::memcpy(out, s.codes, part * s.bytes());
    out += part * s.bytes();
    s.codes += part * s.bytes();
    s.left -= part;
    count -= part;
  }
  return {};
}

Result<StridedLayout> linear_view(const Dims& dims, DType dtype) {
  return resolve(Layout::linear, dims, dtype);
}

Result<StridedLayout> own_view(const DiffSide& side) {
  if (side.storage() != nullptr) return *side.storage();
  // Spelt out a COO tensor may take more bytes than can be counted; its elements can be.
  return linear_view(side.dims(), DType::uint8);
}

Result<StridedLayout> permuted_view(const DiffSide& side, std::span<const std::uint32_t> order) {
  if (side.storage() != nullptr) return permuted(*side.storage(), order);
  Dims dims;
  std::vector<std::uint32_t> back(order.size());
  for (std::uint32_t d = 0; d < order.size(); ++d) {
    dims.push_back(side.dims()[order[d]]);
    back[order[d]] = d;
  }
  BTF_ASSIGN(const StridedLayout linear, linear_view(dims, side.dtype()));
  return permuted(linear, back);
}

Result<StridedLayout> stored_view(const DiffSide& side) {
  return linear_view({side.storage()->storage_elements}, side.dtype());
}

}  // namespace btf::hints
