#include <algorithm>
#include <array>

#include "btf/diff/tensor_diff.h"

namespace btf {
namespace {

constexpr auto kNames = std::to_array<Named<Cause>>({
    {Cause::shape, "shape"},
    {Cause::layout, "layout"},
    {Cause::permutation, "permutation"},
    {Cause::shift, "shift"},
    {Cause::byte_order, "byte-order"},
    {Cause::nibble_order, "nibble-order"},
    {Cause::dtype_misread, "dtype-misread"},
    {Cause::scale, "scale"},
    {Cause::offset, "offset"},
    {Cause::sign, "sign"},
    {Cause::saturation, "saturation"},
    {Cause::rounding, "rounding"},
    {Cause::stale_padding, "stale-padding"},
    {Cause::region, "region"},
    {Cause::zero_tail, "zero-tail"},
    {Cause::channels_reversed, "channels-reversed"},
    {Cause::mirrored, "mirrored"},
    {Cause::rotated, "rotated"},
    {Cause::shuffled, "shuffled"},
    {Cause::interleaved, "interleaved"},
    {Cause::repeated, "repeated"},
    {Cause::pitch, "pitch"},
    {Cause::index_base, "index-base"},
    {Cause::affine, "affine"},
    {Cause::channel_scale, "channel-scale"},
    {Cause::scale_axis, "scale-axis"},
    {Cause::activation, "activation"},
    {Cause::inverted, "inverted"},
    {Cause::wrapped, "wrapped"},
    {Cause::reordered, "reordered"},
    {Cause::padded, "padded"},
});

}  // namespace

std::span<const Named<Cause>> cause_names() { return kNames; }

std::string_view cause_name(Cause cause) {
  return std::ranges::find(kNames, cause, &Named<Cause>::value)->name;
}

}  // namespace btf
