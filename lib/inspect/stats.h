// Statistics of the elements of a tensor, chunk by chunk, in as few passes as possible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/inspect.h"
#include "elements/coo_record.h"
#include "elements/records.h"
#include "kernels/number/widen.h"

namespace btf {

// Sums restart after this many elements, counted from the tensor's first. Nothing else splits them,
// so that their last digits depend on the elements alone.
inline constexpr std::uint64_t kStatsChunk = 1024;

// Mean and sum of squared deviations, merged chunk by chunk (Chan, Golub, LeVeque). The mean is
// `mean` + `rest`, since one double is not enough for large numbers with small differences.
struct Moments {
  long double count = 0;
  long double mean = 0;
  long double rest = 0;
  long double squares = 0;

  void add(const Moments& other);
};

// Counts elements in any order. Row-major numbers determine which of them is first.
struct Tally {
  struct FoundNumber {
    long double value = 0;  // holds the numbers of any dtype
    std::uint64_t code = 0;
    std::uint64_t at = 0;
  };
  TensorStats counts;  // other members are not used
  std::optional<FoundNumber> min;
  std::optional<FoundNumber> max;
  std::optional<std::uint64_t> first_nan;

  void keep_min(const FoundNumber& kept);
  void keep_max(const FoundNumber& kept);
  void keep_nan(std::uint64_t at);
  void add(const Tally& other);
};

// The row-major numbers of a chunk's elements.
struct ChunkNumbers {
  std::uint64_t first = 0;
  const std::uint64_t* each = nullptr;  // nullptr if they are consecutive

  std::uint64_t operator[](std::uint64_t i) const { return each != nullptr ? each[i] : first + i; }
};

// Not for several threads at once.
class ChunkStats {
 public:
  explicit ChunkStats(DType dtype);

  // Takes at most kStatsChunk elements, aligned to their size and ascending. Returns their moments,
  // which are not added to the counts.
  Moments add(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers);

  // Adds `count` elements whose bits are zero.
  Moments add_absent(std::uint64_t first, std::uint64_t count);

  const Tally& tally() const { return tally_; }

 private:
  Moments add_numbers(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers);
  Moments add_integers(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers);
  std::uint64_t take_out_special(std::uint64_t count, ChunkNumbers numbers);
  Moments wide_moments(std::uint64_t count) const;
  bool lower(long double value, ChunkNumbers numbers) const;
  bool higher(long double value, ChunkNumbers numbers) const;
  Tally::FoundNumber kept(const std::byte* codes, std::uint64_t i, long double value,
                          ChunkNumbers numbers) const;

  const DTypeInfo& row_;
  bool integers_;           // integers of 64 bits, which double cannot represent
  std::uint64_t turn_ = 0;  // bits to invert for unsigned order
  WidenFn<double> widen_;
  double limit_;  // smaller magnitudes are zero or subnormal
  bool has_subnormals_;
  Tally tally_;
  std::array<double, kStatsChunk> values_;
  std::array<std::uint16_t, kStatsChunk> places_;  // positions of finite values in their chunk
};

// Passes over the elements of a tensor of any layout, for results that do not depend on the order.

// Codes of buffer_bytes() each, with their row-major numbers.
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

  // Passes all stored elements to `take`, on several threads; each worker gets one piece at a time.
  Status run(const std::function<void(unsigned worker, const ElementPiece&)>& take) const;

  // The number of elements that a COO tensor does not store, whose bits are zero. Valid after
  // run().
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
  // Exactly one of these is used.
  mutable std::optional<LinearSlabs> slabs_;
  std::optional<CooRecord> entries_;
};

}  // namespace btf
