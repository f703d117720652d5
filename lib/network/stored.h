// Single elements of a stored tensor as numbers, from anywhere in it and in any layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "convert/quantize/plan.h"
#include "elements/stored_elements.h"

namespace btf::network {

// Reads blocks of a few elements, and keeps some of them. Not for several threads at once.
class StoredNumbers {
 public:
  // Codes become the numbers that `scales` makes of them. Refuses what is not read here: codes
  // whose scales are a tensor of blocks, sparse tensors of many elements.
  static Result<StoredNumbers> open(std::shared_ptr<const TensorFile> file, TensorInfo tensor,
                                    QuantizePlan scales = {});

  const TensorInfo& tensor() const { return *tensor_; }
  bool scaled() const { return scales_.scaling == Scaling::dequantize; }
  std::uint64_t elements() const { return elements_; }

  // Half a step of digits, of values that were text; else 0.
  double text_step(double value) const;
  // Half a step of the stored type around a value at this element; of codes, half their scale.
  double half_step(std::uint64_t number, double value) const;
  // Is the element a code at the end of its range, beyond which there is no other?
  Result<bool> at_end(std::uint64_t number);

  // By the number of an element in row-major order.
  Result<double> at(std::uint64_t number);
  // The largest finite magnitude; reads all of it, once.
  Result<double> peak();

 private:
  StoredNumbers() = default;
  std::uint64_t stored_place(std::uint64_t number) const;
  Result<double> code_at(std::uint64_t number);
  std::uint64_t which_scale(std::uint64_t number) const;
  double scaled(double code, std::uint64_t number) const;

  struct Block {
    std::uint64_t number = UINT64_MAX;
    std::vector<double> numbers{};
  };

  std::shared_ptr<const TensorFile> file_;
  std::unique_ptr<TensorInfo> tensor_;  // where it stays: `stored_` refers to it
  std::unique_ptr<StoredElements> stored_;
  QuantizePlan scales_;
  std::uint64_t elements_ = 0;
  bool plain_ = false;  // stands in row-major order
  std::vector<Block> blocks_;
  std::vector<double> whole_;  // of what is read at once
  std::optional<double> peak_;
};

}  // namespace btf::network
