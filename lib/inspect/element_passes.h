// The elements of a tensor, whatever its layout, any number of times: for results that do not
// depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "btf/execution.h"
#include "btf/file.h"
#include "elements/coo_record.h"
#include "elements/records/linear_walk.h"
#include "inspect/chunk_stats.h"

namespace btf {

// Codes of buffer_bytes() each, and their row-major numbers.
struct ElementPiece {
  const std::byte* codes = nullptr;
  std::uint64_t count = 0;
  ChunkNumbers numbers;
};

class ElementPasses {
 public:
  static Result<ElementPasses> open(const TensorFile& file, const TensorInfo& tensor,
                                    const Execution& execution);

  unsigned workers() const;

  // All elements that are stored, on several threads; each worker takes one piece at a time.
  Status run(const std::function<void(unsigned worker, const ElementPiece&)>& take) const;

  // How many elements a COO tensor does not store; their bits are zero. Known after a run().
  std::uint64_t absent() const { return elements_ - stored_; }
  std::uint64_t elements() const { return elements_; }

 private:
  ElementPasses() = default;
  Status run_entries(const std::function<void(unsigned worker, const ElementPiece&)>& take) const;

  const TensorFile* file_ = nullptr;
  const TensorInfo* tensor_ = nullptr;
  Execution execution_;
  std::uint64_t elements_ = 0;
  mutable std::uint64_t stored_ = 0;
  // One of them.
  mutable std::optional<LinearSlabs> slabs_;
  std::optional<CooRecord> entries_;
};

}  // namespace btf
