// The layer list of a TensorRT engine in its two forms, and the specs of its tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/tensorrt.h"
#include "formats/io/byte_source.h"

namespace btf::engine {

// Functions used for both forms of a layer list.

inline constexpr std::uint64_t kMaxLayers = 1'000'000;
inline constexpr std::uint64_t kMaxTensors = 4'000'000;

// A tensor as described by one layer.
struct ListedTensor {
  std::string name;
  std::string format;  // "Format/Datatype", or the format alone
  std::string dtype;   // set if it is separate
  std::optional<std::vector<std::int64_t>> dims;
};

// Adds a layer's description to a tensor. The first description with a value counts, but that of
// its producer takes precedence.
void take_tensor(EngineTensor& tensor, const ListedTensor& listed, bool made);

// "conv1 + PWN(relu1)" -> conv1, relu1; "{ForeignNode[a...b]}" -> a, b
std::vector<std::string> nodes_of_name(std::string_view layer);

// "[ONNX Layer: a]\x1e[ONNX Layer: b]" -> a, b
std::vector<std::string> nodes_of_metadata(std::string_view metadata);

Result<EngineList> read_list(const ByteSource& source);
Result<EngineList> read_json_list(const ByteSource& source);
Result<EngineList> read_text_list(const ByteSource& source);

}  // namespace btf::engine
