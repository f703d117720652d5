#include "fit/scales/channel_axis.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace btf {
namespace {

using network::kNoNode;

// An operator of ONNX's own by the channels of what it reads and makes.
struct ChannelRow {
  std::string_view op;
  std::int64_t activations = 0;
  ChannelAxis weights{};            // of its second input: the results' channels
  std::string_view turned_by = {};  // an attribute: if it is not 0,
  std::int64_t turned_weights = 0;  // they stand here
};

constexpr auto kRows = std::to_array<ChannelRow>({
    {"Conv", 1, 0},
    {"ConvTranspose", 1, 1},
    {"Gemm", -1, -1, "transB", -2},
    {"LayerNormalization", -1},
    {"MatMul", -1, -1},
    {"RMSNormalization", -1},
    {"SimplifiedLayerNormalization", -1},
});

const ChannelRow* find_row(const network::Node& node) {
  const auto* const found = std::ranges::find(kRows, std::string_view(node.op), &ChannelRow::op);
  return found == kRows.end() || !node.domain.empty() ? nullptr : found;
}

std::int64_t weights_of(const network::Network& network, const network::Node& node,
                        const ChannelRow& row) {
  if (row.turned_by.empty()) return *row.weights;
  const auto attributes = network.attributes(node);
  if (!attributes) return *row.weights;
  const auto found = attributes->find(row.turned_by);
  const bool turned = found != attributes->end() && found->second.integer.value_or(0) != 0;
  return turned ? row.turned_weights : *row.weights;
}

}  // namespace

ChannelAxis channel_axis(const network::Network& network, const Flow& flow, std::uint32_t value) {
  const network::Value& own = network.values()[value];
  for (const FlowReader& reader : flow.readers(value)) {
    const network::Node& node = network.nodes()[reader.node];
    const ChannelRow* const row = find_row(node);
    if (row == nullptr) continue;
    if (own.weight && reader.input == 1 && row->weights) return weights_of(network, node, *row);
    if (!own.weight && reader.input == 0) return row->activations;
  }
  if (own.weight) return std::nullopt;
  const ChannelRow* const made =
      own.node == kNoNode ? nullptr : find_row(network.nodes()[own.node]);
  return made != nullptr ? made->activations : kUsualChannels;
}

std::optional<std::uint32_t> channel_dim(const ChannelAxis& axis, std::size_t rank) {
  if (!axis || rank < 2) return std::nullopt;
  const std::int64_t dim = *axis < 0 ? static_cast<std::int64_t>(rank) + *axis : *axis;
  if (dim < 0 || dim >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::uint32_t>(dim);
}

}  // namespace btf
