#include "inspect/engine.h"

#include <fmt/format.h>

#include "btf/tensorrt/engine_list.h"
#include "btf/try.h"
#include "io/json.h"
#include "io/text.h"
#include "report/text/columns.h"

namespace btftool {
namespace {

std::string layout_text(const btf::EngineTensor& tensor) {
  if (!tensor.format) return tensor.words.empty() ? "?" : printable(tensor.words);
  if (tensor.format->lanes != 0) return btf::format_sentence(*tensor.format);
  return std::string(btf::spec(tensor.format->layout).name);
}

std::string dims_of(const btf::EngineTensor& tensor) {
  if (!tensor.dims) return "?";
  std::string text;
  for (const std::int64_t dim : *tensor.dims)
    text += (text.empty() ? "" : ", ") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return "[" + text + "]";
}

// Nothing: the list does not say all that they follow from.
std::optional<std::uint64_t> bytes_of(const btf::EngineTensor& tensor) {
  if (!tensor.format || !tensor.dims) return std::nullopt;
  btf::Dims dims;
  for (const std::int64_t dim : *tensor.dims) {
    if (dim < 0) return std::nullopt;
    dims.push_back(static_cast<std::uint64_t>(dim));
  }
  const auto storage = btf::resolve(*tensor.format, dims);
  if (!storage) return std::nullopt;
  return btf::storage_bytes(*storage, tensor.format->dtype);
}

std::string_view role_of(const btf::EngineTensor& tensor) {
  return tensor.input ? "input" : tensor.output ? "output" : "";
}

std::string dtype_of(const btf::EngineTensor& tensor) {
  return tensor.dtype ? std::string(btf::info(*tensor.dtype).name) : "?";
}

std::vector<std::string> cells_of(const btf::EngineTensor& tensor, std::size_t index) {
  const auto bytes = bytes_of(tensor);
  return {std::to_string(index),
          dtype_of(tensor),
          layout_text(tensor),
          dims_of(tensor),
          bytes ? std::to_string(*bytes) : "?",
          printable(tensor.name),
          std::string(role_of(tensor))};
}

void tell_fitting(Output& out, const btf::EngineList& list) {
  std::vector<Column> columns{{.right = true},
                              {.least = 12},
                              {.rank = 2, .least = 16},
                              {.least = 16},
                              {.rank = 3, .right = true},
                              {.least = 24},
                              {.rank = 1}};
  const std::vector<std::string> titles{"#", "dtype", "layout", "shape", "bytes", "name", ""};
  widen(columns, titles);
  for (std::size_t i = 0; i < list.tensors.size(); ++i)
    widen(columns, cells_of(list.tensors[i], i));
  fit(columns, output_columns());
  constexpr std::size_t kName = 5;
  std::vector<std::string> names;
  for (const btf::EngineTensor& tensor : list.tensors) names.push_back(printable(tensor.name));
  names = btf::report::short_names(names, columns[kName].width);
  out.line(row_text(columns, titles));
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    auto cells = cells_of(list.tensors[i], i);
    cells[kName] = names[i];
    out.line(row_text(columns, cells));
  }
}

void tell(const Context& context, const std::string& path, const btf::EngineList& list) {
  Output& out = context.out;
  out.line(fmt::format("{}: layer list of a TensorRT engine, {}, {}, no data", printable(path),
                       counted(list.layers.size(), "layer"),
                       counted(list.tensors.size(), "tensor")));
  if (list.tensors.empty())
    return out.line(
        "names of layers only: the engine was built without detailed profiling verbosity");
  if (fits_columns()) return tell_fitting(out, list);
  out.line(" #  dtype           layout        shape                          bytes  name");
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    const btf::EngineTensor& tensor = list.tensors[i];
    const auto bytes = bytes_of(tensor);
    const std::string_view role = role_of(tensor);
    out.line(fmt::format("{:>2}  {:<14}  {:<12}  {:<22}  {:>12}  {}{}", i, dtype_of(tensor),
                         layout_text(tensor), dims_of(tensor), bytes ? std::to_string(*bytes) : "?",
                         printable(tensor.name), role.empty() ? "" : fmt::format(" ({})", role)));
  }
}

Json tensor_json(const btf::EngineTensor& tensor, std::size_t index) {
  const auto bytes = bytes_of(tensor);
  Json json{{"index", index},
            {"name", tensor.name},
            {"dtype", tensor.dtype ? Json(dtype_of(tensor)) : Json()},
            {"layout", tensor.format && tensor.format->lanes == 0
                           ? Json(std::string(btf::spec(tensor.format->layout).name))
                           : Json()},
            {"format", tensor.words.empty() ? Json() : Json(tensor.words)}};
  json["shape"] = tensor.dims ? Json(*tensor.dims) : Json();
  json["data_bytes"] = bytes ? Json(*bytes) : Json();
  json["role"] = role_of(tensor).empty() ? Json() : Json(std::string(role_of(tensor)));
  return json;
}

Json layer_json(const btf::EngineList& list, const btf::EngineLayer& layer) {
  const auto names = [&](const std::vector<std::uint32_t>& tensors) {
    Json all = Json::array();
    for (const std::uint32_t tensor : tensors) all.push_back(list.tensors[tensor].name);
    return all;
  };
  return {{"name", layer.name},
          {"type", layer.type.empty() ? Json() : Json(layer.type)},
          {"inputs", names(layer.inputs)},
          {"outputs", names(layer.outputs)},
          {"nodes", layer.nodes}};
}

}  // namespace

btf::Status inspect_engine(const Context& context, const InspectOptions& options,
                           const std::string& path) {
  BTF_ASSIGN(const btf::EngineList list, btf::read_engine_list(path));
  if (!options.json) {
    tell(context, path, list);
    return {};
  }
  Json file{{"path", path}, {"format", "tensorrt-engine"}, {"data", false}};
  file["tensors"] = Json::array();
  for (std::size_t i = 0; i < list.tensors.size(); ++i)
    file["tensors"].push_back(tensor_json(list.tensors[i], i));
  file["layers"] = Json::array();
  for (const btf::EngineLayer& layer : list.layers)
    file["layers"].push_back(layer_json(list, layer));
  context.out.line(dump(Json{{"schema", "btftool/inspect/1"}, {"files", Json::array({file})}}));
  return {};
}

}  // namespace btftool
