// Attributes of ONNX tensors derived from nodes, and the schema of ONNX messages.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"
#include "formats/onnx_model.h"

namespace btf {
namespace {

constexpr int kNone = -1;

// How an operator determines the dim of codes that several scales belong to.
enum class AxisOf : std::uint8_t {
  unsaid,
  attribute,  // `axis` (1 if absent) and `block_size`
  number,
  columns,  // of a matrix that `transB` may transpose
};

// Input numbers of codes, their scale and zero point. Without codes, the scale is that of an
// output.
struct ScaledInput {
  std::string_view op_type;
  int codes = kNone;
  int scale = kNone;
  int zero_point = kNone;
  AxisOf axis_of = AxisOf::unsaid;
  std::int64_t axis = 0;
};

// ONNX's own operators, and those of onnxruntime (com.microsoft).
constexpr auto kScaled = std::to_array<ScaledInput>({
    {"DequantizeLinear", 0, 1, 2, AxisOf::attribute},
    {"QuantizeLinear", kNone, 1, 2},
    {"QLinearConv", 0, 1, 2},
    {"QLinearConv", 3, 4, 5, AxisOf::number, 0},
    {"QLinearConv", kNone, 6, 7},
    {"QLinearConvTranspose", 0, 1, 2},
    {"QLinearConvTranspose", 3, 4, 5, AxisOf::number, 1},
    {"QLinearConvTranspose", kNone, 6, 7},
    {"QLinearMatMul", 0, 1, 2, AxisOf::number, -2},
    {"QLinearMatMul", 3, 4, 5, AxisOf::number, -1},
    {"QLinearMatMul", kNone, 6, 7},
    {"QLinearAdd", 0, 1, 2},
    {"QLinearAdd", 3, 4, 5},
    {"QLinearAdd", kNone, 6, 7},
    {"QLinearMul", 0, 1, 2},
    {"QLinearMul", 3, 4, 5},
    {"QLinearMul", kNone, 6, 7},
    {"QLinearSigmoid", 0, 1, 2},
    {"QLinearSigmoid", kNone, 3, 4},
    {"QLinearLeakyRelu", 0, 1, 2},
    {"QLinearLeakyRelu", kNone, 3, 4},
    {"QLinearAveragePool", 0, 1, 2},
    {"QLinearAveragePool", kNone, 3, 4},
    {"QLinearGlobalAveragePool", 0, 1, 2},
    {"QLinearGlobalAveragePool", kNone, 3, 4},
    {"QLinearReduceMean", 0, 1, 2},
    {"QLinearReduceMean", kNone, 3, 4},
    {"QLinearSoftmax", 0, 1, 2},
    {"QLinearSoftmax", kNone, 3, 4},
    {"QLinearWhere", 1, 2, 3},
    {"QLinearWhere", 4, 5, 6},
    {"QLinearWhere", kNone, 7, 8},
    {"QLinearConcat", kNone, 0, 1},
    {"QGemm", 0, 1, 2},
    {"QGemm", 3, 4, 5, AxisOf::columns},
    {"QGemm", kNone, 7, 8},
    {"QAttention", 0, 3, 6},
    {"QAttention", 1, 4, 7, AxisOf::number, -1},
    {"MatMulIntegerToFloat", 0, 2, 4, AxisOf::number, -2},
    {"MatMulIntegerToFloat", 1, 3, 5, AxisOf::number, -1},
    {"DynamicQuantizeMatMul", 1, 2, 3, AxisOf::number, -1},
    {"DynamicQuantizeLSTM", 1, 8, 9, AxisOf::number, 0},
    {"DynamicQuantizeLSTM", 2, 10, 11, AxisOf::number, 0},
    {"QEmbedLayerNormalization", 2, 8, 13},
    {"QEmbedLayerNormalization", 3, 9, 14},
    {"QEmbedLayerNormalization", 4, 10, 15},
    {"QEmbedLayerNormalization", 5, 11, 16},
    {"QEmbedLayerNormalization", 6, 12, 17},
});

// QLinearConcat has three inputs for each tensor after the output's scale and zero point.
constexpr std::string_view kConcat = "QLinearConcat";
constexpr std::size_t kConcatFirst = 2;

// Operators whose integer sums of products are scaled by later nodes, and the dims that several
// scales of both inputs belong to.
struct IntegerProduct {
  std::string_view op_type;
  std::int64_t axes[2];
};

constexpr auto kProducts = std::to_array<IntegerProduct>({
    {"MatMulInteger", {-2, -1}},
    {"ConvInteger", {0, 0}},
});

enum Change : unsigned { kReshaped = 1, kRearranged = 2, kCast = 4 };

// Operators whose output is their first input with at most these changes.
constexpr auto kChanges = std::to_array<std::pair<std::string_view, unsigned>>({
    {"Identity", 0},
    {"Cast", kCast},
    {"Reshape", kReshaped},
    {"Squeeze", kReshaped},
    {"Unsqueeze", kReshaped},
    {"Flatten", kReshaped},
    {"Transpose", kRearranged},
    {"Gather", kRearranged},
    {"Slice", kRearranged},
    {"Expand", kRearranged},
    {"Tile", kRearranged},
});

// Products of more factors are not scales.
constexpr std::size_t kMaxFactors = 8;

// Which indices of the codes have their own scale.
struct OnnxScaleAxis {
  std::int64_t axis = 0;   // counts from the end if negative
  std::int64_t block = 0;  // number of indices that share a scale; 0 if none do
};

// Indices of initializers. Without an axis there is one scale for all codes, or the node does not
// tell the dim of several.
struct OnnxScaleLink {
  std::uint64_t codes = 0;
  std::uint64_t scale = 0;
  std::optional<std::uint64_t> zero_point{};
  std::optional<OnnxScaleAxis> axis{};
  // The codes are rearranged before the node, so that several scales do not fit them.
  bool only_one = false;
};

// Evaluates the nodes of a graph in order.
class OnnxScaleNodes {
 public:
  using Numbers = std::unordered_map<std::string, std::uint64_t>;

