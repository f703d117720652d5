// Effects of ONNX operators on an error; operators guessed from names where there is no graph.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace btf {

// Whose error is at most the sum of those of its inputs: nothing is multiplied.
inline constexpr auto kAdding = std::to_array<std::string_view>(
    {"Add", "Sub", "Sum", "Concat", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",
     "Identity", "Slice", "Split", "Pad", "Dropout"});

// Which move numbers: their slices are others than those of their input.
inline constexpr auto kMoving = std::to_array<std::string_view>(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Slice",
     "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
inline constexpr auto kMovingWords =
    std::to_array<std::string_view>({"concat", "expand", "flatten", "gather", "reshape", "slice",
                                     "split", "squeeze", "transpose", "view", "permute"});

// Where a signal may cancel and leave its error, by operators and by what names say.
inline constexpr auto kSubtracting = std::to_array<std::string_view>({"Sub", "Add", "Sum"});
inline constexpr auto kSubtractingWords = std::to_array<std::string_view>({"sub", "diff"});
inline constexpr auto kNormalising = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization", "Div"});
inline constexpr auto kNormWords = std::to_array<std::string_view>(
    {"norm", "ln", "bn", "rsqrt", "div", "reciprocal", "var", "variance"});
// Which take a scale of their input out again; a batch's is that of the training.
inline constexpr auto kScaleFree = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization"});
inline constexpr auto kScaleFreeWords = std::to_array<std::string_view>(
    {"layernorm", "layer_norm", "ln", "rmsnorm", "rms_norm", "groupnorm", "instancenorm"});
inline constexpr auto kExponentials =
    std::to_array<std::string_view>({"Softmax", "LogSoftmax", "Exp", "Sigmoid"});
inline constexpr auto kExponentialWords =
    std::to_array<std::string_view>({"softmax", "exp", "sigmoid"});

// Which make NaN, or Inf, of NaN and Inf wherever they are in an input; a convolution does where it
// leaves none of it out.
inline constexpr auto kCarryingSpecials = std::to_array<std::string_view>({"Add",
                                                                           "BatchNormalization",
                                                                           "Concat",
                                                                           "ConvTranspose",
                                                                           "Flatten",
                                                                           "Gemm",
                                                                           "GlobalAveragePool",
                                                                           "Identity",
                                                                           "InstanceNormalization",
                                                                           "LayerNormalization",
                                                                           "MatMul",
                                                                           "Mul",
                                                                           "ReduceMean",
                                                                           "ReduceSum",
                                                                           "Reshape",
                                                                           "Squeeze",
                                                                           "Sub",
                                                                           "Sum",
                                                                           "Transpose",
                                                                           "Unsqueeze"});

// Operators that sum many products.
inline constexpr auto kProducts =
    std::to_array<std::string_view>({"Conv", "ConvTranspose", "Gemm", "MatMul"});

// "Add" among kAdding.
bool is_one_of(std::string_view op, std::span<const std::string_view> ops);

// Is one of the words in the name? Short ones only between what is no letter: "ln" within "kiln" is
// none.
bool has_word(std::string_view name, std::span<const std::string_view> words);

}  // namespace btf
