// One side of a comparison, in a file or in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "btf/read.h"
#include "elements/coo_record.h"
#include "elements/slabs.h"
#include "kernels/number/grid.h"

namespace btf {

class DiffSide {
 public:
  virtual ~DiffSide() = default;
  virtual DType dtype() const = 0;
  virtual const Dims& dims() const = 0;
  // The stored array; nullptr for COO, which has none.
  virtual const StridedLayout* storage() const = 0;
  // True if the elements are not a stored array, so that only reader(*storage()) can read them.
  virtual bool has_no_stored_array() const { return false; }
  // The grid that its numbers are multiples of or rounded to. Must not be used after the side is
  // destroyed.
  virtual Grid grid() const { return {dtype()}; }
  // Reads boxes of the tensor. A COO tensor is read as if it were dense in `storage`: boxes must be
  // contiguous in it and ascending. `storage` must outlive the reader.
  virtual Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const = 0;
  // COO: its entries by row-major number, each number once; ranges must begin and end at marks.
  virtual Result<std::unique_ptr<CooSource>> entries(KeyRange range) const = 0;
  // See CooRecord. Empty for a dense side.
  virtual Result<std::span<const std::uint64_t>> entry_marks() const {
    return std::span<const std::uint64_t>();
  }
  virtual Result<std::vector<Element>> elements(std::span<const Dims> indices) const = 0;
};

// The layout in which a COO side is read next to a dense one: the storage of the dense side, so
// that both are read from front to back, if it has one element at every offset; otherwise
// row-major.
Result<StridedLayout> dense_layout_for_coo(const DiffSide& actual, const DiffSide& golden);

// The tensor as the edits leave it; no edit is a slice. The file and the record must outlive the
// side. Errors name the file and the tensor.
Result<std::unique_ptr<DiffSide>> file_side(const TensorFile& file, const TensorInfo& record,
                                            std::span<const Edit> edits,
                                            const Execution& execution);
inline Result<std::unique_ptr<DiffSide>> file_side(const TensorFile& file, const TensorInfo& record,
                                                   const Execution& execution) {
  return file_side(file, record, {}, execution);
}
Result<std::unique_ptr<DiffSide>> file_side(const TensorFile&, TensorInfo&&, std::span<const Edit>,
                                            const Execution&) = delete;
Result<std::unique_ptr<DiffSide>> file_side(const TensorFile&, TensorInfo&&,
                                            const Execution&) = delete;
Result<std::unique_ptr<DiffSide>> memory_side(const TensorView& view,
                                              std::span<const Edit> edits = {});

}  // namespace btf
