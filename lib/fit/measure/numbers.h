// The numbers of a value of a network, from first to last: of a dump, of the model's weights, or
// computed from these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "network/node/strides.h"
#include "network/stored.h"

namespace btf {

inline constexpr std::size_t kFitRun = 4096;  // numbers that are looked at together

class Numbers {
 public:
  explicit Numbers(network::StoredNumbers stored) : stored_(std::move(stored)) {}

  const Dims& dims() const { return stored_.tensor().dims; }
  DType dtype() const { return *stored_.tensor().dtype; }
  bool floating() const { return info(dtype()).floating(); }
  std::uint64_t elements() const { return stored_.elements(); }

  // As many as `into` has, from the row-major number `first` on.
  Status read(std::uint64_t first, std::span<double> into);

 private:
  network::StoredNumbers stored_;
};

// The numbers of an input at the places of a result, in the result's order.
class PlacedNumbers {
 public:
  // `dims`: the input's, as they are broadcast to `result`.
  PlacedNumbers(Numbers& numbers, const Dims& dims, const Dims& result);

  Status read(std::uint64_t first, std::span<double> into);
  // Is any of the numbers at places [begin, end) among those marked?
  bool any(std::uint64_t begin, std::uint64_t end, const std::vector<bool>& marked) const;

 private:
  // The last dims of the result through which the input either goes as it is, or stays at one
  // number; `count` places of the result.
  struct Inner {
    std::uint64_t count = 1;
    bool stays = false;
  };

  Numbers& numbers_;
  network::Broadcast place_;
  Inner inner_;
};

}  // namespace btf
