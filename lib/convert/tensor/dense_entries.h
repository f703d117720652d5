// A dense tensor as the entries of a COO tensor: the elements whose bits are not all zero once they
// are cast.
#pragma once

#include <cstdint>
#include <vector>

#include "convert/tensor/cast_slabs.h"
#include "convert/tensor/tensor.h"
#include "elements/coo.h"

namespace btf {

// One after the other, their codes of the target's dtype.
class DenseEntries final : public CooSource {
 public:
  static Result<std::unique_ptr<DenseEntries>> open(const TensorConversion& work);

  Result<CooRun> next_run() override;
  Status rewind() override;

  Losses account() const { return slabs_.account(); }

 private:
  DenseEntries(const TensorConversion& work, CastSlabs slabs);
  void collect();

  CastSlabs slabs_;
  std::uint64_t bytes_;
  std::uint64_t next_ = 0;  // slab
  LinearSlab slab_;
  std::vector<std::uint64_t> bits_;  // which of its elements are entries; those collected are not
  std::uint64_t word_ = 0;           // the first that may have one
  CooBatch batch_;
};

// How many of each slab, by all threads.
Result<EntryCounts> count_dense_entries(const TensorConversion& work);

// All of them by all threads. Elements of 8 bits and more, a sink with random access.
Result<Losses> write_dense_entries(const TensorConversion& work, ByteSink& sink,
                                   std::uint64_t offset, const EntryCounts& counts);

}  // namespace btf
