// Losses of a conversion: the account, and the noise if it is asked for.
#pragma once

#include <optional>

#include "btf/cast.h"
#include "kernels/stats/noise.h"

namespace btf {

struct Losses : LossAccount {
  std::optional<Noise> noise{};

  Losses() = default;
  explicit Losses(bool measure_noise) {
    if (measure_noise) noise.emplace();
  }

  using LossAccount::add;
  void add(const Losses& other) {
    LossAccount::add(other);
    if (noise && other.noise) noise->add(*other.noise);
  }
};

}  // namespace btf
