// Single elements of a stored tensor as numbers, from anywhere in it and in any layout.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "convert/quantize/plan.h"
#include "core/read_errors.h"
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
  // Numbers that are in memory, in row-major order.
  static StoredNumbers of(std::shared_ptr<const std::vector<double>> numbers, Dims dims,
                          DType dtype);

  // Notes its errors of reading there, too, under this name.
  void note_troubles(std::shared_ptr<ReadTroubles> troubles, std::string name) {
    noted_ = std::move(troubles);
    name_ = std::move(name);
  }

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
  // As many as `into` has, from `first` on.
  void numbers_at(std::uint64_t first, std::span<double> into);
  // The same for whoever goes through all of them once: keeps none.
  void pass_over(std::uint64_t first, std::span<double> into);
  const std::optional<Error>& trouble() const { return trouble_; }
  // The largest finite magnitude; reads all of it, once.
  Result<double> peak();

 private:
  StoredNumbers() = default;
  void give_up(const Error& error);
  std::uint64_t stored_place(std::uint64_t number) const;
  double code_at(std::uint64_t number) {
    if (!stored_) return (*whole_)[number];
    const std::uint64_t place = plain_ ? number : stored_place(number);
    const auto slot = slot_of(place / kBlock);
    return slot ? numbers_[*slot * kBlock + place % kBlock] : kNoNumber;
  }
  // Where the block is held, after reading it if need be.
  std::optional<std::uint64_t> slot_of(std::uint64_t block) {
    const std::uint64_t set = set_of(block);
    for (std::uint64_t slot = set * kWays; slot < (set + 1) * kWays; ++slot)
      if (held_[slot] == block) return slot;
    return read_blocks(block);
  }
  // Scattered, as channels are whole powers of two apart.
  std::uint64_t set_of(std::uint64_t block) const {
    return (block * 0x9e3779b97f4a7c15 >> 32) & (next_.size() - 1);
  }
  // The slot of the block. Reads as far as the last blocks that were wanted lay apart: a window's
  // rows are near one another, and far from those of the next channel.
  std::optional<std::uint64_t> read_blocks(std::uint64_t block);
  std::uint64_t hold(std::uint64_t block, const std::byte* bytes, std::uint64_t count);
  std::uint64_t which_scale(std::uint64_t number) const;
  double scaled(double code, std::uint64_t number) const;

  static constexpr std::uint64_t kBlock = 64;       // elements that are read at once
  static constexpr std::uint64_t kMostAtOnce = 16;  // blocks
  static constexpr std::uint64_t kWays = 4;         // blocks that one set of the table holds
  static constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

  std::shared_ptr<const TensorFile> file_;
  std::unique_ptr<TensorInfo> tensor_;  // where it stays: `stored_` refers to it
  std::unique_ptr<StoredElements> stored_;
  QuantizePlan scales_;
  std::uint64_t elements_ = 0;
  bool plain_ = false;  // stands in row-major order
  WidenFn<double> widen_ = nullptr;
  std::vector<std::byte> bytes_;       // of what is read at once
  std::vector<std::uint64_t> held_;    // which block is in each slot, sets of kWays
  std::vector<std::uint8_t> next_;     // which slot of each set is taken next
  std::uint64_t run_begin_ = 0;        // the first block of those that lie near one another
  std::uint64_t run_blocks_ = 1;       // from there on, as wanted so far
  std::unique_ptr<double[]> numbers_;  // of all slots; pages that are not used are not touched
  std::optional<Error> trouble_;
  std::shared_ptr<ReadTroubles> noted_;  // nullptr: nowhere
  std::string name_;
  std::vector<std::byte> run_;  // bytes of what is passed over
  std::shared_ptr<const std::vector<double>> whole_;  // of what is read at once
  std::optional<double> peak_;
};

}  // namespace btf::network