  // `initializers` are indices by name; both arguments must outlive this object. `links` and `role`
  // are called for what nodes reveal about initializers; the role is that of a scale or zero point
  // of any codes.
  OnnxScaleNodes(const Numbers& initializers, std::function<void(const OnnxScaleLink&)> links,
                 std::function<void(std::uint64_t, const char*)> role)
      : initializers_(initializers), links_(std::move(links)), role_(std::move(role)) {}

  Status take(Window& window, const OnnxNode& node);

 private:
  // An initializer, and the changes made to it on the way.
  struct Origin {
    std::uint64_t number = 0;
    unsigned changes = 0;
  };
  // A sum of products of codes, which scales turn into numbers.
  struct Product {
    struct Side {
      std::string codes;
      std::string zero_point;
      std::int64_t axis = 0;
    };
    Side sides[2];
    std::vector<std::string> factors{};
  };

  std::optional<Origin> origin(const std::string& value) const;
  std::optional<std::uint64_t> scale_at(const std::string& value) const;
  std::vector<std::string> factors_of(const std::string& value) const;
  void say_roles(const std::string& scale, const std::string& zero_point);
  void link(const std::string& codes, const std::string& scale, const std::string& zero_point,
            std::optional<OnnxScaleAxis> axis);
  Status take_operator(Window& window, const OnnxNode& node);
  void take_quantizer(const OnnxNode& node);
  void take_change(const OnnxNode& node);
  void take_product(const OnnxNode& node);
  void take_multiplication(const OnnxNode& node);
  bool resolve(const Product& product);

