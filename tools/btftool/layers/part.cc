#include "layers/part.h"

#include <vector>

#include "btf/try.h"

namespace btftool {

std::vector<std::optional<std::string>> files_of(const LayersCommand& command) {
  return {command.map, command.order};
}

LayerPart::LayerPart(const Context& context, const LayersCommand& command)
    : command_(command),
      part_(context, *command.part,
            {.command = "layers", .operands = {command.actual, command.golden}}) {}

btf::Status LayerPart::plan(std::span<const btf::PlannedLayer> layers) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own,
             part_.pick(btf::plan_of(layers), "layer", files_of(command_)));
  for (const std::uint64_t number : own) {
    const btf::PlannedLayer& layer = layers[number];
    own_[number] = {layer.name, ReadFile::now(layer.actual_path), ReadFile::now(layer.golden_path)};
  }
  return {};
}

void LayerPart::take(std::uint64_t number, const btf::MeasuredLayer& layer) {
  const Own& own = own_.at(number);
  std::vector<ReadFile> read{own.actual, own.golden};
  for (const auto& [path, state] : layer.inputs) read.push_back({path, state});
  part_.add_measured(part_line(btf::LayerItem{.number = number,
                                              .name = own.name,
                                              .actual_path = own.actual.path,
                                              .golden_path = own.golden.path,
                                              .measured = layer}),
                     own.name, layer.trouble, read);
}

}  // namespace btftool
