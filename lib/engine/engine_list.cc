// Parses the layer list of a TensorRT engine, and derives specs of its tensors.
#include "engine/engine_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "btf/layout.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace btf {
namespace {

std::string open_dims_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += concat(text.empty() ? "" : "x", dim);
  return text.empty() ? "scalar" : text;
}

std::string joined(const Dims& dims) {
  std::string text;
  for (const std::uint64_t dim : dims) text += concat(text.empty() ? "" : "x", dim);
  return text.empty() ? "scalar" : text;
}

// How to give dims that the list does not have.
std::string shapes_text(const EngineSpecs& specs, const EngineTensor& tensor) {
  if (specs.in_manifest) return "give them in a manifest's 'spec', '@LIST:DIMS'";
  return "give them with `shapes` " + tensor.name + ":DIMS";
}

std::unexpected<Error> missing_in_list(const EngineSpecs& specs, const EngineTensor& tensor,
                                       const std::string& what) {
  return fail(ErrorCode::invalid_argument, specs.path + ": '" + tensor.name + "' " + what);
}

// The shape given by the user for the tensor; the last match counts.
const Dims* given_shape(const EngineSpecs& specs, const EngineTensor& tensor) {
  const Dims* found = nullptr;
  for (const EngineShape& shape : specs.shapes)
    if (shape.glob == tensor.name || glob_matches(shape.glob, tensor.name)) found = &shape.dims;
  return found;
}

// The smallest size of the open dim for which the tensor has this many bytes.
std::optional<std::uint64_t> open_dim(const TensorRtFormat& format, Dims dims, std::size_t open,
                                      std::uint64_t bytes) {
  const auto size = [&](std::uint64_t dim) -> std::optional<std::uint64_t> {
    dims[open] = dim;
    const auto storage = resolve(format, dims);
    if (!storage) return std::nullopt;
    return storage_bytes(*storage, format.dtype);
  };
  std::uint64_t least = 1;
  std::uint64_t most = std::max<std::uint64_t>(bytes, 1) * 2;  // 4-bit types: two in a byte
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    const auto taken = size(middle);
    if (taken && *taken < bytes)
      least = middle + 1;
    else
      most = middle;
  }
  return size(least) == bytes ? std::optional(least) : std::nullopt;
}

Result<Dims> dims_of(const EngineSpecs& specs, const EngineTensor& tensor,
                     const TensorRtFormat& format, std::optional<std::uint64_t> bytes) {
  const Dims* const given = given_shape(specs, tensor);
  if (!tensor.dims) {
    if (given != nullptr) return *given;
    return missing_in_list(specs, tensor, "has no dims in the list; " + shapes_text(specs, tensor));
  }
  Dims dims;
  std::vector<std::size_t> open;
  for (const std::int64_t dim : *tensor.dims) {
    if (dim < 0) open.push_back(dims.size());
    dims.push_back(dim < 0 ? 1 : static_cast<std::uint64_t>(dim));
  }
  if (given != nullptr) {
    bool fits = given->size() == dims.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d)
      fits = (*tensor.dims)[d] < 0 || (*given)[d] == dims[d];
    if (fits) return *given;
    return missing_in_list(
        specs, tensor, "has the dims " + open_dims_text(*tensor.dims) + ", not " + joined(*given));
  }
  if (open.empty()) return dims;
  if (open.size() == 1 && bytes) {
    if (const auto dim = open_dim(format, dims, open.front(), *bytes)) {
      dims[open.front()] = *dim;
      return dims;
    }
    return missing_in_list(specs, tensor,
                           concat("has the dims ", open_dims_text(*tensor.dims),
                                  "; no size of the open dim gives ", *bytes, " bytes"));
  }
  return missing_in_list(specs, tensor,
                         "has the dims " + open_dims_text(*tensor.dims) +
                             ", where -1 is only known at run time; " + shapes_text(specs, tensor));
}

}  // namespace