  const Numbers& initializers_;
  std::function<void(const OnnxScaleLink&)> links_;
  std::function<void(std::uint64_t, const char*)> role_;
  std::unordered_map<std::string, Origin> origins_;
  std::unordered_map<std::string, std::string> scale_of_;  // for values that a node quantises
  std::unordered_map<std::string, std::vector<std::string>> factors_;
  std::unordered_map<std::string, Product> products_;
};

const std::string& input(const OnnxNode& node, int number) {
  static const std::string kNothing;
  const auto at = static_cast<std::size_t>(number);
  return number == kNone || at >= node.inputs.size() ? kNothing : node.inputs[at];
}

Result<std::optional<OnnxScaleAxis>> axis_of(Window& window, const OnnxNode& node,
                                             const ScaledInput& row) {
  constexpr std::int64_t kDefaultAxis = 1;
  if (row.axis_of == AxisOf::unsaid) return std::nullopt;
  if (row.axis_of == AxisOf::number) return OnnxScaleAxis{.axis = row.axis};
  if (row.axis_of == AxisOf::columns) {
    BTF_ASSIGN(const auto turned, onnx_integer(window, node, "transB"));
    return OnnxScaleAxis{.axis = turned.value_or(0) != 0 ? 0 : 1};
  }
  BTF_ASSIGN(const auto axis, onnx_integer(window, node, "axis"));
  BTF_ASSIGN(const auto block, onnx_integer(window, node, "block_size"));
  return OnnxScaleAxis{axis.value_or(kDefaultAxis), block.value_or(0)};
}

std::optional<OnnxScaleNodes::Origin> OnnxScaleNodes::origin(const std::string& value) const {
  if (const auto own = initializers_.find(value); own != initializers_.end())
    return Origin{own->second};
  const auto found = origins_.find(value);
  return found == origins_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> OnnxScaleNodes::scale_at(const std::string& value) const {
  const auto found = origin(value);
  if (!found || (found->changes & kRearranged) != 0) return std::nullopt;
  return found->number;
}

std::vector<std::string> OnnxScaleNodes::factors_of(const std::string& value) const {
  const auto found = factors_.find(value);
  return found == factors_.end() ? std::vector{value} : found->second;
}

void OnnxScaleNodes::say_roles(const std::string& scale, const std::string& zero_point) {
  if (const auto found = scale_at(scale)) role_(*found, "scale");
  if (const auto found = origin(zero_point)) role_(found->number, "zero_point");
}

void OnnxScaleNodes::link(const std::string& codes, const std::string& scale,
                          const std::string& zero_point, std::optional<OnnxScaleAxis> axis) {
  const auto of = origin(codes);
  const auto by = scale_at(scale);
  if (!of || !by || of->number == *by || (of->changes & kCast) != 0) return;
  OnnxScaleLink found{.codes = of->number, .scale = *by};
  if (const auto zero = origin(zero_point)) found.zero_point = zero->number;
  if (of->changes == 0) found.axis = axis;
  found.only_one = of->changes != 0;
  links_(found);
}

Status OnnxScaleNodes::take(Window& window, const OnnxNode& node) {
  if (node.outputs.empty()) return {};
  BTF_TRY(take_operator(window, node));
  take_quantizer(node);
  take_change(node);
  take_product(node);
  if (node.op_type == "Mul") take_multiplication(node);
  return {};
}

Status OnnxScaleNodes::take_operator(Window& window, const OnnxNode& node) {
  for (const ScaledInput& row : kScaled) {
    if (row.op_type != node.op_type) continue;
    const std::string& scale = input(node, row.scale);
    const std::string& zero_point = input(node, row.zero_point);
    say_roles(scale, zero_point);
    if (row.codes == kNone) continue;
    BTF_ASSIGN(const auto axis, axis_of(window, node, row));
    link(input(node, row.codes), scale, zero_point, axis);
  }
  if (node.op_type != kConcat) return {};
  for (std::size_t at = kConcatFirst; at + 2 < node.inputs.size(); at += 3) {
    say_roles(node.inputs[at + 1], node.inputs[at + 2]);
    link(node.inputs[at], node.inputs[at + 1], node.inputs[at + 2], std::nullopt);
  }
  return {};
}

// Activations are quantised here; their scale belongs to no stored codes.
void OnnxScaleNodes::take_quantizer(const OnnxNode& node) {
  if (node.op_type == "DynamicQuantizeLinear" && node.outputs.size() > 1)
    scale_of_[node.outputs[0]] = node.outputs[1];
  if (node.op_type == "QuantizeLinear") scale_of_[node.outputs[0]] = input(node, 1);
}

void OnnxScaleNodes::take_change(const OnnxNode& node) {
  const auto row =
      std::ranges::find(kChanges, node.op_type, &std::pair<std::string_view, unsigned>::first);
  if (row == kChanges.end() || node.inputs.empty()) return;
  const std::string& from = node.inputs.front();
  const std::string& to = node.outputs.front();
  if (auto found = origin(from)) {
    found->changes |= row->second;
    origins_[to] = *found;
  }
  if (const auto found = scale_of_.find(from); found != scale_of_.end())
    scale_of_[to] = std::string(found->second);
  if (const auto found = factors_.find(from); found != factors_.end())
    factors_[to] = std::vector(found->second);
  if (const auto found = products_.find(from); found != products_.end())
    products_[to] = Product(found->second);
}

void OnnxScaleNodes::take_product(const OnnxNode& node) {
  const auto row = std::ranges::find(kProducts, node.op_type, &IntegerProduct::op_type);
  if (row == kProducts.end()) return;
  Product product;
  for (int side = 0; side < 2; ++side) {
    product.sides[side] = {input(node, side), input(node, 2 + side), row->axes[side]};
    say_roles({}, product.sides[side].zero_point);
  }
  products_[node.outputs.front()] = std::move(product);
}

void OnnxScaleNodes::take_multiplication(const OnnxNode& node) {
  if (node.inputs.size() != 2) return;
  const std::string& to = node.outputs.front();
  for (const int side : {0, 1}) {
    const auto found = products_.find(input(node, side));
    if (found == products_.end()) continue;
    Product product = found->second;
    const std::vector<std::string> more = factors_of(input(node, 1 - side));
    product.factors.insert(product.factors.end(), more.begin(), more.end());
    if (product.factors.size() <= kMaxFactors && !resolve(product))
      products_[to] = std::move(product);
    return;
  }
  std::vector<std::string> factors = factors_of(node.inputs[0]);
  const std::vector<std::string> more = factors_of(node.inputs[1]);
  if (factors.size() + more.size() > kMaxFactors) return;
  factors.insert(factors.end(), more.begin(), more.end());
  factors_[to] = std::move(factors);
}

// Called when the sums are multiplied by the scales of both sides: the scale of the stored codes is
// what remains after the other side's.
bool OnnxScaleNodes::resolve(const Product& product) {
  for (const int side : {0, 1}) {
    const Product::Side& codes = product.sides[side];
    if (!origin(codes.codes)) continue;
    std::vector<std::string> left = product.factors;
    const auto other = scale_of_.find(product.sides[1 - side].codes);
    const auto others =
        other == scale_of_.end() ? left.end() : std::ranges::find(left, other->second);
    const bool known = others != left.end();
    if (known) left.erase(others);
    const auto stored =
        std::ranges::partition(left, [&](const std::string& factor) { return !origin(factor); });
    if (stored.size() != 1 || known != (left.size() == 1)) continue;
    const std::string scale = stored.front();
    say_roles(scale, codes.zero_point);
    link(codes.codes, scale, codes.zero_point, OnnxScaleAxis{.axis = codes.axis});
    return true;
  }
  return false;
}

class AttributeReader {
 public:
  AttributeReader(const ByteSource& source, const OnnxModel& model)
      : source_(source), model_(model), window_(source, source.size()) {}

  Result<FileAttributes> run() {
    BTF_TRY(take_model());
    BTF_TRY(take_names());
    BTF_TRY(take_order());
    BTF_ASSIGN(const ProtoRange graph, find_onnx_graph(window_));
    BTF_TRY(for_each_field(window_, graph, onnx::kGraph, [&](const ProtoField& field) {
      return field.number == onnx::graph::kAnnotation ? take_annotation(field) : Status{};
    }));
    for (const std::uint64_t codes : unclear_) attributes_.tensors[codes].quantized.reset();
    return std::move(attributes_);
  }

 private:
  Status take_model() {
    std::string producer, version;
    BTF_TRY(for_each_field(
        window_, {0, source_.size()}, onnx::kModel, [&](const ProtoField& field) -> Status {
          if (field.number == onnx::model::kProducer) {
            BTF_ASSIGN(producer, onnx_name(window_, field));
          } else if (field.number == onnx::model::kProducerVersion) {
            BTF_ASSIGN(version, onnx_name(window_, field));
          } else if (field.number == onnx::model::kMetadata) {
            BTF_ASSIGN(OnnxProperty property, read_onnx_property(window_, field));
            attributes_.metadata[property.key] = std::move(property.value);
          }
          return {};
        }));
    attributes_.producer = version.empty() ? producer : producer + " " + version;
    return {};
  }

  // Reads the graph's names; nodes of subgraphs do not belong to its order.
  Status take_names() {
    for (const OnnxEntry& entry : model_.entries()) {
      if (entry.scope != 0) return {};
      BTF_ASSIGN(std::optional<std::string> name, model_.name(source_, entry));
      numbers_.emplace(std::move(*name), numbers_.size());
    }
    return {};
  }

  // Finds the first node that uses each tensor, and what nodes reveal about scales.
  Status take_order() {
    OnnxScaleNodes scales(
        numbers_, [&](const OnnxScaleLink& found) { link(found, LinkSource::by_node); },
        [&](std::uint64_t tensor, const char* role) { attributes_.tensors[tensor].role = role; });
    return for_each_onnx_node(source_, [&](const OnnxNode& node) -> Status {
      for (const std::string& input : node.inputs) {
        const auto found = numbers_.find(input);
        if (found == numbers_.end()) continue;
        TensorAttributes& tensor = attributes_.tensors[found->second];
        if (!tensor.order) tensor.order = node.number;
      }
      return scales.take(window_, node);
    });
  }

  Status take_annotation(const ProtoField& annotation) {
    std::string tensor, scale, zero_point;
    BTF_TRY(for_each_field(
        window_, annotation.content, onnx::kAnnotation, [&](const ProtoField& field) -> Status {
          if (field.number == onnx::annotation::kTensor) {
            BTF_ASSIGN(tensor, onnx_name(window_, field));
          } else if (field.number == onnx::annotation::kParameter) {
            BTF_ASSIGN(OnnxProperty property, read_onnx_property(window_, field));
            if (property.key == "SCALE_TENSOR") scale = std::move(property.value);
            if (property.key == "ZERO_POINT_TENSOR") zero_point = std::move(property.value);
          }
          return {};
        }));
    const auto of = numbers_.find(tensor);
    const auto by = numbers_.find(scale);
    if (of == numbers_.end() || by == numbers_.end() || of == by) return {};
    OnnxScaleLink found{.codes = of->second, .scale = by->second};
    if (const auto zero = numbers_.find(zero_point); zero != numbers_.end())
      found.zero_point = zero->second;
    link(found, LinkSource::by_annotation);
    return {};
  }

  enum class LinkSource : std::uint8_t { by_node, by_annotation };

  // Finds the axis of several scales; returns false if it is ambiguous.
  static bool find_axis(const Dims& dims, std::uint64_t scales,
                        const std::optional<OnnxScaleAxis>& said, QuantizedBy& by) {
    by.kind = ScaleOf::channel;
    if (!said) {
      if (std::ranges::count(dims, scales) != 1) return false;
      by.axis = static_cast<std::uint64_t>(std::ranges::find(dims, scales) - dims.begin());
      return true;
    }
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t axis = said->axis < 0 ? said->axis + rank : said->axis;
    if (axis >= 0 && axis < rank) by.axis = static_cast<std::uint64_t>(axis);
    if (said->block > 0) {
      by.kind = ScaleOf::block;
      by.block = static_cast<std::uint64_t>(said->block);
    }
    return true;
  }

  // Drops ambiguous links. Nodes take precedence over annotations; if two nodes disagree, there is
  // no link.
  void link(const OnnxScaleLink& found, LinkSource said) {
    if (std::optional<QuantizedBy>& known = attributes_.tensors[found.codes].quantized) {
      const bool other = known->scale != found.scale || known->zero_point != found.zero_point;
      if (other && said == LinkSource::by_node) unclear_.insert(found.codes);
      return;
    }
    const auto dims = dims_of(found.codes);
    const auto scale_dims = dims_of(found.scale);
    if (!dims || !scale_dims) return;
    const Checked scales = element_count(*scale_dims);
    QuantizedBy by{.scale = found.scale};
    if (scales != 1 && (found.only_one || !find_axis(*dims, scales.value_or(0), found.axis, by)))
      return;
    attributes_.tensors[found.scale].role = "scale";
    if (found.zero_point && found.zero_point != found.codes && found.zero_point != found.scale) {
      by.zero_point = found.zero_point;
      attributes_.tensors[*found.zero_point].role = "zero_point";
    }
    attributes_.tensors[found.codes].quantized = by;
  }

  std::optional<Dims> dims_of(std::uint64_t number) {
    const OnnxEntry& entry = model_.entries()[number];
    if (entry.sparse) return std::nullopt;
    auto tensor = read_onnx_entry(window_, entry);
    if (!tensor) return std::nullopt;
    return std::move(tensor->dims);
  }

  const ByteSource& source_;
  const OnnxModel& model_;
  Window window_;
  FileAttributes attributes_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::set<std::uint64_t> unclear_;  // codes to which two nodes give different scales
};

}  // namespace

Result<FileAttributes> OnnxModel::attributes(const ByteSource& source) const {
  return AttributeReader(source, *this).run();
}

}  // namespace btf

namespace btf::onnx {

// All fields of all messages of onnx.proto 1.23, which are allowed in a file whether they matter
// here or not.

extern const ProtoMessage kTensorSegment;
extern const ProtoMessage kTypeSequence;
extern const ProtoMessage kTypeMap;
extern const ProtoMessage kTypeOptional;
extern const ProtoMessage kTypeSparseTensor;
extern const ProtoMessage kTypeOpaque;
extern const ProtoMessage kNodeDeviceConfiguration;
extern const ProtoMessage kShardingSpec;
extern const ProtoMessage kIntIntListEntry;
extern const ProtoMessage kShardedDim;
extern const ProtoMessage kSimpleShardedDim;
extern const ProtoMessage kTrainingInfo;
extern const ProtoMessage kDeviceConfiguration;

namespace {

constexpr auto kInt = ProtoType::varint;
constexpr auto kBytes = ProtoType::bytes;
constexpr auto kNarrow = ProtoType::fixed32;
constexpr auto kWide = ProtoType::fixed64;

// clang-format off
constexpr auto kModelFields = std::to_array<ProtoRule>({
    {1, "ir_version", kInt},
    {2, "producer_name", kBytes},
    {3, "producer_version", kBytes},
    {4, "domain", kBytes},
    {5, "model_version", kInt},
    {6, "doc_string", kBytes},
    {7, "graph", kBytes, false, &kGraph},
    {8, "opset_import", kBytes, true, &kOperatorSetId},
    {14, "metadata_props", kBytes, true, &kEntry},
    {20, "training_info", kBytes, true, &kTrainingInfo},
    {25, "functions", kBytes, true, &kFunction},
    {26, "configuration", kBytes, true, &kDeviceConfiguration},
});

constexpr auto kOperatorSetIdFields = std::to_array<ProtoRule>({
    {1, "domain", kBytes},
    {2, "version", kInt},
});

constexpr auto kGraphFields = std::to_array<ProtoRule>({
    {1, "node", kBytes, true, &kNode},
    {2, "name", kBytes},
    {5, "initializer", kBytes, true, &kTensor},
    {10, "doc_string", kBytes},
    {11, "input", kBytes, true, &kValueInfo},
    {12, "output", kBytes, true, &kValueInfo},
    {13, "value_info", kBytes, true, &kValueInfo},
    {14, "quantization_annotation", kBytes, true, &kAnnotation},
    {15, "sparse_initializer", kBytes, true, &kSparseTensor},
    {16, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kNodeFields = std::to_array<ProtoRule>({
    {1, "input", kBytes, true},
    {2, "output", kBytes, true},
    {3, "name", kBytes},
    {4, "op_type", kBytes},
    {5, "attribute", kBytes, true, &kAttribute},
    {6, "doc_string", kBytes},
    {7, "domain", kBytes},
    {8, "overload", kBytes},
    {9, "metadata_props", kBytes, true, &kEntry},
    {10, "device_configurations", kBytes, true, &kNodeDeviceConfiguration},
});

constexpr auto kAttributeFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "f", kNarrow},
    {3, "i", kInt},
    {4, "s", kBytes},
    {5, "t", kBytes, false, &kTensor},
    {6, "g", kBytes, false, &kGraph},
    {7, "floats", kNarrow, true},
    {8, "ints", kInt, true},
    {9, "strings", kBytes, true},
    {10, "tensors", kBytes, true, &kTensor},
    {11, "graphs", kBytes, true, &kGraph},
    {13, "doc_string", kBytes},
    {14, "tp", kBytes, false, &kType},
    {15, "type_protos", kBytes, true, &kType},
    {20, "type", kInt},
    {21, "ref_attr_name", kBytes},
    {22, "sparse_tensor", kBytes, false, &kSparseTensor},
    {23, "sparse_tensors", kBytes, true, &kSparseTensor},
});

constexpr auto kTensorFields = std::to_array<ProtoRule>({
    {1, "dims", kInt, true},
    {2, "data_type", kInt},
    {3, "segment", kBytes, false, &kTensorSegment},
    {4, "float_data", kNarrow, true},
    {5, "int32_data", kInt, true},
    {6, "string_data", kBytes, true},
    {7, "int64_data", kInt, true},
    {8, "name", kBytes},
    {9, "raw_data", kBytes},
    {10, "double_data", kWide, true},
    {11, "uint64_data", kInt, true},
    {12, "doc_string", kBytes},
    {13, "external_data", kBytes, true, &kEntry},
    {14, "data_location", kInt},
    {16, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kTensorSegmentFields = std::to_array<ProtoRule>({
    {1, "begin", kInt},
    {2, "end", kInt},
});

constexpr auto kEntryFields = std::to_array<ProtoRule>({
    {1, "key", kBytes},
    {2, "value", kBytes},
});

constexpr auto kSparseTensorFields = std::to_array<ProtoRule>({
    {1, "values", kBytes, false, &kTensor},
    {2, "indices", kBytes, false, &kTensor},
    {3, "dims", kInt, true},
});

constexpr auto kTypeFields = std::to_array<ProtoRule>({
    {1, "tensor_type", kBytes, false, &kTypeTensor},
    {4, "sequence_type", kBytes, false, &kTypeSequence},
    {5, "map_type", kBytes, false, &kTypeMap},
    {6, "denotation", kBytes},
    {7, "opaque_type", kBytes, false, &kTypeOpaque},
    {8, "sparse_tensor_type", kBytes, false, &kTypeSparseTensor},
    {9, "optional_type", kBytes, false, &kTypeOptional},
});

constexpr auto kTypeTensorFields = std::to_array<ProtoRule>({
    {1, "elem_type", kInt},
    {2, "shape", kBytes, false, &kTensorShape},
});

constexpr auto kTensorShapeFields = std::to_array<ProtoRule>({
    {1, "dim", kBytes, true, &kTensorShapeDimension},
});

constexpr auto kTensorShapeDimensionFields = std::to_array<ProtoRule>({
    {1, "dim_value", kInt},
    {2, "dim_param", kBytes},
    {3, "denotation", kBytes},
});

constexpr auto kTypeSequenceFields = std::to_array<ProtoRule>({
    {1, "elem_type", kBytes, false, &kType},
});

constexpr auto kTypeMapFields = std::to_array<ProtoRule>({
    {1, "key_type", kInt},
    {2, "value_type", kBytes, false, &kType},
});

constexpr auto kTypeOptionalFields = std::to_array<ProtoRule>({
    {1, "elem_type", kBytes, false, &kType},
});

constexpr auto kTypeSparseTensorFields = std::to_array<ProtoRule>({
    {1, "elem_type", kInt},
    {2, "shape", kBytes, false, &kTensorShape},
});

constexpr auto kTypeOpaqueFields = std::to_array<ProtoRule>({
    {1, "domain", kBytes},
    {2, "name", kBytes},
});

constexpr auto kNodeDeviceConfigurationFields = std::to_array<ProtoRule>({
    {1, "configuration_id", kBytes},
    {2, "sharding_spec", kBytes, true, &kShardingSpec},
    {3, "pipeline_stage", kInt},
});

constexpr auto kShardingSpecFields = std::to_array<ProtoRule>({
    {1, "tensor_name", kBytes},
    {2, "device", kInt, true},
    {3, "index_to_device_group_map", kBytes, true, &kIntIntListEntry},
    {4, "sharded_dim", kBytes, true, &kShardedDim},
});

constexpr auto kIntIntListEntryFields = std::to_array<ProtoRule>({
    {1, "key", kInt},
    {2, "value", kInt, true},
});

constexpr auto kShardedDimFields = std::to_array<ProtoRule>({
    {1, "axis", kInt},
    {2, "simple_sharding", kBytes, true, &kSimpleShardedDim},
});

constexpr auto kSimpleShardedDimFields = std::to_array<ProtoRule>({
    {1, "dim_value", kInt},
    {2, "dim_param", kBytes},
    {3, "num_shards", kInt},
});

constexpr auto kValueInfoFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "type", kBytes, false, &kType},
    {3, "doc_string", kBytes},
    {4, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kAnnotationFields = std::to_array<ProtoRule>({
    {1, "tensor_name", kBytes},
    {2, "quant_parameter_tensor_names", kBytes, true, &kEntry},
});

constexpr auto kTrainingInfoFields = std::to_array<ProtoRule>({
    {1, "initialization", kBytes, false, &kGraph},
    {2, "algorithm", kBytes, false, &kGraph},
    {3, "initialization_binding", kBytes, true, &kEntry},
    {4, "update_binding", kBytes, true, &kEntry},
});

constexpr auto kFunctionFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {4, "input", kBytes, true},
    {5, "output", kBytes, true},
    {6, "attribute", kBytes, true},
    {7, "node", kBytes, true, &kNode},
    {8, "doc_string", kBytes},
    {9, "opset_import", kBytes, true, &kOperatorSetId},
    {10, "domain", kBytes},
    {11, "attribute_proto", kBytes, true, &kAttribute},
    {12, "value_info", kBytes, true, &kValueInfo},
    {13, "overload", kBytes},
    {14, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kDeviceConfigurationFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "num_devices", kInt},
    {3, "device", kBytes, true},
});

constexpr auto kSequenceFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "elem_type", kInt},
    {3, "tensor_values", kBytes, true, &kTensor},
    {4, "sparse_tensor_values", kBytes, true, &kSparseTensor},
    {5, "sequence_values", kBytes, true, &kSequence},
    {6, "map_values", kBytes, true, &kMap},
    {7, "optional_values", kBytes, true, &kOptional},
});

constexpr auto kMapFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "key_type", kInt},
    {3, "keys", kInt, true},
    {4, "string_keys", kBytes, true},
    {5, "values", kBytes, false, &kSequence},
});

