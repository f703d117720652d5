// Single elements of a side, by the row-major number of a view on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "diff/pairs/side.h"

namespace btf::hints {

class Lookup {
 public:
  // COO sides have their own view only.
  static Result<Lookup> open(const DiffSide& side, const StridedLayout& view);

  // Dense: one read each, or one for all that a small tensor has. COO: one search for all, and none
  // for those asked for before.
  Result<std::vector<std::uint64_t>> codes(std::span<const std::uint64_t> numbers);
  Result<std::vector<long double>> values(std::span<const std::uint64_t> numbers);

  const DiffSide& side() const { return *side_; }
  const StridedLayout& view() const { return *view_; }

 private:
  Lookup(const DiffSide& side, const StridedLayout& view)
      : side_(&side), view_(std::make_unique<StridedLayout>(view)) {}
  Status search(std::span<const std::uint64_t> numbers);
  Status load();

  const DiffSide* side_;
  std::unique_ptr<StridedLayout> view_;  // the reader holds on to it
  std::unique_ptr<SlabReader> reader_;
  std::vector<std::byte> all_;                              // of a small tensor, row-major
  std::unordered_map<std::uint64_t, std::uint64_t> found_;  // COO
};

long double value_of(DType dtype, std::uint64_t code);

}  // namespace btf::hints
