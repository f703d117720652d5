#include "network/operators/table.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace btf::network {
namespace {

constexpr auto kFamilies = std::to_array<std::span<const OperatorRow> (*)()>({
    unary_rows,
    binary_rows,
    product_rows,
    recurrent_rows,
    normalising_rows,
    reducing_rows,
    pooling_rows,
    moving_rows,
    making_rows,
    resizing_rows,
    coding_rows,
});

// From onnx.defs, all versions together; operators of other domains from their documentation.
struct CountsOfNames {
  OperatorCounts counts;
  std::string_view names;  // separated by spaces
  std::string_view domain = {};
};

constexpr auto kCounts = std::to_array<CountsOfNames>({
    {{{0, 0}, {1, 1}}, "Constant"},
    {{{1, 1}, {1, 1}},
     "Abs Acos Acosh ArgMax ArgMin Asin Asinh Atan Atanh AveragePool Cast Ceil Celu "
     "ConstantOfShape "
     "Cos Cosh DepthToSpace Elu Erf Exp EyeLike Flatten Floor Gelu GlobalAveragePool GlobalLpPool "
     "GlobalMaxPool HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LRN LeakyRelu Log "
     "LogSoftmax "
     "LpNormalization LpPool MeanVarianceNormalization Mish Neg Not Reciprocal Relu Round Selu "
     "Shape "
     "Shrink Sigmoid Sign Sin Sinh Size Softmax Softplus Softsign SpaceToDepth Sqrt Swish Tan Tanh "
     "ThresholdedRelu Transpose"},
    {{{1, 1}, {1, 2}}, "MaxPool"},
    {{{1, 1}, {3, 3}}, "DynamicQuantizeLinear"},
    {{{1, 2}, {1, 1}},
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Reshape Squeeze Trilu Unsqueeze Upsample"},
    {{{1, 2}, {1, kAnyCount}}, "Split"},
    {{{1, 2}, {2, 2}}, "TopK"},
    {{{1, 3}, {1, 1}}, "Clip"},
    {{{1, 3}, {1, 2}}, "Dropout"},
    {{{1, 4}, {1, 1}}, "Pad Resize"},
    {{{1, 5}, {1, 1}}, "Slice"},
    {{{1, kAnyCount}, {1, 1}}, "Concat Einsum Max Mean Min Sum"},
    {{{2, 2}, {1, 1}},
     "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor CastLike CumSum Div Equal Expand Gather "
     "GatherElements GatherND Greater GreaterOrEqual Less LessOrEqual MatMul Mod Mul Or PRelu Pow "
     "RMSNormalization ReverseSequence Sub Xor"},
    {{{2, 3}, {1, 1}}, "Conv ConvTranspose DequantizeLinear Gemm QuantizeLinear Tile"},
    {{{2, 3}, {1, 1}}, "DequantizeLinear QuantizeLinear", "com.microsoft"},
    {{{2, 3}, {1, 3}}, "LayerNormalization"},
    {{{2, 2}, {1, 3}}, "SimplifiedLayerNormalization"},
    {{{2, 4}, {1, 1}}, "ConvInteger MatMulInteger"},
    {{{3, 3}, {1, 1}}, "GroupNormalization InstanceNormalization OneHot Range Where"},
    {{{5, 5}, {1, 5}}, "BatchNormalization"},
    {{{8, 8}, {1, 1}}, "QLinearMatMul"},
    {{{8, 9}, {1, 1}}, "QLinearConv"},
});

using CountsByName = std::map<std::pair<std::string_view, std::string_view>, OperatorCounts>;

CountsByName counts_by_name() {
  CountsByName all;
  for (const CountsOfNames& row : kCounts)
    for (std::string_view left = row.names; !left.empty();) {
      const std::size_t end = std::min(left.find(' '), left.size());
      all.emplace(std::pair(left.substr(0, end), row.domain), row.counts);
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  return all;
}

}  // namespace

const OperatorCounts* find_operator_counts(std::string_view name, std::string_view domain) {
  static const CountsByName kByName = counts_by_name();
  const auto at = kByName.find({name, domain});
  return at == kByName.end() ? nullptr : &at->second;
}

const OperatorRow* find_operator(std::string_view name, std::string_view domain,
                                 std::int64_t version) {
  const OperatorRow* found = nullptr;
  for (const auto& family : kFamilies)
    for (const OperatorRow& row : family())
      if (row.name == name && row.domain == domain && row.since <= version &&
          (found == nullptr || row.since > found->since))
        found = &row;
  return found;
}

}  // namespace btf::network
