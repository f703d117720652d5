#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/onnx/constants.h"
#include "formats/onnx/graph.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/model.h"
#include "formats/onnx/tensor_proto.h"

namespace btf {
namespace {

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

  // Names in the graph; nodes of subgraphs are not in its order.
  Status take_names() {
    for (const OnnxEntry& entry : model_.entries()) {
      if (entry.scope != 0) return {};
      BTF_ASSIGN(std::optional<std::string> name, model_.name(source_, entry));
      numbers_.emplace(std::move(*name), numbers_.size());
    }
    return {};
  }

  // Which node is the first to use it, and what nodes that dequantise say of it.
  Status take_order() {
    return for_each_onnx_node(source_, [&](const OnnxNode& node) -> Status {
      for (const std::string& input : node.inputs) {
        const auto found = numbers_.find(input);
        if (found == numbers_.end()) continue;
        TensorAttributes& tensor = attributes_.tensors[found->second];
        if (!tensor.order) tensor.order = node.number;
      }
      return node.op_type == "DequantizeLinear" ? take_dequantize(node) : Status{};
    });
  }

  // Inputs: codes, scales and, if need be, zero points.
  Status take_dequantize(const OnnxNode& node) {
    if (node.inputs.size() < 2) return {};
    const auto of = numbers_.find(node.inputs[0]);
    const auto by = numbers_.find(node.inputs[1]);
    if (of == numbers_.end() || by == numbers_.end() || of == by) return {};
    BTF_ASSIGN(const auto axis, onnx_integer(window_, node, "axis"));
    BTF_ASSIGN(const auto block, onnx_integer(window_, node, "block_size"));
    constexpr std::int64_t kDefaultAxis = 1;
    const std::string zero_point = node.inputs.size() > 2 ? node.inputs[2] : "";
    link(of->second, by->second, zero_point,
         ScaleAxis{axis.value_or(kDefaultAxis), block.value_or(0)});
    return {};
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
    link(of->second, by->second, zero_point, std::nullopt);
    return {};
  }

  struct ScaleAxis {
    std::int64_t axis = 0;   // negative: from the end
    std::int64_t block = 0;  // indices of it that share a scale; 0: none do
  };

  // Finds the axis of several scales; false if that is not clear.
  static bool find_axis(const Dims& dims, std::uint64_t scales,
                        const std::optional<ScaleAxis>& said, QuantizedBy& by) {
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

  // Ambiguous links are left out. The first link holds: a node takes precedence over an annotation.
  void link(std::uint64_t tensor, std::uint64_t scale, const std::string& zero_point,
            const std::optional<ScaleAxis>& axis) {
    if (attributes_.tensors[tensor].quantized) return;
    const auto dims = dims_of(tensor);
    const auto scale_dims = dims_of(scale);
    if (!dims || !scale_dims) return;
    const Checked scales = element_count(*scale_dims);
    QuantizedBy by{.scale = scale};
    if (scales != 1 && !find_axis(*dims, scales.value_or(0), axis, by)) return;
    attributes_.tensors[scale].role = "scale";
    const auto zero = numbers_.find(zero_point);
    if (zero != numbers_.end() && zero->second != tensor && zero->second != scale) {
      by.zero_point = zero->second;
      attributes_.tensors[zero->second].role = "zero_point";
    }
    attributes_.tensors[tensor].quantized = by;
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
};

}  // namespace

Result<FileAttributes> OnnxModel::attributes(const ByteSource& source) const {
  return AttributeReader(source, *this).run();
}

}  // namespace btf
