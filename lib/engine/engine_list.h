// The layer list of a TensorRT engine, in both of its forms, and specs of its tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/tensorrt.h"
#include "formats/io/byte_source.h"

namespace btf::engine {

// The parts that both forms of an engine's layer list have.

inline constexpr std::uint64_t kMaxLayers = 1'000'000;
inline constexpr std::uint64_t kMaxTensors = 4'000'000;

// One of a layer's tensors, as the layer has it.
struct TensorSaid {
  std::string name;
  std::string format;  // "Format/Datatype", or the format alone
  std::string dtype;   // where that is apart
  std::optional<std::vector<std::int64_t>> dims;
};

// The first that says something of a tensor counts, its maker before all.
void take_tensor(EngineTensor& tensor, const TensorSaid& said, bool made);

// "conv1 + PWN(relu1)" -> conv1, relu1; "{ForeignNode[a...b]}" -> a, b
std::vector<std::string> nodes_of_name(std::string_view layer);

// "[ONNX Layer: a]\x1e[ONNX Layer: b]" -> a, b
std::vector<std::string> nodes_of_metadata(std::string_view metadata);

Result<EngineList> read_list(const ByteSource& source);
Result<EngineList> read_json_list(const ByteSource& source);
Result<EngineList> read_text_list(const ByteSource& source);

}  // namespace btf::engine
