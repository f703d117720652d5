// The JSON of trtexec --exportLayerInfo and of the engine inspector, of 8.x to 11.x.
#include <array>
#include <charconv>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "engine/parts.h"
#include "formats/json/json_string.h"
#include "formats/json/reader.h"

namespace btf::engine {
namespace {

class JsonList {
 public:
  explicit JsonList(const ByteSource& source)
      : reader_(source, {0, source.size()},
                {.finding = "engine-list", .whole = "the layer list",
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
      return take_layer_member(name.text, single);  // one layer's object
    }));
    BTF_ASSIGN(const JsonToken end, reader_.next());
    if (end.kind != JsonKind::end)
      return reader_.wrong(end.extent.offset, "something follows after its end");
    if (is_single && list_.layers.empty()) BTF_TRY(add(std::move(single)));
    return std::move(list_);
  }

 private:
  // Calls `take` with each item's first token.
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
        return reader_.wrong(token.extent.offset,
                             "layer " + std::to_string(list_.layers.size()) + " is " +
                                 std::string(json_kind_name(token.kind)) +
                                 " and neither a name nor an object");
      }
      return add(std::move(layer));
    });
  }

  Status add(EngineLayer layer) {
    layer.nodes = nodes_of_metadata(metadata_);
    if (layer.nodes.empty()) layer.nodes = nodes_of_name(layer.name);
    list_.layers.push_back(std::move(layer));
    if (list_.layers.size() > kMostLayers)
      return reader_.wrong(reader_.offset(),
                           "more than " + std::to_string(kMostLayers) + " layers");
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
      TensorSaid said;
      if (token.kind == JsonKind::string) {
        said.name = token.text;
      } else if (token.kind == JsonKind::object_begin) {
        BTF_TRY(reader_.members(
            [&](const JsonToken& name) { return take_tensor_member(name.text, said); }));
      } else {
        return reader_.wrong(token.extent.offset, std::string(what) + " has what is no tensor");
      }
      if (said.name.empty()) return {};
      BTF_ASSIGN(const std::uint32_t number, number_of(said.name));
      engine::take_tensor(list_.tensors[number], said, made);
      numbers.push_back(number);
      return {};
    });
  }

  Result<std::uint32_t> number_of(const std::string& name) {
    const std::uint32_t number = list_.number_of(name);
    if (list_.tensors.size() > kMostTensors)
      return reader_.wrong(reader_.offset(),
                           "more than " + std::to_string(kMostTensors) + " tensors");
    return number;
  }

  // 11.x has type and format apart.
  Status take_tensor_member(std::string_view name, TensorSaid& said) {
    if (name == "Name") return take_text("'Name' of a tensor", said.name);
    if (name == "Format/Datatype" || name == "Format")
      return take_text("the format of a tensor", said.format);
    if (name == "Datatype" || name == "DataType")
      return take_text("the type of a tensor", said.dtype);
    if (name == "Dimensions") return take_dims(said.dims.emplace());
    BTF_TRY(reader_.skip_value());
    return {};
  }

  Status take_dims(std::vector<std::int64_t>& dims) {
    return items("'Dimensions' of a tensor", [&](const JsonToken& token) -> Status {
      const auto dim = token.kind == JsonKind::number ? exact_i64(token.text) : std::nullopt;
      if (!dim || *dim < -1)
        return reader_.wrong(token.extent.offset, "a dim of a tensor is no number of 0 or more, "
                                                  "nor -1");
      if (dims.size() == kMaxRank)
        return reader_.wrong(token.extent.offset, "'Dimensions' of a tensor has more than " +
                                                      std::to_string(kMaxRank) + " dims");
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

  // Inputs too, which no layer makes.
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
      TensorSaid said;
      BTF_TRY(reader_.members(
          [&](const JsonToken& name) { return take_tensor_member(name.text, said); }));
      if (said.name.empty()) return {};
      BTF_ASSIGN(const std::uint32_t number, number_of(said.name));
      engine::take_tensor(list_.tensors[number], said, false);
      list_.tensors[number].output = true;
      return {};
    });
  }

  Status take_text(std::string_view what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    if (token.kind == JsonKind::null) return {};
    if (token.kind != JsonKind::string || !token.kept)
      return reader_.wrong(token.extent.offset, std::string(what) + " is not a text");
    text = token.text;
    return {};
  }

  JsonReader reader_;
  EngineList list_;
  std::string metadata_;  // of the layer that is read
};

}  // namespace

Result<EngineList> read_json_list(const ByteSource& source) {
  return JsonList(source).read();
}

}  // namespace btf::engine
