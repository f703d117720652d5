// Sorting COO entries in bounded memory, and adding up those of one index.
#pragma once

#include <cstdint>
#include <memory>

#include "btf/dtype.h"
#include "ops/coo.h"

namespace btf {

// All `count` entries. Sorted runs of at most `memory` bytes; more than one go to an unlinked file
// and are merged.
Result<std::unique_ptr<CooSource>> sort_entries(CooSource& entries, std::uint64_t count,
                                                std::uint64_t memory);

// The sum of values of one dtype, rounded and clamped to it once, at the end. Integers add exactly
// and floats in double.
class CooSum {
 public:
  explicit CooSum(DType dtype) : dtype_(dtype) {}
  void add(std::uint64_t code);
  std::uint64_t code() const;

 private:
  __extension__ using Wide = __int128;
  DType dtype_;
  Wide integer_ = 0;
  double real_ = -0.0;
};

}  // namespace btf