Result<TensorSpec> engine_spec(const EngineSpecs& specs, const EngineTensor& tensor,
                               std::optional<std::uint64_t> bytes) {
  if (!tensor.format)
    return missing_in_list(
        specs, tensor,
        tensor.words.empty()
            ? std::string("has no format in the list; build the engine with detailed "
                          "profiling verbosity")
            : "has the format '" + tensor.words + "', which does not give a layout");
  BTF_ASSIGN(const Dims dims, dims_of(specs, tensor, *tensor.format, bytes));
  const std::string text = tensor.format->lanes == 0
                               ? spec_text(tensor.format->dtype, tensor.format->layout, dims)
                               : format_sentence(*tensor.format) + ":" + joined(dims);
  auto spec = parse_tensor_spec(text);
  if (!spec)
    return std::unexpected(spec.error().within("'" + tensor.name + "'").in_file(specs.path));
  return spec;
}

}  // namespace btf

namespace btf::engine {
namespace {

// Parses the JSON of trtexec --exportLayerInfo and of the engine inspector, versions 8.x to 11.x.

class JsonList {
 public:
  explicit JsonList(const ByteSource& source)
      : reader_(source, {0, source.size()},
                {.finding = "engine-list",
                 .whole = "the layer list",
                 .keep = std::uint64_t{1} << 20,  // names of regions are long
                 .check_names = false}) {}

