#include "inspect/element_passes.h"

#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "elements/element_access.h"
#include "elements/parallel.h"

namespace btf {

Result<ElementPasses> ElementPasses::open(const TensorFile& file, const TensorInfo& tensor,
                                          const Execution& execution) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  ElementPasses passes;
  passes.file_ = &file;
  passes.tensor_ = &tensor;
  passes.execution_ = execution;
  passes.execution_.progress = nullptr;  // the statistics before it have reported all bytes
  passes.elements_ = *element_count(tensor.dims);
  const auto opened = [&]() -> Status {
    if (tensor.coo) {
      BTF_ASSIGN(passes.entries_,
                 CooRecord::open(*source, tensor, row_major_key(tensor.dims), passes.execution_));
    } else {
      BTF_ASSIGN(passes.slabs_, LinearSlabs::open(*source, tensor, {}, passes.execution_));
    }
    return {};
  }();
  if (!opened) return std::unexpected(file.about(tensor.index, opened.error()));
  return passes;
}

unsigned ElementPasses::workers() const { return slabs_ ? slabs_->workers() : 1; }

Status ElementPasses::run(
    const std::function<void(unsigned worker, const ElementPiece&)>& take) const {
  Status done;
  if (entries_) {
    done = run_entries(take);
  } else {
    stored_ = elements_;
    done = for_each_slab(execution_, slabs_->workers(), slabs_->count(),
                         [&](unsigned worker, std::uint64_t number) -> Status {
                           BTF_ASSIGN(const LinearSlab slab, slabs_->read(worker, number));
                           take(worker, {slab.codes, slab.count, {slab.first}});
                           return {};
                         });
  }
  if (!done) return std::unexpected(file_->about(tensor_->index, done.error()));
  return {};
}

Status ElementPasses::run_entries(
    const std::function<void(unsigned worker, const ElementPiece&)>& take) const {
  BTF_ASSIGN(auto sorted, entries_->entries());
  const auto entries = canonical_entries(std::move(sorted));
  stored_ = 0;
  for (;;) {
    BTF_TRY(check_cancelled(execution_));
    BTF_ASSIGN(const CooRun run, entries->next_run());
    if (run.count == 0) return {};
    take(0, {run.code(0), run.count, {.each = run.keys}});
    stored_ += run.count;
  }
}

}  // namespace btf
