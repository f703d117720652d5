#include "formats/onnx/kind.h"

#include <algorithm>

#include "btf/try.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/sequence.h"
#include "formats/onnx/tensor_proto.h"

namespace btf {
namespace {

// Is the field none that the message knows, or one of the type that it knows it as?
bool takes(const ProtoMessage& kind, std::uint64_t number, ProtoType type, bool known) {
  const auto rule = std::ranges::find(kind.rules, number, &ProtoRule::number);
  if (rule == kind.rules.end()) return !known;
  return rule->type == type || (rule->repeated && type == ProtoType::bytes);
}

// A tensor of TensorFlow has its shape, a list of dims, where a model has its producer's name, and
// integers where that has its graph.
bool is_tensorflow(Window& window, const ProtoRange& producer, const ProtoRange& graph) {
  constexpr std::byte kDim{0x12}, kUnknownRank{0x18};
  if (producer.size() == 0)
    return !for_each_field(window, graph, onnx::kGraph, [](const ProtoField&) { return Status(); });
  const auto first = window.at(producer.begin, 1);
  return first && (**first == kDim || **first == kUnknownRank);
}

}  // namespace

Result<bool> onnx_begins(const ByteSource& source) {
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), kLongestProtoHead);
  std::vector<std::byte> start(some);
  BTF_TRY(source.read_at(0, start));
  const auto head = read_proto_head(start);
  return head && (takes(onnx::kTensor, head->number, head->type, true) ||
                  takes(onnx::kModel, head->number, head->type, true));
}

Result<OnnxKind> onnx_kind(const ByteSource& source) {
  Window window(source, source.size());
  std::uint32_t seen = 0;  // fields, by their numbers
  bool tensor = true;
  bool model = true;
  bool named = false;  // field 1 as a text, which a sequence may have, or packed dims
  ProtoRange producer, graph;
  BTF_TRY(for_each_field(window, {0, source.size()}, onnx::kAny, [&](const ProtoField& field) {
    tensor = tensor && takes(onnx::kTensor, field.number, field.type, false);
    model = model && takes(onnx::kModel, field.number, field.type, false);
    named = named || (field.number == 1 && field.type == ProtoType::bytes);
    if (field.number == onnx::model::kProducer) producer = field.content;
    if (field.number == onnx::model::kGraph) graph = field.content;
    if (field.number < 32) seen |= std::uint32_t{1} << field.number;
    return Status{};
  }));
  const auto has = [&](std::uint64_t number) { return (seen >> number & 1) != 0; };
  if (model && has(onnx::model::kIrVersion) && has(onnx::model::kGraph))
    return has(onnx::model::kProducer) && is_tensorflow(window, producer, graph) ? OnnxKind::other
                                                                               : OnnxKind::model;
  using namespace onnx::tensor;
  if (!tensor || !has(kDataType)) return OnnxKind::other;
  for (const std::uint64_t number : {kName, kRaw, kDoubles, kUint64s, kExternal})
    if (has(number)) return OnnxKind::tensor;
  // A sequence has its elem_type where a tensor has its data_type, what it holds where that has a
  // segment and numbers. Which of them it is shows by what can be read.
  const bool values = has(kFloats) || has(kInt32s) || has(kStrings) || has(kInt64s);
  if (!values) return named || has(kSegment) ? OnnxKind::sequence : OnnxKind::tensor;
  if (read_onnx_tensor(window, {0, source.size()})) return OnnxKind::tensor;
  return has(kSegment) || read_onnx_sequence(source) ? OnnxKind::sequence : OnnxKind::tensor;
}

}  // namespace btf