  Result<EngineList> read() {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    EngineLayer single;
    bool is_single = false;
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "Layers") return take_layers();
      if (name.text == "Bindings") return take_bindings();
      if (name.text == "I/O Tensors") return take_io_tensors();
      is_single = is_single || name.text == "LayerType";
      return take_layer_member(name.text, single);  // the object of a single layer
    }));
    BTF_ASSIGN(const JsonToken end, reader_.next());
    if (end.kind != JsonKind::end)
      return reader_.wrong(end.extent.offset, "something follows after its end");
    if (is_single && list_.layers.empty()) BTF_TRY(add(std::move(single)));
    return std::move(list_);
  }

 private:
  // Calls `take` with the first token of each item.
  template <typename Take>
  Status items(std::string_view what, Take&& take) {
    BTF_TRY(reader_.expect(JsonKind::array_begin, what));
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      BTF_TRY(take(token));
    }
  }

  Status take_layers() {
    return items("its 'Layers'", [&](const JsonToken& token) -> Status {
      EngineLayer layer;
      metadata_.clear();
      if (token.kind == JsonKind::string) {
        layer.name = token.text;
      } else if (token.kind == JsonKind::object_begin) {
        BTF_TRY(reader_.members(
            [&](const JsonToken& name) { return take_layer_member(name.text, layer); }));
      } else {
        return reader_.wrong(token.extent.offset, concat("layer ", list_.layers.size(), " is ",
                                                         json_kind_name(token.kind),
                                                         " and neither a name nor an object"));
      }
      return add(std::move(layer));
    });
  }

  Status add(EngineLayer layer) {
    layer.nodes = nodes_of_metadata(metadata_);
    if (layer.nodes.empty()) layer.nodes = nodes_of_name(layer.name);
    list_.layers.push_back(std::move(layer));
    if (list_.layers.size() > kMaxLayers)
      return reader_.wrong(reader_.offset(), concat("more than ", kMaxLayers, " layers"));
    return {};
  }

  Status take_layer_member(std::string_view name, EngineLayer& layer) {
    if (name == "Name") return take_text("'Name' of a layer", layer.name);
    if (name == "LayerType") return take_text("'LayerType' of a layer", layer.type);
    if (name == "Metadata") return take_text("'Metadata' of a layer", metadata_);
    if (name == "Inputs") return take_tensors("'Inputs' of a layer", layer.inputs, false);
    if (name == "Outputs") return take_tensors("'Outputs' of a layer", layer.outputs, true);
    if (name == "Weights") return take_weights(layer);
    BTF_TRY(reader_.skip_value());
    return {};
  }

  Status take_tensors(std::string_view what, std::vector<std::uint32_t>& numbers, bool made) {
    return items(what, [&](const JsonToken& token) -> Status {
      ListedTensor listed;
      if (token.kind == JsonKind::string) {
        listed.name = token.text;
      } else if (token.kind == JsonKind::object_begin) {
        BTF_TRY(reader_.members(
            [&](const JsonToken& name) { return take_tensor_member(name.text, listed); }));
      } else {
        return reader_.wrong(token.extent.offset,
                             std::string(what) + " has an item that is not a tensor");
      }
      if (listed.name.empty()) return {};
      BTF_ASSIGN(const std::uint32_t number, number_of(listed.name));
      engine::take_tensor(list_.tensors[number], listed, made);
      numbers.push_back(number);
      return {};
    });
  }

  Result<std::uint32_t> number_of(const std::string& name) {
    const std::uint32_t number = list_.number_of(name);
    if (list_.tensors.size() > kMaxTensors)
      return reader_.wrong(reader_.offset(), concat("more than ", kMaxTensors, " tensors"));
    return number;
  }

  // 11.x has separate members for type and format.
  Status take_tensor_member(std::string_view name, ListedTensor& listed) {
    if (name == "Name") return take_text("'Name' of a tensor", listed.name);
    if (name == "Format/Datatype" || name == "Format")
      return take_text("the format of a tensor", listed.format);
    if (name == "Datatype" || name == "DataType")
      return take_text("the type of a tensor", listed.dtype);
    if (name == "Dimensions") return take_dims(listed.dims.emplace());
    BTF_TRY(reader_.skip_value());
    return {};
  }

  Status take_dims(std::vector<std::int64_t>& dims) {
    return items("'Dimensions' of a tensor", [&](const JsonToken& token) -> Status {
      const auto dim = token.kind == JsonKind::number ? exact_i64(token.text) : std::nullopt;
      if (!dim || *dim < -1)
        return reader_.wrong(token.extent.offset,
                             "a dim of a tensor is neither -1 nor a number of 0 or more");
      if (dims.size() == kMaxRank)
        return reader_.wrong(token.extent.offset,
                             concat("'Dimensions' of a tensor has more than ", kMaxRank, " dims"));
      dims.push_back(*dim);
      return {};
    });
  }

  Status take_weights(EngineLayer& layer) {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    if (token.kind != JsonKind::object_begin) return reader_.skip(token);
    return reader_.members([&](const JsonToken& name) -> Status {
      if (name.text != "Type") {
        BTF_TRY(reader_.skip_value());
        return {};
      }
      std::string type;
      BTF_TRY(take_text("'Type' of weights", type));
      if (const auto dtype = parse_dtype(type)) layer.weights = *dtype;
      return {};
    });
  }

  // These include inputs, which no layer produces.
  Status take_bindings() {
    return items("its 'Bindings'", [&](const JsonToken& token) -> Status {
      if (token.kind != JsonKind::string) return reader_.skip(token);
      BTF_ASSIGN(const std::uint32_t number, number_of(std::string(token.text)));
      list_.tensors[number].output = true;
      return {};
    });
  }

  Status take_io_tensors() {
    return items("its 'I/O Tensors'", [&](const JsonToken& token) -> Status {
      if (token.kind != JsonKind::object_begin) return reader_.skip(token);
      ListedTensor listed;
      BTF_TRY(reader_.members(
          [&](const JsonToken& name) { return take_tensor_member(name.text, listed); }));
      if (listed.name.empty()) return {};
      BTF_ASSIGN(const std::uint32_t number, number_of(listed.name));
      engine::take_tensor(list_.tensors[number], listed, false);
      list_.tensors[number].output = true;
      return {};
    });
  }

  Status take_text(std::string_view what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    if (token.kind == JsonKind::null) return {};
    if (token.kind != JsonKind::string || !token.complete)
      return reader_.wrong(token.extent.offset, std::string(what) + " is not a text");
    text = token.text;
    return {};
  }

  JsonReader reader_;
  EngineList list_;
  std::string metadata_;  // of the current layer
};

}  // namespace

