// What a run was computed in, as the own errors of its layers show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace btf {

// A layer that follows from its inputs.
struct OwnSample {
  bool product = false;
  bool moves = false;         // its operator rounds nothing
  std::string window{};       // of a convolution: "3 x 3"; else empty
  double own_error = 0;
  std::uint32_t bits = 0;     // of a significand, that its numbers use
  bool codes = false;         // it is explained by 8-bit codes alone
};

// "products in bfloat16, sums and the rest in float32 (from 61 layers)". Empty: nothing tells.
std::string arithmetic_text(const std::vector<OwnSample>& layers);

}  // namespace btf
