#include "elements/records/edited_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "btf/try.h"
#include "elements/cast_slab.h"
#include "elements/row_major.h"

namespace btf {
namespace {

// The most bytes that one read of runs takes beside the run itself: blocks and padding around it.
constexpr std::uint64_t kLeastRoom = 256U << 10;

std::uint64_t product(std::span<const std::uint64_t> dims) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  return count;
}

// The elements of a view in row-major order: a run of them is a few boxes of the view.
class RowMajorRuns final : public ElementRuns {
 public:
  RowMajorRuns(std::unique_ptr<SlabReader> boxes, StridedLayout storage, DType dtype)
      : boxes_(std::move(boxes)),
        storage_(std::move(storage)),
        dtype_(dtype),
        bytes_(info(dtype).buffer_bytes()),
        index_(storage_.dims.size()),
        inner_(storage_.dims.size()) {
    for (std::size_t d = 0; d < inner_.size(); ++d)
      inner_[d] = product(std::span(storage_.dims).subspan(d + 1));
  }

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out) override {
    room_ = std::max(kLeastRoom, 2 * count * bytes_);
    for (std::size_t d = 0; d < index_.size(); ++d) {
      index_[d] = first / inner_[d];
      first %= inner_[d];
    }
    while (count > 0) {
      const Box box = next_box(count);
      const Dims counts = box.counts();
      BTF_ASSIGN(const SourceSlab slab, boxes_->read(box));
      LossAccount none;
      cast_slab({dtype_, dtype_, {}}, counts, slab, TargetSlab{{out, row_major(counts)}}, none);
      const std::uint64_t taken = product(counts);
      out += taken * bytes_;
      count -= taken;
    }
    return {};
  }

 private:
  // The largest box that begins at index_, has at most `count` elements and is a run of them, and
  // that the room is enough for. Moves index_ behind it.
  Box next_box(std::uint64_t count) {
    std::size_t d = 0;
    while (d < inner_.size() && (inner_[d] > count || !begins(d))) ++d;
    Box box{index_, index_};
    for (; d < inner_.size(); ++d) {
      std::uint64_t n = std::min(storage_.dims[d] - index_[d], count / inner_[d]);
      if (storage_.split && storage_.split->dim == d) {
        const std::uint64_t lanes = storage_.split->lanes;
        if (index_[d] % lanes != 0) n = std::min(n, lanes - index_[d] % lanes);
      }
      for (;; n /= 2) {
        for (std::size_t k = 0; k < inner_.size(); ++k)
          box.hi[k] = k < d ? index_[k] + 1 : k == d ? index_[k] + n : storage_.dims[k];
        if (n == 1 || footprint(storage_, box).elements * bytes_ <= room_) break;
      }
      if (n > 1 || d + 1 == inner_.size() || footprint(storage_, box).elements * bytes_ <= room_) {
        advance(d, n);
        return box;
      }
    }
    return box;  // of rank 0
  }

  // Do all dims inside dim d begin at 0?
  bool begins(std::size_t d) const {
    return std::all_of(index_.begin() + static_cast<std::ptrdiff_t>(d) + 1, index_.end(),
                       [](std::uint64_t i) { return i == 0; });
  }

  void advance(std::size_t d, std::uint64_t n) {
    index_[d] += n;
    for (; d > 0 && index_[d] == storage_.dims[d]; --d) {
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

  std::unique_ptr<SlabReader> boxes_;
  StridedLayout storage_;
  DType dtype_;
  std::uint64_t bytes_;
  Dims index_;
  Dims inner_;  // elements of one index
  std::uint64_t room_ = 0;
};

template <std::size_t kBytes>
void copy_backwards(const std::byte* first, std::uint64_t stride, std::uint64_t n, std::byte* out) {
  for (std::uint64_t i = 0; i < n; ++i)
    std::memcpy(out + (n - 1 - i) * kBytes, first + i * stride * kBytes, kBytes);
}

template <std::size_t kBytes>
void copy_forwards(const std::byte* first, std::uint64_t stride, std::uint64_t n, std::byte* out) {
  for (std::uint64_t i = 0; i < n; ++i)
    std::memcpy(out + i * kBytes, first + i * stride * kBytes, kBytes);
}

using CopyFn = void (*)(const std::byte* first, std::uint64_t stride, std::uint64_t n,
                        std::byte* out);

// By the binary logarithm of an element's bytes.
constexpr CopyFn kBackwards[] = {copy_backwards<1>, copy_backwards<2>, copy_backwards<4>,
                                 copy_backwards<8>};
constexpr CopyFn kForwards[] = {copy_forwards<1>, copy_forwards<2>, copy_forwards<4>,
                                copy_forwards<8>};

// Boxes with some dims turned round.
class MirrorReader final : public SlabReader {
 public:
  MirrorReader(std::unique_ptr<SlabReader> boxes, const EditedView& view, DType dtype)
      : boxes_(std::move(boxes)),
        dims_(view.storage.dims),
        mirrored_(view.mirrored),
        dtype_(dtype),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Box behind = box;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (!mirrored_[d]) continue;
      behind.lo[d] = dims_[d] - box.hi[d];
      behind.hi[d] = dims_[d] - box.lo[d];
    }
    const Dims counts = box.counts();
    BTF_ASSIGN(SourceSlab slab, boxes_->read(behind));
    if (slab.mapping.split) slab = in_row_major(slab, counts, dtype_, plain_);
    std::byte* out = turned_.reserve(product(counts) * bytes_);
    turn(slab, counts, out);
    return SourceSlab{out, row_major(counts)};
  }