Result<EngineList> read_json_list(const ByteSource& source) { return JsonList(source).read(); }

namespace {

// Parses the lines that trtexec --dumpLayerInfo writes into its log:
//   [11/26/2026-10:00:00] [I] Layers:
//   Name: conv1 + relu1, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device,
//     Dimensions: [1,3,8,8], Format/Datatype: Row major linear FP32 }], Outputs: [ {..} ], ..
// each in one line; or, of an engine that was built without details, the names alone.

constexpr std::string_view kName = "Name: ";
constexpr std::string_view kType = ", LayerType: ";
constexpr std::string_view kInputs = ", Inputs: [";
constexpr std::string_view kOutputs = ", Outputs: [";
constexpr std::string_view kDims = ", Dimensions: [";
constexpr std::string_view kFormat = ", Format/Datatype: ";

// The text between the end of `begin` and the next of `ends`, or the beginning of the rest if none
// of them follows.
std::string_view between(std::string_view text, std::string_view begin,
                         std::initializer_list<std::string_view> ends) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return {};
  text.remove_prefix(at + begin.size());
  std::size_t end = text.size();
  for (const std::string_view one : ends) end = std::min(end, text.find(one));
  return text.substr(0, end);
}

// "[11/26/2026-10:00:00] [I] [TRT] Layers:" -> "Layers:"
std::string_view without_log_marks(std::string_view line) {
  while (line.starts_with('[')) {
    const std::size_t end = line.find("] ");
    if (end == line.npos) break;
    line.remove_prefix(end + 2);
  }
  return line;
}

class TextList {
 public:
  explicit TextList(const ByteSource& source) : bytes_(source, {0, source.size()}) {}

  Result<EngineList> read() {
    std::string line;
    for (std::uint64_t number = 1; next(line); ++number) {
      const Status taken = take_line(line);
      if (!taken) return std::unexpected(taken.error().within(concat("line ", number)));
    }
    BTF_TRY(bytes_.trouble());
    return std::move(list_);
  }

