#include "elements/records/linear_walk.h"

#include "btf/convert.h"
#include "btf/try.h"
#include "elements/records/edited_view.h"
#include "elements/records/record_boxes.h"
#include "elements/row_major.h"

namespace btf {

struct LinearWalk::State {
  const ByteSource& source;
  const TensorInfo& record;
  EditChain edits;
  Execution execution;
  StridedLayout linear;
  StridedLayout storage;
  SlabGrid grid;
  std::uint64_t slab = 0;
  std::unique_ptr<SlabReader> reader;
  Buffer codes;
};

Result<LinearWalk> LinearWalk::open(const ByteSource& source, const TensorInfo& record,
                                    const EditChain& edits, const Execution& execution) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  BTF_ASSIGN(StridedLayout linear, resolve(Layout::linear, dims, *record.dtype));
  StridedLayout storage = record.coo ? linear : edited_views(*record.storage, edits).back().storage;
  const std::uint64_t bytes = info(*record.dtype).buffer_bytes();
  SlabGrid grid = choose_slabs({&storage, bytes}, {&linear, bytes}, {.target_contiguous = true});
  auto state = std::make_shared<State>(State{.source = source,
                                             .record = record,
                                             .edits = edits,
                                             .execution = execution,
                                             .linear = std::move(linear),
                                             .storage = std::move(storage),
                                             .grid = std::move(grid),
                                             .reader = {},
                                             .codes = {}});
  LinearWalk walk(std::move(state));
  BTF_TRY(walk.rewind());
  return walk;
}

Status LinearWalk::rewind() {
  State& s = *state_;
  s.slab = 0;
  // Only entries of a COO record come in one order.
  if (s.reader && !s.record.coo) return {};
  BTF_ASSIGN(s.reader, open_slab_reader(s.source, s.record, s.edits, s.storage, Duplicates::error,
                                        s.execution));
  return {};
}

Result<std::optional<LinearSlab>> LinearWalk::next() {
  State& s = *state_;
  if (s.slab == s.grid.count()) return std::nullopt;
  const Box box = s.grid.box(s.slab++);
  BTF_ASSIGN(const SourceSlab read, s.reader->read(box));
  const Footprint to = footprint(s.linear, box);
  const SourceSlab codes = in_row_major(read, box.counts(), *s.record.dtype, s.codes);
  return LinearSlab{to.base, to.elements, codes.data};
}

}  // namespace btf
