// A dense side through another view of its stored array.
#pragma once

#include "diff/pairs/side.h"

namespace btf::hints {

// For walks over boxes alone. The side outlives it.
class ViewedSide final : public DiffSide {
 public:
  ViewedSide(const DiffSide& side, StridedLayout view) : side_(side), view_(std::move(view)) {}

  DType dtype() const override { return side_.dtype(); }
  const Dims& dims() const override { return view_.dims; }
  const StridedLayout* storage() const override { return &view_; }
  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    return side_.reader(storage);
  }
  Result<std::unique_ptr<CooSource>> entries(KeyRange) const override {
    return fail(ErrorCode::unsupported, "a view of a dense tensor has no entries");
  }
  Result<std::vector<Element>> elements(std::span<const Dims>) const override {
    return fail(ErrorCode::unsupported, "a view is read in boxes");
  }

 private:
  const DiffSide& side_;
  StridedLayout view_;
};

}  // namespace btf::hints
