// What TensorRT says of tensors and engines: its descriptions of formats, and lists of the layers
// of an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"

namespace btf {

// Formats in TensorRT's own words: the sentences of an engine's layer list, and the types and
// strides of verbose logs. docs/layouts.md lists both.

// "Channel major FP16 format where channel % 8 == 0", or a bare type, "Half", which is row-major.
struct TensorRtFormat {
  DType dtype{};
  Layout layout = Layout::linear;
  // If not 0, `layout` does not apply: channels are last, their number is rounded up to `lanes`,
  // and rows begin at multiples of `row_pitch` elements.
  std::uint8_t lanes = 0;
  std::uint32_t row_pitch = 1;
};

// Returns true if the text looks like such a sentence and not like a spec.
BTF_API bool is_format_sentence(std::string_view text);

// The full stop and the enumerator at the end, as "(kLINEAR)", may be left out. An error names the
// most similar sentence.
BTF_API Result<TensorRtFormat> parse_format_sentence(std::string_view text);

// The sentence as TensorRT writes it.
BTF_API std::string format_sentence(const TensorRtFormat& format);

// All formats that have a sentence of their own.
BTF_API std::span<const std::string_view> format_sentences();

BTF_API Result<StridedLayout> resolve(const TensorRtFormat& format,
                                      std::span<const std::uint64_t> dims);

// "Half(160000,1:8,1600,8)": a stride for each dim, counted in vectors. The dim with a colon is
// vectorised, and the number after the colon is the number of elements in a vector.
struct LoggedFormat {
  DType dtype{};
  Dims strides;
  std::optional<std::uint32_t> vector_dim;
  std::uint64_t components = 1;  // of a vector
};

BTF_API bool is_logged_format(std::string_view text);
BTF_API Result<LoggedFormat> parse_logged_format(std::string_view text);

struct LoggedStorage {
  std::optional<Layout> layout;  // the one that has these strides on these dims; unset if none has
  StridedLayout storage;
};
BTF_API Result<LoggedStorage> resolve(const LoggedFormat& format,
                                      std::span<const std::uint64_t> dims);

// A layout with these strides, and the dims that follow from them. The outermost dim does not, and
// of the vectorised dim only the number of vectors does.
struct LoggedShape {
  Layout layout{};
  Dims dims;
  std::uint32_t unknown_dim = 0;
};
BTF_API std::vector<LoggedShape> shapes_of(const LoggedFormat& format);

// A tensor of an engine. Members are unset or empty if the list does not give them.
struct EngineTensor {
  std::string name;
  std::string words{};  // its format as the list writes it
  std::optional<DType> dtype{};
  std::optional<TensorRtFormat> format{};
  std::optional<std::vector<std::int64_t>> dims{};  // -1 for a dynamic dim
  bool input = false;                               // of the network
  bool output = false;                              // of the network
};

struct EngineLayer {
  std::string name;
  std::string type{};                   // "CaskConvolution", "kgen", "Reformat"; may be empty
  std::vector<std::uint32_t> inputs{};  // numbers of tensors
  std::vector<std::uint32_t> outputs{};
  std::optional<DType> weights{};    // dtype of the weights
  std::vector<std::string> nodes{};  // ONNX nodes that were fused into it
};

// The layers of an engine and the tensors between them, as trtexec --exportLayerInfo (JSON),
// --dumpLayerInfo (text in a log) and the engine inspector write them.
class EngineList {
 public:
  std::vector<EngineTensor> tensors;
  std::vector<EngineLayer> layers;  // in the order of execution

  // The number of the tensor, which is added if it is new.
  BTF_API std::uint32_t number_of(const std::string& tensor);
  // nullptr if there is no such tensor.
  BTF_API const EngineTensor* find(const std::string& tensor) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// Decides by the first bytes: {"Layers": or lines of a log. False for pipes, and for files that
// cannot be read.
BTF_API Result<bool> is_engine_list(const std::string& path);

// An error if the file is no such list, has more than 10^6 layers, or a tensor that two layers
// write.
BTF_API Result<EngineList> read_engine_list(const std::string& path);

// Dims for tensors that are dynamic in the list, by name or glob.
struct EngineShape {
  std::string glob;
  Dims dims;
};

// What raw files that have the names of an engine's tensors hold, and the dtypes of outputs in
// text.
struct EngineSpecs {
  EngineList list;
  std::string path;  // for messages
  std::vector<EngineShape> shapes{};
  bool in_manifest = false;  // a manifest names the list; for messages
};

// The spec of a tensor. `bytes` is the size of its file, which determines one dynamic dim. The
// error says what the list lacks.
BTF_API Result<TensorSpec> engine_spec(const EngineSpecs& specs, const EngineTensor& tensor,
                                       std::optional<std::uint64_t> bytes);

// Returns true for names that TensorRT makes up: those of reformats, fused kernels and layers
// without a name.
BTF_API bool is_made_by_tensorrt(std::string_view tensor);

}  // namespace btf
