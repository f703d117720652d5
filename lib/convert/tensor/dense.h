// Conversions to a dense tensor: a record cast in row-major order, slab by slab on several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "convert/tensor/target.h"
#include "core/resources.h"
#include "elements/records.h"

namespace btf {

class CastSlabs {
 public:
  // Everything that `work` refers to must outlive the result.
  static Result<CastSlabs> open(const TensorConversion& work, unsigned most_workers = UINT32_MAX);

  std::uint64_t count() const { return slabs_.count(); }
  unsigned workers() const { return slabs_.workers(); }

  // Returns codes of the target's dtype, valid until the worker's next call. Losses are added to
  // the account; an error if the policy forbids them.
  Result<LinearSlab> read(unsigned worker, std::uint64_t slab);

  Losses account() const;
  void forget_account();

 private:
  struct Worker {
    Buffer codes;
    Losses account;
  };

  CastSlabs(const TensorConversion& work, LinearSlabs slabs);
  std::unexpected<Error> refuse_in(const LinearSlab& slab) const;

  TensorConversion work_;
  LinearSlabs slabs_;
  std::vector<Worker> workers_;
  std::unique_ptr<std::mutex> progress_ = std::make_unique<std::mutex>();
};

}  // namespace btf
