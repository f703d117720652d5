#include "reports/inspect_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/read.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "cli/arguments.h"
#include "io/context.h"
#include "io/text.h"
#include "report/text/text.h"

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

// Returns std::nullopt if the list lacks dims or format.
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

void print_table(Output& out, const btf::EngineList& list) {
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

void print_engine(const Context& context, const std::string& path, const btf::EngineList& list) {
  Output& out = context.out;
  out.line(fmt::format("{}: layer list of a TensorRT engine, {}, {}, no data", printable(path),
                       counted(list.layers.size(), "layer"),
                       counted(list.tensors.size(), "tensor")));
  if (list.tensors.empty())
    return out.line(
        "the list has only names of layers: the engine was built without detailed profiling "
        "verbosity");
  if (fits_columns()) return print_table(out, list);
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
    print_engine(context, path, list);
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

namespace {

constexpr std::uint64_t kEdge = 3;
constexpr std::uint64_t kMaxValues = 1000000;

std::uint64_t position_of(const btf::SlicedDim& dim, std::uint64_t i) {
  // Unsigned arithmetic wraps, so this is right for negative steps too.
  return dim.start + i * static_cast<std::uint64_t>(dim.step);
}

std::uint64_t slice_elements(const std::vector<btf::SlicedDim>& slice) {
  std::uint64_t count = 1;
  for (const btf::SlicedDim& dim : slice) {
    if (dim.count == 0) return 0;
    if (__builtin_mul_overflow(count, dim.count, &count)) return UINT64_MAX;
  }
  return count;
}

}  // namespace

btf::Result<ValueView> ValueView::read(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                       const std::vector<btf::SlicedDim>& slice,
                                       std::uint64_t threshold) {
  ValueView view;
  view.dtype_ = *tensor.dtype;
  const bool summarise = slice_elements(slice) > threshold;
  if (slice_elements(slice) == 0) {
    view.shown_.emplace_back();
    return view;
  }
  std::uint64_t shown = 1;
  for (const btf::SlicedDim& dim : slice)
    if (__builtin_mul_overflow(shown, summarise ? std::min(dim.count, 2 * kEdge) : dim.count,
                               &shown) ||
        shown > kMaxValues)
      return btf::fail(btf::ErrorCode::invalid_argument,
                       "there are more than " + std::to_string(kMaxValues) +
                           " values to print; select some by --slice");
  std::vector<btf::Dims> indices(1);
  for (const btf::SlicedDim& dim : slice) {
    Positions positions;
    for (std::uint64_t i = 0; i < dim.count; ++i) {
      if (summarise && i == kEdge && dim.count > 2 * kEdge) {
        positions.push_back(kGap);
        i = dim.count - kEdge;
      }
      positions.push_back(position_of(dim, i));
    }
    std::vector<btf::Dims> longer;
    for (const btf::Dims& index : indices) {
      for (const std::uint64_t position : positions) {
        if (position == kGap) continue;
        longer.push_back(index);
        longer.back().push_back(position);
      }
    }
    indices = std::move(longer);
    if (dim.keep) view.shown_.push_back(std::move(positions));
  }
  BTF_ASSIGN(const auto elements, btf::read_elements(file, tensor, indices));
  for (const btf::Element& element : elements) {
    view.codes_.push_back(element.code);
    view.texts_.push_back(btf::value_text(view.dtype_, element.code));
    view.width_ = std::max(view.width_, view.texts_.back().size());
  }
  return view;
}

std::string ValueView::text(std::size_t width) const {
  std::string out;
  std::size_t next = 0;
  print({.width = width}, next, out);
  return out;
}

void ValueView::print(Place at, std::size_t& next, std::string& out) const {
  const auto [dim, indent, line_width] = at;
  if (dim == shown_.size()) {
    out += shown_.empty() ? texts_[next] : pad_left(texts_[next], width_);
    ++next;
    return;
  }
  const bool innermost = dim + 1 == shown_.size();
  const std::string new_line = std::string(shown_.size() - dim - (innermost ? 0 : 1), '\n');
  const std::string margin(indent, ' ');
  std::size_t line_start = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  out += "[";
  bool first = true;
  for (const std::uint64_t position : shown_[dim]) {
    const std::size_t piece = position == kGap ? 3 : width_;
    if (!first && innermost && out.size() - line_start + 1 + piece > line_width) {
      out += "\n" + margin;
      line_start = out.size() - margin.size();
    } else if (!first) {
      out += innermost ? " " : new_line + margin;
    }
    first = false;
    if (position == kGap)
      out += "...";
    else
      print({dim + 1, indent + 1, line_width}, next, out);
  }
  out += "]";
}

Json ValueView::json() const {
  std::size_t next = 0;
  return nest(0, next);
}

Json ValueView::nest(std::size_t dim, std::size_t& next) const {
  if (dim == shown_.size()) return json_value(dtype_, codes_[next++]);
  Json array = Json::array();
  for (const std::uint64_t position : shown_[dim])
    array.push_back(position == kGap ? Json("...") : nest(dim + 1, next));
  return array;
}

namespace {

// Reads percentiles, histogram and channels.
btf::Status read_statistics(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                            const InspectOptions& options, const btf::Execution& execution,
                            InspectDetails& details) {
  details.asked = options.distribution;
  const bool asked = details.asked.bins > 0 || !details.asked.percentiles.empty();
  if (!asked && details.stats->elements <= kMaxDistributed)
    details.asked = {.percentiles = *parse_percentiles(kPercentilesShown), .bins = kBinsShown};
  if (asked || details.asked.bins > 0) {
    BTF_ASSIGN(details.distribution,
               btf::distribution(file, tensor, *details.stats, details.asked, execution));
  }
  if (options.by_axis) {
    const auto axis = btf::find_axis(tensor, *options.by_axis);
    auto channels = axis ? btf::channel_stats(file, tensor, *details.stats, *axis, execution)
                         : std::unexpected(axis.error());
    if (channels)
      details.channels = *std::move(channels);
    else if (channels.error().code == btf::ErrorCode::invalid_argument)
      details.no_channels = channels.error();
    else
      return std::unexpected(channels.error());
  }
  return {};
}

}  // namespace

btf::Result<InspectDetails> read_details(const btf::TensorFile& file, const btf::TensorInfo& listed,
                                         const InspectOptions& options,
                                         const btf::Execution& execution) {
  InspectDetails details;
  if (!options.stats && !options.values && !options.at) return details;
  // Blocks that hold codes and scales are shown as the numbers that they represent.
  std::optional<btf::TensorInfo> numbers;
  if (!listed.dtype && !listed.foreign_dtype.empty()) {
    BTF_ASSIGN(numbers, file.dequantized(listed.index));
  }
  const btf::TensorInfo& tensor = numbers ? *numbers : listed;
  if (!tensor.known())
    return btf::fail(btf::ErrorCode::unsupported,
                     tensor.dtype ? "unknown layout code " + std::to_string(tensor.layout_code)
                                  : tensor.unknown_dtype_text());
  details.dtype = tensor.dtype;
  if (options.stats) {
    BTF_ASSIGN(details.stats, btf::stats(file, tensor, execution));
    BTF_TRY(read_statistics(file, tensor, options, execution, details));
  }
  if (options.values) {
    BTF_ASSIGN(const btf::Slice part, parse_slice(options.slice.value_or("")));
    BTF_ASSIGN(const auto slice, btf::sliced_dims(part, tensor.dims));
    BTF_ASSIGN(details.values, ValueView::read(file, tensor, slice, *options.values));
  }
  if (options.at) {
    BTF_ASSIGN(const auto index, parse_index(*options.at, tensor.dims));
    BTF_ASSIGN(const auto element, btf::read_elements(file, tensor, std::span(&index, 1)));
    details.at = index;
    details.element = element.front();
    if (numbers) details.element.offset.reset();
  }
  // If another process has written the file meanwhile, the values may be of two different dumps.
  BTF_TRY(file.check_unchanged());
  return details;
}

std::optional<std::string> tensorrt_limits(const btf::TensorInfo& tensor) {
  if (!tensor.layout || !tensor.storage) return std::nullopt;
  return btf::tensorrt_objection(*tensor.layout, tensor.dims);
}

bool is_extension(const btf::TensorInfo& tensor) {
  return tensor.dtype_code >= 128 || tensor.layout_code >= 128;
}

btf::Dims byte_strides(const btf::TensorInfo& tensor) {
  btf::Dims strides;
  for (const btf::StorageAxis& axis : tensor.storage->axes)
    strides.push_back(axis.stride * btf::info(*tensor.dtype).bits / 8);
  std::ranges::reverse(strides);
  return strides;
}

}  // namespace btftool