constexpr auto kOptionalFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "elem_type", kInt},
    {3, "tensor_value", kBytes, false, &kTensor},
    {4, "sparse_tensor_value", kBytes, false, &kSparseTensor},
    {5, "sequence_value", kBytes, false, &kSequence},
    {6, "map_value", kBytes, false, &kMap},
    {7, "optional_value", kBytes, false, &kOptional},
});

// clang-format on

}  // namespace

const ProtoMessage kModel{"ModelProto", kModelFields};
const ProtoMessage kOperatorSetId{"OperatorSetIdProto", kOperatorSetIdFields};
const ProtoMessage kGraph{"GraphProto", kGraphFields};
const ProtoMessage kNode{"NodeProto", kNodeFields};
const ProtoMessage kAttribute{"AttributeProto", kAttributeFields};
const ProtoMessage kTensor{"TensorProto", kTensorFields};
const ProtoMessage kTensorSegment{"Segment", kTensorSegmentFields};
const ProtoMessage kEntry{"StringStringEntryProto", kEntryFields};
const ProtoMessage kSparseTensor{"SparseTensorProto", kSparseTensorFields};
const ProtoMessage kType{"TypeProto", kTypeFields};
const ProtoMessage kTypeTensor{"Tensor", kTypeTensorFields};
const ProtoMessage kTensorShape{"TensorShapeProto", kTensorShapeFields};
const ProtoMessage kTensorShapeDimension{"Dimension", kTensorShapeDimensionFields};
const ProtoMessage kTypeSequence{"Sequence", kTypeSequenceFields};
const ProtoMessage kTypeMap{"Map", kTypeMapFields};
const ProtoMessage kTypeOptional{"Optional", kTypeOptionalFields};
const ProtoMessage kTypeSparseTensor{"SparseTensor", kTypeSparseTensorFields};
const ProtoMessage kTypeOpaque{"Opaque", kTypeOpaqueFields};
const ProtoMessage kNodeDeviceConfiguration{"NodeDeviceConfigurationProto",
                                            kNodeDeviceConfigurationFields};
const ProtoMessage kShardingSpec{"ShardingSpecProto", kShardingSpecFields};
const ProtoMessage kIntIntListEntry{"IntIntListEntryProto", kIntIntListEntryFields};
const ProtoMessage kShardedDim{"ShardedDimProto", kShardedDimFields};
const ProtoMessage kSimpleShardedDim{"SimpleShardedDimProto", kSimpleShardedDimFields};
const ProtoMessage kValueInfo{"ValueInfoProto", kValueInfoFields};
const ProtoMessage kAnnotation{"TensorAnnotation", kAnnotationFields};
const ProtoMessage kTrainingInfo{"TrainingInfoProto", kTrainingInfoFields};
const ProtoMessage kFunction{"FunctionProto", kFunctionFields};
const ProtoMessage kDeviceConfiguration{"DeviceConfigurationProto", kDeviceConfigurationFields};
const ProtoMessage kSequence{"SequenceProto", kSequenceFields};
const ProtoMessage kMap{"MapProto", kMapFields};
const ProtoMessage kOptional{"OptionalProto", kOptionalFields};
const ProtoMessage kAny{"file", {}};

}  // namespace btf::onnx
