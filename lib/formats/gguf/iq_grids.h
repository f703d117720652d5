// The code books of ggml's IQ types: each entry says of a few neighbours which of a few magnitudes
// they have.
#pragma once

#include <array>
#include <cstdint>

namespace btf::ggml_blocks {

// Eight numbers an entry, the first in the lowest two bits.
extern const std::array<std::uint16_t, 256> kIq2Xxs;
extern const std::array<std::uint16_t, 512> kIq2Xs;
extern const std::array<std::uint16_t, 1024> kIq2S;
extern const std::array<std::uint16_t, 2048> kIq1;
// Four numbers an entry, the first in the lowest four bits.
extern const std::array<std::uint16_t, 256> kIq3Xxs;
extern const std::array<std::uint16_t, 512> kIq3S;

}  // namespace btf::ggml_blocks