 private:
  void turn(const SourceSlab& slab, const Dims& counts, std::byte* out) const {
    const Dims& strides = slab.mapping.strides;
    const std::size_t last = counts.size() - 1;
    const auto width = static_cast<std::size_t>(std::countr_zero(bytes_));
    const CopyFn copy = mirrored_[last] ? kBackwards[width] : kForwards[width];
    Dims index(counts.size(), 0);
    for (;;) {
      std::uint64_t from = 0;
      for (std::size_t d = 0; d < last; ++d)
        from += (mirrored_[d] ? counts[d] - 1 - index[d] : index[d]) * strides[d];
      copy(slab.data + from * bytes_, strides[last], counts[last], out);
      out += counts[last] * bytes_;
      std::size_t d = last;
      for (; d > 0; --d) {
        if (++index[d - 1] < counts[d - 1]) break;
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

  std::unique_ptr<SlabReader> boxes_;
  Dims dims_;
  std::vector<bool> mirrored_;
  DType dtype_;
  std::uint64_t bytes_;
  Buffer plain_;
  Buffer turned_;
};

// Boxes of a view whose split dim begins inside a block, or takes lanes that go over blocks.
class LeadReader final : public SlabReader {
 public:
  LeadReader(std::unique_ptr<SlabReader> boxes, const EditedView& view, DType dtype)
      : boxes_(std::move(boxes)),
        lead_(view.lead),
        pace_(view.pace),
        split_(*view.storage.split),
        dtype_(dtype) {}

  Result<SourceSlab> read(const Box& box) override {
    Box behind = box;
    std::uint64_t& lo = behind.lo[split_.dim];
    std::uint64_t& hi = behind.hi[split_.dim];
    lo = lead_ + lo * pace_;
    hi = lead_ + (hi - 1) * pace_ + 1;
    const std::uint64_t lane = lo % split_.lanes;
    if (pace_ == 1 && (lane == 0 || lane + (hi - lo) <= split_.lanes)) return boxes_->read(behind);
    // Strides say which lane of which block only from the beginning of a block on.
    lo -= lane;
    BTF_ASSIGN(SourceSlab slab, boxes_->read(behind));
    slab = in_row_major(slab, behind.counts(), dtype_, plain_);
    std::uint64_t& stride = slab.mapping.strides[split_.dim];
    slab.data += lane * stride * info(dtype_).buffer_bytes();
    stride *= pace_;
    return slab;
  }

 private:
  std::unique_ptr<SlabReader> boxes_;
  std::uint64_t lead_;
  std::uint64_t pace_;
  Split split_;
  DType dtype_;
  Buffer plain_;
};

// `boxes` are of what strides say of the view.
std::unique_ptr<SlabReader> boxes_of(const EditedView& view, std::unique_ptr<SlabReader> boxes,
                                     DType dtype) {
  if (!view.by_strides()) boxes = std::make_unique<LeadReader>(std::move(boxes), view, dtype);
  if (view.mirrors()) boxes = std::make_unique<MirrorReader>(std::move(boxes), view, dtype);
  return boxes;
}

}  // namespace

std::unique_ptr<SlabReader> edited_reader(const ByteSource& source, const TensorInfo& record,
                                          std::span<const EditedView> views) {
  const DType dtype = *record.dtype;
  const EditedView* below = &views.front();
  auto reader =
      boxes_of(*below, record_reader(source, record, below->whole_storage(), below->base), dtype);
  for (const EditedView& view : views.subspan(1)) {
    auto runs = std::make_unique<RowMajorRuns>(std::move(reader), below->storage, dtype);
    reader =
        boxes_of(view, runs_reader(std::move(runs), view.whole_storage(), view.base, dtype), dtype);
    below = &view;
  }
  return reader;
}

}  // namespace btf
