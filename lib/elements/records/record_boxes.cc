#include "elements/records/record_boxes.h"

#include <cstring>

#include "btf/try.h"
#include "elements/coo.h"
#include "elements/coo_record.h"
#include "elements/records/edited_reader.h"

namespace btf {
namespace {

// The entries' keys are offsets in `storage`.
class CooReader final : public SlabReader {
 public:
  CooReader(std::unique_ptr<CooSource> entries, StridedLayout storage, DType dtype)
      : entries_(std::move(entries)),
        storage_(std::move(storage)),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Footprint from = footprint(storage_, box);
    std::byte* data = slab_.reserve(from.elements * bytes_);
    std::memset(data, 0, from.elements * bytes_);
    BTF_TRY(entries_.fill(from.base, from.elements, data));
    return SourceSlab{data, std::move(from.packed)};
  }

 private:
  CooFiller entries_;
  StridedLayout storage_;
  std::uint64_t bytes_;
  Buffer slab_;
};

}  // namespace

Result<std::unique_ptr<SlabReader>> open_slab_reader(
    const ByteSource& source, const TensorInfo& record, const EditChain& edits,
    const StridedLayout& storage, Duplicates duplicates, const Execution& execution) {
  if (!record.coo && edits.empty()) return record_reader(source, record, storage);
  if (!record.coo) return edited_reader(source, record, edited_views(*record.storage, edits));
  CooKey key = edited_key(edits, storage_key(storage));
  BTF_ASSIGN(auto entries, sorted_entries(source, record, std::move(key), execution));
  return std::make_unique<CooReader>(canonical_entries(std::move(entries), duplicates), storage,
                                     *record.dtype);
}

}  // namespace btf
