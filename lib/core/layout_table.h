// The rows of the layout table. Adding a layout is adding a row here and its enumerator in
// layout.h. Sources: the format descriptions in TensorRT's NvInferRuntime.h, 6.0 to 11.1, and the
// DLA pages of its developer guide; docs/layouts.md says it in words.
#pragma once

#include <array>

#include "btf/layout.h"

namespace btf::layout_rows {

using enum Layout;
using enum Placement;
using enum DType;

// The version histories of TensorRT's headers.
inline constexpr TensorRtSupport kHalfs{"10.12 to 11.4", {float16, bfloat16}, 2};
inline constexpr std::array<TensorRtSupport, 6> kChw2{kHalfs,
                                                      {"10.10", {float16, bfloat16}, 2},
                                                      {"10.6 to 10.8", {float16}, 1},
                                                      {"10.0 to 10.3", {float16, bfloat16}, 2},
                                                      {"6.0 to 9.x", {float16}, 1}};
inline constexpr std::array<TensorRtSupport, 6> kHwc8{
    kHalfs, {"10.0 to 10.10", {float16, bfloat16}, 2}, {"6.0 to 9.x", {float16}, 1}};
inline constexpr std::array<TensorRtSupport, 6> kChw4{{{"10.12 to 11.4", {int8}, 1},
                                                       {"10.10", {int8, float16, bfloat16}, 3},
                                                       {"6.0 to 10.8", {int8, float16}, 2}}};
inline constexpr std::array<TensorRtSupport, 6> kChw16{{{"10.12 to 11.4 (DLA only)", {float16}, 1},
                                                        {"10.6 to 10.10", {float16}, 1},
                                                        {"10.0 to 10.3", {int8, float16}, 2},
                                                        {"6.0 to 9.x", {float16}, 1}}};
inline constexpr std::array<TensorRtSupport, 6> kChw32{
    {{"10.12 to 11.4", {int8, float32, float16}, 3},
     {"10.10", {int8, float32, float16}, 3},
     {"7.0 to 10.8 (no bound stated)", {int8, float32, float16, bfloat16}, 4},
     {"6.0", {int8, float32}, 2}}};
inline constexpr std::array<TensorRtSupport, 6> kDhwc8{
    kHalfs, {"10.0 to 10.10", {float16, bfloat16}, 2}, {"7.2 to 9.x", {float16}, 1}};
inline constexpr std::array<TensorRtSupport, 6> kCdhw32{
    {{"10.12 to 11.4", {float16, int8}, 2}, {"7.2 to 10.10", {float16, int8}, 2}}};
inline constexpr std::array<TensorRtSupport, 6> kHwc{
    {{"10.12 to 11.4", {float32, uint8}, 2},
     {"10.10", {float32, uint8}, 2},
     {"10.6 to 10.8", {float32, float16, uint8, int64, bfloat16}, 5},
     {"8.5 to 10.3", {float32, uint8}, 2},
     {"7.2 to 8.4", {float32}, 1}}};
inline constexpr std::array<TensorRtSupport, 6> kDla{
    {{"10.12 to 11.4", {float16, int8}, 2}, {"8.0 to 10.10", {float16, int8}, 2}}};
inline constexpr std::array<TensorRtSupport, 6> kHwc16{
    {{"10.12 to 11.4", {float16, int8, float8_e4m3fn}, 3},
     {"10.8 to 10.10", {float16, int8, float8_e4m3fn}, 3},
     {"10.6", {float16, int8}, 2},
     {"8.0 to 10.3", {float16}, 1}}};
inline constexpr std::array<TensorRtSupport, 6> kDhwc{
    {{"10.12 to 11.4", {float32}, 1}, {"8.6 to 10.10", {float32}, 1}}};

// clang-format off: a row a line, so that columns can be read down
// layout, name, aliases, placement, vector dim, lanes, pitch, least rank, image, dla, TensorRT,
// most dims (nvinfer1::Dims::MAX_DIMS), most C, H and W (of the DLA, by NVIDIA's developer guide),
// shuffled in blocks of
inline constexpr auto kRows = std::to_array<LayoutSpec>({
  {linear, "kLINEAR", {"dense", "chw", "nchw", "row-major"}, row_major},
  {coo, "coo", {"sparse", "coordinate"}, coordinates},
  {chw2, "kCHW2", {"nc/2hw2"}, vector_major, 3, 2, 0, 3, false, {}, kChw2, 8, 0},
  {hwc8, "kHWC8", {"nhwc8"}, vector_minor, 3, 8, 0, 3, false, {}, kHwc8, 8, 0},
  {chw4, "kCHW4", {"nc/4hw4"}, vector_major, 3, 4, 0, 3, false, {}, kChw4, 8, 0},
  {chw16, "kCHW16", {"nc/16hw16"}, vector_major, 3, 16, 0, 3, false, {}, kChw16, 8, 8192},
  {chw32, "kCHW32", {"nc/32hw32"}, vector_major, 3, 32, 0, 3, false, {}, kChw32, 8, 8192},
  {dhwc8, "kDHWC8", {"ndhwc8"}, vector_minor, 4, 8, 0, 4, false, {}, kDhwc8, 8, 0},
  {cdhw32, "kCDHW32", {"nc/32dhw32"}, vector_major, 4, 32, 0, 4, false, {}, kCdhw32, 8, 0},
  {hwc, "kHWC", {"nhwc", "channels_last"}, vector_minor, 3, 1, 0, 3, false, {}, kHwc, 8, 0},
  {dla_linear, "kDLA_LINEAR", {"dla linear"}, row_major, 0, 1, 64, 3, false, {}, kDla, 8, 8192},
  {dla_hwc4, "kDLA_HWC4", {"dla hwc4"}, vector_minor, 3, 4, 64, 3, true, "orin", kDla, 8, 8192},
  {hwc16, "kHWC16", {"nhwc16"}, vector_minor, 3, 16, 0, 3, false, {}, kHwc16, 8, 0},
  {dhwc, "kDHWC", {"ndhwc", "channels_last_3d"}, vector_minor, 4, 1, 0, 4, false, {}, kDhwc, 8, 0},
  {dla_hwc4_xavier, "kDLA_HWC4", {}, vector_minor, 3, 4, 32, 3, true, "xavier", kDla, 8, 8192},
  {shuffled, "shuffled", {"shuffle"}, row_major, 0, 1, 0, 0, false, {}, {}, 0, 0, 1U << 17},
});
// clang-format on

}  // namespace btf::layout_rows
