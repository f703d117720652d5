#include "elements/records/linear_walk.h"

#include <algorithm>

#include "btf/convert.h"
#include "btf/try.h"
#include "elements/parallel.h"
#include "elements/records/edited_view.h"
#include "elements/records/record_boxes.h"
#include "elements/row_major.h"

namespace btf {
namespace {

constexpr std::uint64_t kBoxBytes = 4U << 20;
// From runs shorter than this, boxes are worth more memory: the runs get longer with them, and what
// stands between them is read less often.
constexpr std::uint64_t kLongRun = 2U << 10;

SlabGrid choose_grid(const StridedLayout& storage, const StridedLayout& linear, std::uint64_t bytes,
                     std::uint64_t most) {
  const SlabSide from{&storage, bytes};
  const auto grid = [&](std::uint64_t limit) {
    return choose_slabs(from, {&linear, bytes},
                        {.bytes = std::min(limit, most), .target_contiguous = true});
  };
  if (storage.strides == linear.strides && !storage.split) return grid(kStraightSlab);
  SlabGrid slabs = grid(kBoxBytes);
  const bool short_runs = slabs.count() > 0 && run_bytes(from, slabs.box(0)) < kLongRun;
  return short_runs ? grid(most) : slabs;
}

}  // namespace

struct LinearSlabs::State {
  struct Worker {
    std::unique_ptr<SlabReader> reader;
    Buffer codes;
  };
  const ByteSource& source;
  const TensorInfo& record;
  EditChain edits;
  Execution execution;
  StridedLayout linear;
  StridedLayout storage;
  SlabGrid grid;
  std::vector<Worker> workers;
};

Result<LinearSlabs> LinearSlabs::open(const ByteSource& source, const TensorInfo& record,
                                      const EditChain& edits, const Execution& execution,
                                      unsigned most_workers) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  BTF_ASSIGN(StridedLayout linear, resolve(Layout::linear, dims, *record.dtype));
  StridedLayout storage = linear;
  std::uint64_t buffers = 1;
  if (!record.coo) {
    std::vector<EditedView> views = edited_views(*record.storage, edits);
    buffers = buffers_of(views);
    storage = std::move(views.back().storage);
  }
  const std::uint64_t bytes = info(*record.dtype).buffer_bytes();
  const std::uint64_t all = linear.storage_elements * bytes;
  const unsigned most = record.coo ? 1 : std::min(most_workers, worker_count(execution, all, all));
  SlabGrid grid =
      choose_grid(storage, linear, bytes, most_slab_bytes(execution, most) * 2 / (buffers + 1));
  const auto workers = static_cast<unsigned>(std::clamp<std::uint64_t>(grid.count(), 1, most));
  auto state = std::make_shared<State>(State{.source = source,
                                             .record = record,
                                             .edits = edits,
                                             .execution = execution,
                                             .linear = std::move(linear),
                                             .storage = std::move(storage),
                                             .grid = std::move(grid),
                                             .workers = std::vector<State::Worker>(workers)});
  LinearSlabs slabs(std::move(state));
  BTF_TRY(slabs.open_readers());
  return slabs;
}

Status LinearSlabs::open_readers() {
  State& s = *state_;
  for (State::Worker& worker : s.workers) {
    BTF_ASSIGN(worker.reader, open_slab_reader(s.source, s.record, s.edits, s.storage,
                                               Duplicates::error, s.execution));
  }
  return {};
}

std::uint64_t LinearSlabs::count() const { return state_->grid.count(); }

unsigned LinearSlabs::workers() const { return static_cast<unsigned>(state_->workers.size()); }

Result<LinearSlab> LinearSlabs::read(unsigned worker, std::uint64_t slab) {
  State& s = *state_;
  State::Worker& mine = s.workers[worker];
  const Box box = s.grid.box(slab);
  BTF_ASSIGN(const SourceSlab read, mine.reader->read(box));
  const Footprint to = footprint(s.linear, box);
  const SourceSlab codes = in_row_major(read, box.counts(), *s.record.dtype, mine.codes);
  return LinearSlab{to.base, to.elements, codes.data};
}

Result<LinearWalk> LinearWalk::open(const ByteSource& source, const TensorInfo& record,
                                    const EditChain& edits, const Execution& execution) {
  BTF_ASSIGN(LinearSlabs slabs, LinearSlabs::open(source, record, edits, execution, 1));
  return LinearWalk(std::move(slabs));
}

Status LinearWalk::rewind() {
  slab_ = 0;
  // Only entries of a COO record come in one order.
  return slabs_.state_->record.coo ? slabs_.open_readers() : Status{};
}

Result<std::optional<LinearSlab>> LinearWalk::next() {
  if (slab_ == slabs_.count()) return std::nullopt;
  BTF_ASSIGN(const LinearSlab slab, slabs_.read(0, slab_++));
  return slab;
}

}  // namespace btf
