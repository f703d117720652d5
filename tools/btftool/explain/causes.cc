#include <array>

#include "explain/explanations.h"

namespace btftool {
namespace {

// clang-format off
constexpr auto kCauseRows = std::to_array<Explanation>({
    {"shape", "the elements are the same in other dims", "[1, 8, 1] against [8]",
     "compare with '--squeeze', '--permute' or '--reshape actual', as the evidence says"},
    {"padded", "one side has the other, and beyond that one number throughout",
     "300 boxes of which 100 are in use, the others 0",
     "cut it off with the slice that the evidence names: 'btftool convert --slice ...'"},
    {"layout", "the bytes were read in the wrong layout, or channels-last data have channels-first dims",
     "a kHWC8 buffer labelled kLINEAR", "label it right: '--actual-spec fp16:hwc8:1x3x8x8', or '--permute'"},
    {"permutation", "the elements are those of golden with its dims in another order",
     "a transpose too few: [K, C] against [C, K]",
     "'btftool diff --permute P' compares in that order; correct the export, or 'btftool convert --permute P'"},
    {"byte-order", "the bytes of every element are reversed, or its halves are swapped",
     "0x3f800000 (1) read as 0x0000803f", "dump on the device in its order, or swap the bytes before they are read"},
    {"nibble-order", "the two 4-bit elements of a byte are swapped",
     "the byte 0x21 read as 2, 1 in place of 1, 2", "correct the packing: the first element is the low half"},
    {"dtype-misread", "bits of one dtype were read as another of the same width",
     "float16 bits labelled bfloat16", "correct the dtype in the dump or in its spec: the evidence has both"},
    {"inverted", "two values are swapped", "an attention mask with 1 where golden has 0", "invert the mask on one side"},
    {"sign", "actual is minus golden", "a subtraction the wrong way round", "look for a difference, or a negated weight"},
    {"index-base", "every index of a sparse tensor is one too high on one side",
     "indices counted from 1, as in MATLAB", "count from 0 where it is written"},
    {"shift", "every element is some positions further",
     "a base address that is one row too high", "correct the offset or pitch: the evidence has how far, and along what"},
    {"mirrored", "one or more dims are reversed", "an image flipped from left to right",
     "look for a flip in the preprocessing; '::-1' in 'btftool convert --slice' reverses a dim"},
    {"rotated", "two dims are rotated by 180 or 90 degrees", "a picture with the orientation of a camera",
     "look for a rotation in the preprocessing, or for a kernel that is convolved in place of correlated"},
    {"channels-reversed", "channels are in reverse order", "RGB against BGR", "exchange them in the preprocessing"},
    {"shuffled", "parts of a dim are in another order",
     "heads that were not transposed: [T, H, D] against [H, T, D]", "look for a reshape without its transpose"},
    {"interleaved", "pairs on one side, halves on the other",
     "rotary embeddings: a b a b against a a b b", "take the same convention on both sides, or permute the weights"},
    {"repeated", "one index of a dim is repeated at all of them",
     "a batch whose items are all the first", "look for a stride of 0, or a loop that reads one item"},
    {"pitch", "rows are further apart than they are long, and were read as if they were not",
     "rows of 30 elements at multiples of 32", "say the strides: '--actual-spec fp16:1x3x8x30:strides=768,256,32,1'"},
    {"scale", "actual is golden times a factor", "a picture in 0 to 255 against 0 to 1: 1/255",
     "look for a normalisation or a scale that is applied twice, or not at all; '--actual-scale' compares codes"},
    {"offset", "actual is golden plus a number", "codes with a zero point of 128, read without it",
     "look for a bias, or a zero point: '--actual-scale S,Z'"},
    {"activation", "a function was applied to one side only", "logits against probabilities: softmax",
     "compare in front of it on both sides, or behind it"},
    {"affine", "actual is golden times a factor plus a number", "a normalisation with mean and deviation on one side only",
     "look for the normalisation that has this factor and this number"},
    {"channel-scale", "a factor or an offset of its own at every index of one dim",
     "weights per channel that were dequantised with one scale", "give each channel its scale and zero point"},
    {"scale-axis", "factors stand along another dim than in golden",
     "a scale for each of 24 rows, applied to columns", "correct the axis of the scales"},
    {"zero-tail", "from some element to the end all is zero", "a copy of half a buffer",
     "copy all bytes: the evidence has where it ends"},
    {"saturation", "numbers beyond a limit are at the limit, or Inf", "65504 where golden has 80000: float16",
     "take a larger type or a smaller scale there; below 0 look for a ReLU that one side lacks"},
    {"wrapped", "integers beyond the range came round at its other end", "200 as int8 is -56",
     "clamp before the cast: 'btftool convert --overflow saturate'; or take a larger type"},
    {"rounding", "all that differs is what a coarser dtype loses", "0.1 in float16 is 0.09998",
     "nothing, if that dtype is wanted: compare with '--close', or '--close-as fp16'"},
    {"reordered", "the indices of one dim are in another order", "boxes sorted by score against boxes as found",
     "sort both sides alike; the evidence has the order"},
    {"stale-padding", "only padding differs, where golden is zero",
     "channels 3 to 7 of a tensor of 3 that was read as 8", "clear the padding, or compare without it by '--slice' of 'btftool convert'"},
    {"region", "all that differs is in one part of the tensor", "one dead channel; the last tile of a kernel",
     "look at what computes that part; 'btftool diff --heatmap' draws it"},
});
// clang-format on

}  // namespace

std::span<const Explanation> causes() { return kCauseRows; }

}  // namespace btftool
