// Which elements of a layer are recomputed: the same ones whatever the number of threads.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "btf/layout.h"

namespace btf {

inline constexpr std::size_t kSpotElements = 256;

// Numbers of elements in row-major order, each once: `worst` first, then some at random and of
// every channel, side by side where that saves reading. All of a small tensor. `name` is what the
// choice follows from.
std::vector<std::uint64_t> spot_sample(const Dims& dims, std::string_view name,
                                       const std::vector<std::uint64_t>& worst);

// Some elements of the same channel, of the same row and so on: is all of it as this element is?
std::vector<std::uint64_t> spot_around(std::uint64_t number, const Dims& dims,
                                       std::string_view name);

// Elements of a tensor that may be computed from this element of another: at the same relative
// place, in a few channels.
std::vector<std::uint64_t> spot_shadow(std::uint64_t number, const Dims& from, const Dims& to);

}  // namespace btf
