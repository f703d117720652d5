// Which tensor of one file is compared with which of the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/diff.h"

namespace btf {

struct TensorPair {
  std::optional<std::uint64_t> actual;  // indices in their files
  std::optional<std::uint64_t> golden;
};

class TensorPairs {
 public:
  static Result<TensorPairs> of(const TensorFile& actual, const TensorFile& golden,
                                const DiffOptions& options);

  std::uint64_t size() const;
  TensorPair at(std::uint64_t number) const;

 private:
  using Selection = std::optional<std::vector<std::uint64_t>>;

  // One side's tensors: those selected, or all.
  struct Side {
    const TensorFile* file = nullptr;
    Selection selected;

    std::uint64_t count() const { return selected ? selected->size() : file->tensor_count(); }
    std::uint64_t at(std::uint64_t i) const { return selected ? (*selected)[i] : i; }
  };

  Status pair_by_name(bool only_actual);
  Status put_in_order();

  Side actual_;
  Side golden_;
  std::optional<std::vector<TensorPair>> by_name_;  // nothing: in their order
};

}  // namespace btf