 private:
  bool next(std::string& line) {
    line.clear();
    if (bytes_.peek() == JsonBytes::kEnd) return false;
    for (;;) {
      if (bytes_.peek() == JsonBytes::kEnd) return true;
      const std::string_view held = bytes_.held();
      const std::size_t end = held.find('\n');
      line += held.substr(0, end);
      bytes_.take(std::min(end, held.size()));
      if (end == held.npos) continue;
      bytes_.take();
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
  }

  Status take_line(std::string_view line) {
    const std::string_view content = without_log_marks(line);
    if (content.starts_with(kName) && content.contains(kType)) return take_layer(content);
    if (content == "Layers:") {
      names_ = true;
      return {};
    }
    if (content.empty() || content.starts_with("Bindings:") ||
        (names_ && content.size() != line.size()))
      names_ = false;
    if (!names_) return {};
    return add({.name = std::string(content), .nodes = nodes_of_name(content)});
  }

  Status add(EngineLayer layer) {
    list_.layers.push_back(std::move(layer));
    if (list_.layers.size() > kMaxLayers)
      return malformed("engine-list", bytes_.offset(), "more than ", kMaxLayers, " layers");
    return {};
  }

  Status take_layer(std::string_view line) {
    names_ = false;
    EngineLayer layer{.name = std::string(between(line, kName, {kType})),
                      .type = std::string(between(line, kType, {", "}))};
    const std::size_t outputs = line.find(kOutputs);
    BTF_TRY(take_tensors(between(line.substr(0, outputs), kInputs, {}), layer.inputs, false));
    if (outputs != line.npos)
      BTF_TRY(take_tensors(line.substr(outputs + kOutputs.size()), layer.outputs, true));
    const std::string_view weights = between(line, ", Weights: {", {"}"});
    if (const auto dtype = parse_dtype(between(weights, "Type: ", {",", " ", "}"})))
      layer.weights = *dtype;
    layer.nodes = nodes_of_metadata(between(line, ", Metadata: ", {", StreamId", ", TacticName"}));
    if (layer.nodes.empty()) layer.nodes = nodes_of_name(layer.name);
    return add(std::move(layer));
  }

  // "{ Name: a, .. }, { Name: b, .. }], what follows"
  Status take_tensors(std::string_view text, std::vector<std::uint32_t>& numbers, bool made) {
    constexpr std::string_view kTensor = "{ Name: ";
    for (;;) {
      const std::size_t skipped = text.find_first_not_of(", ");
      if (skipped == text.npos || !text.substr(skipped).starts_with(kTensor)) return {};
      text.remove_prefix(skipped + kTensor.size());
      std::size_t end = text.find(" }");
      if (end == text.npos) end = text.find('}');
      if (end == text.npos)
        return malformed("engine-list", bytes_.offset(), "a tensor of the layer has no end");
      ListedTensor listed;
      BTF_ASSIGN(listed, tensor_in(text.substr(0, end)));
      const std::uint32_t number = list_.number_of(listed.name);
      engine::take_tensor(list_.tensors[number], listed, made);
      numbers.push_back(number);
      text.remove_prefix(text.find('}', end) + 1);
    }
  }

  // "a, Location: Device, Dimensions: [1,3,8,8], Format/Datatype: Half"
  Result<ListedTensor> tensor_in(std::string_view text) const {
    ListedTensor listed;
    listed.name = text.substr(0, std::min({text.find(", Location: "), text.find(kDims),
                                           text.find(kFormat), text.size()}));
    listed.format = between(text, kFormat, {});
    if (text.contains(kDims)) {
      listed.dims.emplace();
      std::string_view list = between(text, kDims, {"]"});
      while (!list.empty()) {
        const std::size_t end = list.find(',');
        std::string_view word = list.substr(0, end);
        while (word.starts_with(' ')) word.remove_prefix(1);
        const bool dynamic = word == "-1";
        const auto dim = parse_number<std::uint64_t>(word);
        if ((!dim && !dynamic) || listed.dims->size() == kMaxRank ||
            (dim && *dim > std::uint64_t{INT64_MAX}))
          return malformed("engine-list", bytes_.offset(),
                           "'" + listed.name + "' has dims that are not numbers");
        listed.dims->push_back(dynamic ? -1 : static_cast<std::int64_t>(*dim));
        list.remove_prefix(end == list.npos ? list.size() : end + 1);
      }
    }
    return listed;
  }

  JsonBytes bytes_;
  EngineList list_;
  bool names_ = false;  // a line with a layer's name each follows
};

}  // namespace

Result<EngineList> read_text_list(const ByteSource& source) { return TextList(source).read(); }

}  // namespace btf::engine

