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
  // Its elements are no stored array: they can be read through storage() only.
  virtual bool rearranged() const { return false; }
  // The grid that its numbers are multiples or roundings of. It does not outlive the side.
  virtual Grid grid() const { return {dtype()}; }
  // Boxes of the tensor. A COO tensor is read as if it were dense in `storage`: boxes must be
  // contiguous there and ascending. `storage` outlives the reader.
  virtual Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const = 0;
  // COO: its entries by their row-major number, each number once; of a part only between marks.
  virtual Result<std::unique_ptr<CooSource>> entries(KeyRange range) const = 0;
  // See CooRecord. None of a dense side.
  virtual Result<std::span<const std::uint64_t>> entry_marks() const {
    return std::span<const std::uint64_t>();
  }
  virtual Result<std::vector<Element>> elements(std::span<const Dims> indices) const = 0;
};

// The layout that a COO side is read in beside a dense one: that one's storage, so that both are
// read from front to back, if every offset there has one element; else row-major.
Result<StridedLayout> spelt_out_as(const DiffSide& actual, const DiffSide& golden);

// The tensor as the edits leave it, none of which is a slice. The file and the record outlive the
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
