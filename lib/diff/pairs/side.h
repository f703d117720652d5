// One side of a comparison, in a file or in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "btf/read.h"
#include "elements/coo.h"
#include "elements/slab_io.h"

namespace btf {

class DiffSide {
 public:
  virtual ~DiffSide() = default;
  virtual DType dtype() const = 0;
  virtual const Dims& dims() const = 0;
  // The stored array; nullptr for COO, which has none.
  virtual const StridedLayout* storage() const = 0;
  // Boxes of the tensor. A COO tensor is read as if it were dense in `storage`, row-major: boxes
  // must be contiguous there and ascending. `storage` outlives the reader.
  virtual Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const = 0;
  // COO: its entries by their row-major number, each number once.
  virtual Result<std::unique_ptr<CooSource>> entries() const = 0;
  virtual Result<std::vector<Element>> elements(std::span<const Dims> indices) const = 0;
};

// Errors name the file and the tensor.
Result<std::unique_ptr<DiffSide>> file_side(const TensorFile& file, const TensorInfo& record,
                                            const Execution& execution);
std::unique_ptr<DiffSide> memory_side(const TensorView& view);

}  // namespace btf
