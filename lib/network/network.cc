#include "network/network.h"

#include <algorithm>

#include "btf/try.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/onnx/values.h"
#include "formats/open_source.h"
#include "kernels/number/widen.h"
#include "network/node/call.h"

namespace btf::network {
namespace {

bool is_own_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace

Result<Network> Network::read(const std::string& path) {
  auto model = open_source(path);
  if (!model) return std::unexpected(model.error().in_file(path));
  auto weights = TensorFile::open(path);
  return of(*std::move(model),
            weights ? std::make_shared<const TensorFile>(*std::move(weights)) : nullptr, path);
}

Result<Network> Network::of(std::shared_ptr<const ByteSource> model,
                            std::shared_ptr<const TensorFile> weights, const std::string& path) {
  const auto in_file = [&](const Error& error) { return std::unexpected(error.in_file(path)); };
  Network network;
  network.model_ = std::move(model);
  network.weights_ = std::move(weights);
  if (const Status read = network.read_versions(); !read) return in_file(read.error());
  if (const Status read = network.read_nodes(); !read) return in_file(read.error());
  if (const Status read = network.read_outputs(); !read) return in_file(read.error());
  network.take_weights();
  return network;
}

Status Network::read_versions() {
  Window window(*model_, model_->size());
  return for_each_field(
      window, {0, model_->size()}, onnx::kModel, [&](const ProtoField& field) -> Status {
        if (field.number != onnx::model::kOperatorSet) return {};
        std::string domain;
        std::int64_t version = 1;
        BTF_TRY(for_each_field(window, field.content, onnx::kOperatorSetId,
                               [&](const ProtoField& part) -> Status {
                                 if (part.number == onnx::operator_set::kVersion)
                                   version = static_cast<std::int64_t>(part.value);
                                 if (part.number != onnx::operator_set::kDomain) return {};
                                 BTF_ASSIGN(domain, onnx_name(window, part));
                                 return {};
                               }));
        versions_[is_own_domain(domain) ? "" : domain] = version;
        return {};
      });
}

std::uint32_t Network::value(const std::string& name) {
  const auto [at, added] = numbers_.emplace(name, static_cast<std::uint32_t>(values_.size()));
  if (added) values_.push_back({.name = name});
  return at->second;
}

Status Network::read_outputs() {
  BTF_ASSIGN(const OnnxGraph graph, read_onnx_graph(*model_));
  for (const std::string& name : graph.outputs)
    if (const std::uint32_t found = find(name); found != kNoValue) outputs_.push_back(found);
  return {};
}

Status Network::read_nodes() {
  return for_each_onnx_node(*model_, [&](const OnnxNode& read) -> Status {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    Node node{.place = read.place,
              .name = read.name,
              .op = read.op_type,
              .domain = is_own_domain(read.domain) ? "" : read.domain,
              .inputs = {},
              .outputs = {}};
    for (const std::string& name : read.inputs)
      node.inputs.push_back(name.empty() ? kNoValue : value(name));
    for (const std::string& name : read.outputs) {
      // A name that is taken already, by an input of this node or by another node's output, would
      // make a cycle: this output is of no use then.
      const bool taken = name.empty() || numbers_.contains(name);
      node.outputs.push_back(taken ? kNoValue : value(name));
      if (taken) continue;
      values_.back().node = number;
      values_.back().output = static_cast<std::uint32_t>(node.outputs.size() - 1);
    }
    nodes_.push_back(std::move(node));
    return {};
  });
}

void Network::take_weights() {
  if (!weights_) return;
  for (std::uint64_t i = 0; i < weights_->tensor_count(); ++i) {
    const auto name = weights_->own_name(i);
    if (!name || !*name) continue;
    const auto at = numbers_.find(**name);
    if (at != numbers_.end() && !values_[at->second].weight) values_[at->second].weight = i;
  }
}

Result<StoredNumbers> Network::weight(const Value& value) const {
  const std::scoped_lock lock(*weights_mutex_);
  BTF_ASSIGN(TensorInfo tensor, weights_->tensor(*value.weight));
  return StoredNumbers::open(weights_, std::move(tensor));
}

std::uint32_t Network::find(std::string_view name) const {
  const auto at = numbers_.find(std::string(name));
  return at == numbers_.end() ? kNoValue : at->second;
}

std::int64_t Network::version(std::string_view domain) const {
  const auto at = versions_.find(domain);
  return at == versions_.end() ? 1 : at->second;
}

Result<Attributes> Network::attributes(const Node& node) const {
  Window window(*model_, model_->size());
  return read_attributes(window, node.place);
}

Result<std::vector<double>> Network::attribute_tensor(const ProtoRange& place, Dims& dims,
                                                      DType& dtype) const {
  constexpr std::uint64_t kMost = 1U << 16;
  Window window(*model_, model_->size());
  BTF_ASSIGN(const OnnxTensor tensor, read_onnx_tensor(window, place));
  if (tensor.type == nullptr || !tensor.type->dtype || tensor.external || tensor.elements > kMost)
    return not_computed("the tensor among its attributes cannot be used");
  dims = tensor.dims;
  dtype = *tensor.type->dtype;
  if (info(dtype).bits < 8) return not_computed("the tensor among its attributes is of 4 bits");
  std::vector<std::byte> bytes(tensor.bytes);
  if (tensor.in_place()) {
    BTF_TRY(model_->read_at(tensor.first.begin, bytes));
  } else {
    BTF_ASSIGN(const Spool spool, read_onnx_values(*model_, tensor));
    BTF_TRY(spool.read_at(0, bytes));
  }
  std::vector<double> numbers(tensor.elements);
  widener<double>(dtype)(bytes.data(), 1, numbers.size(), numbers.data());
  return numbers;
}

}  // namespace btf::network
