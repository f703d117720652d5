// Single elements of a stored tensor as numbers, from anywhere in it and in any layout.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "convert/quantize/plan.h"
#include "elements/stored_elements.h"
#include "kernels/number/widen.h"

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
  // The same for many: NaN where it cannot be read, and trouble() says why.
  double number_at(std::uint64_t number) {
    const double code = code_at(number);
    return scaled() ? scaled(code, number) : code;
  }
  const std::optional<Error>& trouble() const { return trouble_; }
  // The largest finite magnitude; reads all of it, once.
  Result<double> peak();

 private:
  StoredNumbers() = default;
  std::uint64_t stored_place(std::uint64_t number) const;
  double code_at(std::uint64_t number) {
    if (!stored_) return whole_[number];
    const std::uint64_t place = plain_ ? number : stored_place(number);
    const std::uint64_t block = place / kBlock;
    // Scattered, as channels are whole powers of two apart.
    const std::uint64_t slot = (block * 0x9e3779b97f4a7c15 >> 32) % held_.size();
    if (held_[slot] != block && !read_block(block, slot)) return kNoNumber;
    return numbers_[slot * kBlock + place % kBlock];
  }
  bool read_block(std::uint64_t block, std::uint64_t slot);
  std::uint64_t which_scale(std::uint64_t number) const;
  double scaled(double code, std::uint64_t number) const;

  static constexpr std::uint64_t kBlock = 64;  // elements that are read at once
  static constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

  std::shared_ptr<const TensorFile> file_;
  std::unique_ptr<TensorInfo> tensor_;  // where it stays: `stored_` refers to it
  std::unique_ptr<StoredElements> stored_;
  QuantizePlan scales_;
  std::uint64_t elements_ = 0;
  bool plain_ = false;  // stands in row-major order
  WidenFn<double> widen_ = nullptr;
  std::vector<std::byte> bytes_;     // of a block
  std::vector<std::uint64_t> held_;  // which block is in each slot
  std::vector<double> numbers_;      // of all slots
  std::optional<Error> trouble_;
  std::vector<double> whole_;  // of what is read at once
  std::optional<double> peak_;
};

}  // namespace btf::network