namespace btf {
namespace {

constexpr std::uint64_t kStart = 4096;
constexpr std::uint64_t kLongest = std::uint64_t{512} << 20;

Result<std::string> start_of(const ByteSource& source) {
  std::string text(std::min(source.size(), kStart), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

bool is_json(std::string_view start) {
  const std::size_t at = start.find_first_not_of(" \t\r\n");
  return at != start.npos && start[at] == '{';
}

// Recognises lists, and the object of a single layer.
bool has_json_words(std::string_view start) {
  return start.contains("\"Layers\"") ||
         (start.contains("\"LayerType\"") && start.contains("\"Name\""));
}

bool has_text_words(std::string_view start) {
  return (start.contains("Name: ") && start.contains(", LayerType: ")) ||
         start.contains("Layers:\n") || start.contains("Layers:\r\n");
}

// A tensor must have a single producer.
Status check_makers(const EngineList& list) {
  std::vector<std::uint32_t> maker(list.tensors.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < list.layers.size(); ++i)
    for (const std::uint32_t tensor : list.layers[i].outputs) {
      if (maker[tensor] != UINT32_MAX && maker[tensor] != i)
        return fail(ErrorCode::malformed,
                    "'" + list.tensors[tensor].name + "' is made by two layers, '" +
                        list.layers[maker[tensor]].name + "' and '" + list.layers[i].name + "'");
      maker[tensor] = i;
    }
  return {};
}

// Tensors that no layer produces are inputs. Outputs are in the bindings and in lists of 11.x;
// otherwise they are the tensors that no layer reads.
void settle_roles(EngineList& list) {
  std::vector<bool> made(list.tensors.size(), false);
  std::vector<bool> read(list.tensors.size(), false);
  for (const EngineLayer& layer : list.layers) {
    for (const std::uint32_t tensor : layer.outputs) made[tensor] = true;
    for (const std::uint32_t tensor : layer.inputs) read[tensor] = true;
  }
  const auto output = [&](std::size_t i) { return list.tensors[i].output && made[i]; };
  bool any = false;
  for (std::size_t i = 0; i < made.size(); ++i) any = any || output(i);
  for (std::size_t i = 0; i < made.size(); ++i) {
    list.tensors[i].output = any ? output(i) : made[i] && !read[i];
    list.tensors[i].input = !made[i];
  }
}

}  // namespace

std::uint32_t EngineList::number_of(const std::string& tensor) {
  const auto [at, added] = numbers_.try_emplace(tensor, static_cast<std::uint32_t>(tensors.size()));
  if (added) tensors.push_back({.name = tensor});
  return at->second;
}

const EngineTensor* EngineList::find(const std::string& tensor) const {
  const auto at = numbers_.find(tensor);
  return at == numbers_.end() ? nullptr : &tensors[at->second];
}

Result<bool> is_engine_list(const std::string& path) {
  // A pipe can only be read once.
  BTF_ASSIGN(const bool regular, is_regular_file(path));
  if (!regular) return false;
  const auto source = open_source(path, {});
  const auto start = source ? start_of(**source) : std::unexpected(source.error());
  // What cannot be read as compressed data is read as a model, which says what is wrong.
  if (!start && is_system_error(start.error()) && !is_not_there(start.error()))
    return std::unexpected(start.error().in_file(path));
  if (!start || start->contains('\0')) return false;
  return is_json(*start) ? has_json_words(*start) : has_text_words(*start);
}

Result<EngineList> read_engine_list(const std::string& path) {
  const auto source = open_source(path, {});
  if (!source) return std::unexpected(source.error().in_file(path));
  auto list = engine::read_list(**source);
  if (!list) return std::unexpected(list.error().in_file(path));
  return list;
}

bool is_made_by_tensorrt(std::string_view tensor) {
  constexpr auto kBegins = std::to_array<std::string_view>(
      {"Reformatted Input Tensor ", "Reformatted Output Tensor ", "(Unnamed Layer* ", "__my"});
  return std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return tensor.starts_with(begin); });
}

namespace engine {

Result<EngineList> read_list(const ByteSource& source) {
  if (source.size() > kLongest)
    return fail(ErrorCode::unsupported, "the layer list has ", source.size(), " bytes; at most ",
                kLongest, " are read");
  BTF_ASSIGN(const std::string start, start_of(source));
  BTF_ASSIGN(EngineList list, is_json(start) ? read_json_list(source) : read_text_list(source));
  if (list.layers.empty())
    return fail(ErrorCode::malformed, "is not a layer list of a TensorRT engine: it has no layers");
  BTF_TRY(check_makers(list));
  settle_roles(list);
  return list;
}

void take_tensor(EngineTensor& tensor, const ListedTensor& listed, bool made) {
  if (listed.dims && (made || !tensor.dims)) tensor.dims = listed.dims;
  if (listed.format.empty() && listed.dtype.empty()) return;
  if (!tensor.words.empty() && !made) return;
  tensor.words = listed.format.empty() ? listed.dtype : listed.format;
  tensor.format.reset();
  tensor.dtype.reset();
  if (const auto dtype = parse_dtype(listed.dtype); dtype) tensor.dtype = *dtype;
  if (const auto format =
          parse_format_sentence(listed.format.empty() ? listed.dtype : listed.format)) {
    tensor.format = *format;
    if (!tensor.dtype) tensor.dtype = format->dtype;
    tensor.format->dtype = *tensor.dtype;
  }
}

namespace {

void add_node(std::string_view name, std::vector<std::string>& nodes) {
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (!name.empty() && std::ranges::find(nodes, name) == nodes.end()) nodes.emplace_back(name);
}

// The first and last node of "{ForeignNode[a...b]}".
bool take_foreign(std::string_view part, std::vector<std::string>& nodes) {
  constexpr std::string_view kBegin = "{ForeignNode[";
  constexpr std::string_view kBetween = "...";
  if (!part.starts_with(kBegin) || !part.ends_with("]}")) return false;
  part = part.substr(kBegin.size(), part.size() - kBegin.size() - 2);
  const std::size_t between = part.find(kBetween);
  add_node(part.substr(0, between), nodes);
  if (between != part.npos) add_node(part.substr(between + kBetween.size()), nodes);
  return true;
}

// "PWN(PWN(a), b)" -> "PWN(a), b"; unset for other texts.
std::optional<std::string_view> inside_pointwise(std::string_view part) {
  if (!part.starts_with("PWN(") || !part.ends_with(')')) return std::nullopt;
  return part.substr(4, part.size() - 5);
}

// Finds the separator outside of brackets.
std::size_t find_outside(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}') --depth;
    if (depth <= 0 && text.substr(at).starts_with(separator)) return at;
  }
  return text.npos;
}

void take_part(std::string_view part, std::vector<std::string>& nodes, int depth);

void take_parts(std::string_view text, std::string_view separator, std::vector<std::string>& nodes,
                int depth) {
  for (;;) {
    const std::size_t end = find_outside(text, separator);
    take_part(text.substr(0, end), nodes, depth);
    if (end == text.npos) return;
    text.remove_prefix(end + separator.size());
  }
}

void take_part(std::string_view part, std::vector<std::string>& nodes, int depth) {
  constexpr int kMaxNested = 32;
  if (take_foreign(part, nodes)) return;
  const auto inside = inside_pointwise(part);
  if (!inside || depth == kMaxNested) return add_node(part, nodes);
  if (find_outside(*inside, " + ") != inside->npos)
    take_parts(*inside, " + ", nodes, depth + 1);
  else
    take_parts(*inside, ", ", nodes, depth + 1);
}

}  // namespace

std::vector<std::string> nodes_of_name(std::string_view layer) {
  constexpr std::string_view kCopy = "Reformatting CopyNode for ";
  std::vector<std::string> nodes;
  if (!layer.starts_with(kCopy) && !is_made_by_tensorrt(layer)) take_parts(layer, " + ", nodes, 0);
  return nodes;
}

std::vector<std::string> nodes_of_metadata(std::string_view metadata) {
  constexpr std::string_view kNode = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  while (!metadata.empty()) {
    const std::size_t end = std::min(metadata.find_first_of("\x1e\x1f"), metadata.size());
    const std::string_view part = metadata.substr(0, end);
    if (part.starts_with(kNode) && part.ends_with(']'))
      add_node(part.substr(kNode.size(), part.size() - kNode.size() - 1), nodes);
    metadata.remove_prefix(std::min(end + 1, metadata.size()));
  }
  return nodes;
}

}  // namespace engine
}  // namespace btf
