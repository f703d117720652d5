#include <array>

#include "explain/explanations.h"

namespace btftool {
namespace {

// clang-format off
constexpr auto kReasonRows = std::to_array<Explanation>({
    {"overflow-output", "a layer gives numbers above half the type's largest, and what reads them cannot take Inf",
     "squares of numbers up to 450: 2.0e+05, where float16 ends at 65504",
     "keep the layer in float32: 'btftool fit --emit FORM FILE' writes the list; or take bfloat16, or make the numbers smaller before it"},
    {"overflow-input", "a layer reads numbers above half the type's largest, and Inf in their place would not do",
     "the mean of squares that are up to 2.0e+05", "keep it in float32 with the layer that gives them: both are in the list of '--emit'"},
    {"overflow-inside", "a sum on the way to the result is above half the type's largest, while inputs and result are not",
     "a ReduceMean of 4096 numbers of about 100: their sum is 4.1e+05",
     "keep the layer in float32; or make the numbers smaller before the sum in place of after it"},
    {"variance", "the variance in a normalisation is too far off: of squares that are rounded, or with an epsilon that is",
     "LayerNormalization of numbers that are much alike, so that their variance is as small as epsilon",
     "keep the normalisation in float32; or take an epsilon that the type can hold"},
    {"nonfinite", "rounded inputs give Inf or NaN: a divisor that becomes 0, an epsilon that is lost",
     "x / (y + 1e-12) where y is 0: float16 has nothing between 0 and 6.0e-08",
     "keep the layer in float32, and what gives the small number; or take an epsilon that the type can hold"},
    {"lost", "numbers vanish below the type's smallest, and the result or an output is too far off without them",
     "numbers of about 1e-9 that are multiplied by 1e9", "keep the layer in float32; bfloat16 has the range of float32; or make the numbers larger before it"},
    {"rounding", "rounding an input takes the result further off than is borne, as where numbers cancel",
     "the difference of 400.1 and 400 in bfloat16, where 400 and 402 are neighbours",
     "keep the layer in float32, and those that the list has with it; or subtract before the numbers become large"},
    {"feeds", "another layer cannot bear what this one rounds",
     "an Add whose result is subtracted from its mean", "keep it in float32 with the layer that is named: one of them alone does not help"},
});

constexpr auto kLayerStateRows = std::to_array<Explanation>({
    {"narrow", "nothing speaks against the type", "a MatMul whose inputs and results are within 100",
     "nothing; other inputs may have larger numbers: give several dumps"},
    {"wide", "the layer must stay in float32", "the squares of a root mean square in float16",
     "its findings have the reasons; 'btftool fit --emit FORM FILE' writes the list as another tool takes it"},
    {"unjudged", "whether the layer fits cannot be said: 'why' has what is in the way",
     "a tensor that was not dumped; an operator of another domain",
     "dump the tensor, or put the weights beside the model; else keep the layer in float32, or try it: 'btftool layers' tells"},
});

constexpr auto kTensorStateRows = std::to_array<Explanation>({
    {"held", "codes with the best scale hold the numbers", "int8 with a scale for numbers of one size: 40 dB",
     "nothing; the scale is in the report"},
    {"poor", "with the best scale the signal-to-noise ratio is below 20 dB, or more than half of the numbers become 0",
     "one channel with numbers up to 449, the others up to 2",
     "give channels a scale each if that gains much, as 'channels' says, or keep what reads the tensor wide"},
    {"nonfinite", "the tensor has NaN or Inf, which no code stands for", "-Inf in a mask",
     "take a large number in place of Inf, or keep what reads the tensor wide; the scale is of the other numbers"},
    {"nothing", "the tensor is empty or all zero, and takes any scale", "a bias of zeros", "nothing"},
});
// clang-format on

}  // namespace

std::span<const Explanation> fit_reasons() { return kReasonRows; }
std::span<const Explanation> fit_layer_states() { return kLayerStateRows; }
std::span<const Explanation> fit_tensor_states() { return kTensorStateRows; }

}  // namespace btftool
