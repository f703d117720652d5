// Decoding of ggml's blocks, one at a time; docs/formats.md has the layouts.
// Each number is computed in float32 in the order in which ggml computes it, so it is the same to
// the bit.
#pragma once

#include <cstddef>

namespace btf::ggml_blocks {

// 32 numbers
void q4_0(const std::byte* block, float* numbers);
void q4_1(const std::byte* block, float* numbers);
void q5_0(const std::byte* block, float* numbers);
void q5_1(const std::byte* block, float* numbers);
void q8_0(const std::byte* block, float* numbers);
void mxfp4(const std::byte* block, float* numbers);
void iq4_nl(const std::byte* block, float* numbers);
// 64
void nvfp4(const std::byte* block, float* numbers);
// 256
void q2_k(const std::byte* block, float* numbers);
void q3_k(const std::byte* block, float* numbers);
void q4_k(const std::byte* block, float* numbers);
void q5_k(const std::byte* block, float* numbers);
void q6_k(const std::byte* block, float* numbers);
void iq1_s(const std::byte* block, float* numbers);
void iq1_m(const std::byte* block, float* numbers);
void iq2_xxs(const std::byte* block, float* numbers);
void iq2_xs(const std::byte* block, float* numbers);
void iq2_s(const std::byte* block, float* numbers);
void iq3_xxs(const std::byte* block, float* numbers);
void iq3_s(const std::byte* block, float* numbers);
void iq4_xs(const std::byte* block, float* numbers);
void tq1_0(const std::byte* block, float* numbers);
void tq2_0(const std::byte* block, float* numbers);

}  // namespace btf::ggml_blocks
