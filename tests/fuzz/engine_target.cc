// Any bytes as an engine's layer list, in JSON or in lines of a log: what is read is whole, its
// data flow goes forward, and its tensors have specs or a reason.
#include "btf/tensorrt.h"
#include "diff/layers/order.h"
#include "engine/engine_list.h"
#include "memory_file.h"
#include "sets/manifest.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const BytesView bytes = view(data, size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  // The same bytes as what else TensorRT says.
  if (const auto format = btf::parse_format_sentence(text)) {
    const auto again = btf::parse_format_sentence(btf::format_sentence(*format));
    require(again && again->layout == format->layout && again->lanes == format->lanes &&
                again->dtype == format->dtype,
            "a sentence that is another when it is said again");
  }
  if (const auto logged = btf::parse_logged_format(text))
    for (const btf::LoggedShape& shape : btf::shapes_of(*logged)) {
      const auto storage = btf::resolve(*logged, shape.dims);
      require(storage && storage->layout, "dims that strides say have other strides");
    }
  const btf::MemorySource source(bytes);
  auto list = btf::engine::read_list(source);
  if (!list) {
    require(!list.error().message.empty(), "an error says nothing");
    return 0;
  }
  for (const btf::EngineLayer& layer : list->layers)
    for (const auto& numbers : {layer.inputs, layer.outputs})
      for (const std::uint32_t number : numbers)
        require(number < list->tensors.size(), "a tensor that is not there");
  const btf::LayerGraph graph = btf::graph_of(*list);
  for (std::uint32_t v = 0; v < graph.values.size(); ++v)
    for (const std::uint32_t input : graph.values[v].inputs)
      require(input < v, "a value is computed from a later one");
  const btf::EngineNames names(*list);
  const btf::EngineSpecs specs{.list = *list, .path = "list"};
  for (const btf::EngineTensor& tensor : specs.list.tensors) {
    static_cast<void>(names.find(tensor.name + ".raw"));
    const auto spec = btf::engine_spec(specs, tensor, 64);
    require(!spec || spec->storage, "a spec without dims");
    require(spec || !spec.error().message.empty(), "no spec and no reason");
  }
  return 0;
}
