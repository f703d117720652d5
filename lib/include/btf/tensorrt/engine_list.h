// What a TensorRT engine says of itself: its layers in the order of execution, the tensors between
// them with dtype, format and dims, and the ONNX nodes that each layer was made of. Written by
// trtexec --exportLayerInfo (JSON) and --dumpLayerInfo (text in a log), and by the engine inspector.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "btf/tensorrt/format.h"

namespace btf {

struct EngineTensor {
  std::string name;
  std::string words{};                      // its format as the list has it; empty: it says none
  std::optional<DType> dtype{};             // nothing: the list does not say it
  std::optional<TensorRtFormat> format{};   // likewise
  std::optional<std::vector<std::int64_t>> dims{};  // -1: dynamic
  bool input = false;   // of the network
  bool output = false;
};

struct EngineLayer {
  std::string name;
  std::string type{};                  // "CaskConvolution", "kgen", "Reformat"; empty: not said
  std::vector<std::uint32_t> inputs{};  // numbers of tensors
  std::vector<std::uint32_t> outputs{};
  std::optional<DType> weights{};      // the type that they are in
  std::vector<std::string> nodes{};    // of the ONNX model, as they were fused
};

class EngineList {
 public:
  std::vector<EngineTensor> tensors;
  std::vector<EngineLayer> layers;  // in the order of execution

  // The tensor's number; at first a new one.
  BTF_API std::uint32_t number_of(const std::string& tensor);
  // nullptr: it has none that is called so.
  BTF_API const EngineTensor* find(const std::string& tensor) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// By the first bytes: {"Layers": or lines of a log. Of pipes and what cannot be read, no.
BTF_API bool is_engine_list(const std::string& path);

// Refuses what is no such list; more than 10^6 layers; and a tensor that two layers make.
BTF_API Result<EngineList> read_engine_list(const std::string& path);

// Dims of tensors that a list has as dynamic, by their names or a glob.
struct EngineShape {
  std::string glob;
  Dims dims;
};

// Specs of raw files that are called as tensors of an engine; the dtypes of outputs in text.
struct EngineSpecs {
  EngineList list;
  std::string path;                  // for messages
  std::vector<EngineShape> shapes{};
  bool in_manifest = false;  // which names the list: for messages
};

// The spec of a tensor whose file has so many bytes, from which one dynamic dim follows. An error
// says what the list does not.
BTF_API Result<TensorSpec> engine_spec(const EngineSpecs& specs, const EngineTensor& tensor,
                                       std::optional<std::uint64_t> bytes);

// A name that TensorRT gave and no network has: of reformats, fused kernels, layers without a name.
BTF_API bool is_made_by_tensorrt(std::string_view tensor);

}  // namespace btf
