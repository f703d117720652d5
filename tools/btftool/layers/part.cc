#include "layers/part.h"

#include <array>
#include <optional>
#include <utility>

#include "btf/try.h"

namespace btftool {
namespace {

std::vector<btf::PlannedPair> costs_of(std::span<const btf::PlannedLayer> layers) {
  std::vector<btf::PlannedPair> items;
  items.reserve(layers.size());
  for (const btf::PlannedLayer& layer : layers)
    items.push_back({.name = layer.name,
                     .actual_bytes = layer.actual_bytes,
                     .golden_bytes = layer.golden_bytes,
                     .bytes = layer.actual_bytes + layer.golden_bytes});
  return items;
}

std::vector<std::optional<std::string>> files_of(const LayersCommand& command) {
  return {command.map, command.order};
}

}  // namespace

LayerPart::LayerPart(const Context& context, const LayersCommand& command)
    : context_(context),
      command_(command),
      part_(context, *command.part,
            {.command = "layers", .operands = {command.actual, command.golden}}) {}

btf::Status LayerPart::plan(std::span<const btf::PlannedLayer> layers) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own,
             part_.pick(costs_of(layers), "layer", files_of(command_)));
  for (const std::uint64_t number : own) {
    const btf::PlannedLayer& layer = layers[number];
    own_[number] = {layer.name, ReadFile::now(layer.actual_path), ReadFile::now(layer.golden_path)};
  }
  last_ = std::chrono::steady_clock::now();
  return {};
}

void LayerPart::take(std::uint64_t number, const btf::MeasuredLayer& layer) {
  const Own& own = own_.at(number);
  const auto now = std::chrono::steady_clock::now();
  btf::PartLine line = part_line(btf::LayerItem{.number = number,
                                                .name = own.name,
                                                .actual_path = own.actual.path,
                                                .golden_path = own.golden.path,
                                                .measured = layer});
  line.seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  if (!layer.trouble.empty())
    context_.log.error("'" + own.name + "' could not be measured: " + layer.trouble);
  part_.add(std::move(line), std::array{own.actual, own.golden});
}

btf::Result<MergedLayers> MergedLayers::read(const Context& context, const btf::Parts& parts,
                                             const LayersCommand& command) {
  MergedLayers merged(parts.head(), command);
  const auto parse = [&](std::string_view line) -> btf::Result<btf::TakeItem> {
    BTF_ASSIGN(btf::LayerItem item, btf::read_layer_item(line));
    const auto read = std::make_shared<btf::LayerItem>(std::move(item));
    return [&merged, read]() -> btf::Status {
      if (read->number != merged.layers_.size())
        return btf::fail(btf::ErrorCode::malformed,
                         "the parts have no layer " + std::to_string(merged.layers_.size()));
      merged.layers_.push_back(std::move(read->measured));
      return {};
    };
  };
  BTF_TRY(parts.each(parse, context.global.execution()));
  return merged;
}

btf::Status MergedLayers::plan(std::span<const btf::PlannedLayer> layers) {
  BTF_ASSIGN(const std::string plan, plan_of(head_, costs_of(layers), files_of(command_)));
  if (plan == head_.plan && layers.size() == layers_.size()) return {};
  return btf::fail(btf::ErrorCode::refused,
                   "the tensors of " + command_.actual + " and " + command_.golden +
                       ", or a file that the options name, are not those that the parts were made "
                       "of; run the shards again");
}

const btf::MeasuredLayer* MergedLayers::known(std::uint64_t number) const {
  return number < layers_.size() ? &layers_[number] : nullptr;
}

}  // namespace btftool
