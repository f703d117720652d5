// btftool types: lists dtypes and layouts, or explains one of them or a format of TensorRT.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/context.h"
#include "io/text.h"
#include "report/text/text.h"

namespace btftool {
namespace {

constexpr std::uint64_t kMaxDrawn = 512;  // stored elements
constexpr std::size_t kOffsetWidth = 10;  // columns of the offset and the blanks around it

using btf::DTypeInfo;
using btf::LayoutSpec;

std::string_view kind_of(const DTypeInfo& row) {
  switch (row.kind) {
    case btf::NumberKind::signed_integer:
      return "integer";
    case btf::NumberKind::unsigned_integer:
      return "unsigned";
    case btf::NumberKind::floating:
      return "float";
    case btf::NumberKind::boolean:
      return "bool";
  }
  return "";
}

// Exact, as a double cannot hold all 64-bit integers.
struct IntegerRange {
  std::int64_t least = 0;
  std::uint64_t most = 0;
};

IntegerRange integer_range(const DTypeInfo& row) {
  if (row.kind == btf::NumberKind::boolean) return {.least = 0, .most = 1};
  const std::uint64_t all = UINT64_MAX >> (64U - row.bits);
  if (row.kind == btf::NumberKind::unsigned_integer) return {.least = 0, .most = all};
  return {.least = -static_cast<std::int64_t>(all / 2) - 1, .most = all / 2};
}

// The range and the steps of a floating-point dtype, all of which a double can hold.
struct Range {
  double least = 0;
  double most = 0;
  double smallest_normal = 0;
  double smallest = 0;
  double step_at_one = 1;
};

Range range_of(const btf::FloatGeometry& fp) {
  using enum btf::FloatSpecials;
  // All exponent bits set is not a number in some dtypes; in others only the largest mantissa with
  // them is not.
  const bool top_is_special =
      fp.specials == ieee || (fp.specials == nan_only && fp.mantissa_bits == 0);
  const int top = (1 << fp.exponent_bits) - 1 - (top_is_special ? 1 : 0) - fp.bias;
  const double step = std::ldexp(1.0, -fp.mantissa_bits);
  const bool loses_one = fp.specials == nan_only && fp.mantissa_bits > 0;
  const double most = std::ldexp(2 - step - (loses_one ? step : 0), top);
  const int least_exponent = fp.power_of_two ? -fp.bias : 1 - fp.bias;
  return {.least = fp.power_of_two ? std::ldexp(1.0, -fp.bias) : -most,
          .most = fp.power_of_two ? std::ldexp(1.0, top) : most,
          .smallest_normal = std::ldexp(1.0, least_exponent),
          .smallest = std::ldexp(1.0, least_exponent - (fp.power_of_two ? 0 : fp.mantissa_bits)),
          .step_at_one = step};
}

std::string specials_of(const DTypeInfo& row) {
  switch (row.fp.specials) {
    case btf::FloatSpecials::ieee:
      return "NaN and Inf";
    case btf::FloatSpecials::nan_only:
      return "NaN, no Inf";
    case btf::FloatSpecials::fnuz:
      return "one NaN, no Inf, no -0";
    case btf::FloatSpecials::none:
      return "neither NaN nor Inf";
  }
  return "";
}

template <typename Names>
std::string joined(const Names& names) {
  std::string text;
  for (const std::string_view name : names)
    if (!name.empty()) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string held_types(const LayoutSpec& row) {
  if (row.layout == btf::Layout::linear) return "all";
  if (!row.dense() || row.shuffled() || row.tensorrt[0].count == 0) return "none";
  std::string text;
  for (std::size_t i = 0; i < row.tensorrt[0].count; ++i)
    text += (i == 0 ? "" : ", ") + std::string(btf::info(row.tensorrt[0].dtypes[i]).name);
  return text;
}

std::string name_of(const LayoutSpec& row) {
  return std::string(row.name) + (row.dla == "xavier" ? ":xavier" : "");
}

struct NameElsewhere {
  std::string_view member;  // of the JSON
  std::string_view of;
  std::string_view name;
};

std::array<NameElsewhere, 3> names_elsewhere(const DTypeInfo& row) {
  return {{{"torch", "PyTorch", row.torch},
           {"safetensors", "safetensors", row.safetensors},
           {"tensorrt", "TensorRT", row.tensorrt}}};
}

Json dtype_json(const DTypeInfo& row) {
  Json json{{"name", std::string(row.name)},
            {"code", row.code()},
            {"bits", row.bits},
            {"kind", std::string(kind_of(row))}};
  json["aliases"] = Json::array();
  for (const std::string_view alias : row.aliases)
    if (!alias.empty()) json["aliases"].push_back(std::string(alias));
  json["numpy"] = row.npy.empty() ? Json() : Json(std::string(row.npy));
  json["dlpack"] = row.dlpack;
  for (const auto& [member, of, name] : names_elsewhere(row))
    json[std::string(member)] = name.empty() ? Json() : Json(std::string(name));
  if (!row.floating()) {
    const IntegerRange range = integer_range(row);
    const auto magnitude = static_cast<std::uint64_t>(-(range.least + 1)) + 1;
    json["least"] = range.least >= 0 || json_exact(magnitude) ? Json(range.least)
                                                              : Json(std::to_string(range.least));
    json["most"] = json_number(range.most);
    return json;
  }
  const Range range = range_of(row.fp);
  json["least"] = json_number(range.least);
  json["most"] = json_number(range.most);
  json["smallest_normal"] = json_number(range.smallest_normal);
  json["smallest"] = json_number(range.smallest);
  json["step_at_one"] = json_number(range.step_at_one);
  return json;
}

Json layout_json(const LayoutSpec& row) {
  Json json{{"name", name_of(row)},
            {"code", row.code()},
            {"lanes", row.lanes},
            {"row_pitch_bytes", row.pitch_bytes},
            {"least_rank", row.min_rank}};
  json["aliases"] = Json::array();
  for (const std::string_view alias : row.aliases)
    if (!alias.empty()) json["aliases"].push_back(std::string(alias));
  json["tensorrt"] = held_types(row);
  return json;
}

// Prints a table as narrow as the cells allow. A long last cell continues below it.
void print_table(Output& out, const std::vector<std::vector<std::string>>& rows,
                 std::vector<Column> columns) {
  for (const std::vector<std::string>& row : rows) widen(columns, row);
  fit(columns, SIZE_MAX);
  std::size_t last = 0;
  for (std::size_t c = 0; c + 1 < columns.size(); ++c) last += columns[c].width + kColumnGap;
  for (const std::vector<std::string>& row : rows) out.line(row_text(columns, row), last);
}

void print_tables_on_terminal(Output& out) {
  std::vector<std::vector<std::string>> rows{{"dtype", "bits", "kind", "other names"}};
  for (const DTypeInfo& row : btf::dtypes())
    rows.push_back({std::string(row.name), std::to_string(row.bits), std::string(kind_of(row)),
                    joined(row.aliases)});
  print_table(out, rows, {{}, {.right = true}, {}, {}});
  out.line("");
  rows = {{"layout", "rank", "other names", "TensorRT holds"}};
  for (const LayoutSpec& row : btf::layouts())
    rows.push_back(
        {name_of(row), fmt::format("{}+", row.min_rank), joined(row.aliases), held_types(row)});
  print_table(out, rows, {{}, {.right = true}, {}, {}});
}

void print_tables(Output& out) {
  if (fits_columns()) return print_tables_on_terminal(out);
  out.line("dtype               bits  kind      other names");
  for (const DTypeInfo& row : btf::dtypes())
    out.line(fmt::format("{:<18}  {:>4}  {:<8}  {}", row.name, row.bits, kind_of(row),
                         joined(row.aliases)));
  out.line("");
  out.line("layout              rank  other names                    TensorRT holds");
  for (const LayoutSpec& row : btf::layouts())
    out.line(fmt::format("{:<18}  {:>3}+  {:<29}  {}", name_of(row), row.min_rank,
                         joined(row.aliases), held_types(row)));
}

void print_dtype(Output& out, const DTypeInfo& row) {
  out.line(fmt::format("{}: {} of {} bits, code {} in BTF", row.name, kind_of(row), row.bits,
                       row.code()));
  if (const std::string others = joined(row.aliases); !others.empty())
    out.line("  other names      " + others);
  out.line(fmt::format("  NumPy            {}", row.npy.empty()
                                                    ? "ml_dtypes: " + std::string(row.name)
                                                    : std::string(row.npy)));
  for (const auto& [member, of, name] : names_elsewhere(row))
    out.line(fmt::format("  {:<16} {}", of, name.empty() ? "none" : name));
  out.line(fmt::format("  DLPack           code {}, {} bits", row.dlpack, row.bits));
  if (!row.floating()) {
    const IntegerRange range = integer_range(row);
    return out.line(fmt::format("  range            {} to {}", range.least, range.most));
  }
  const Range range = range_of(row.fp);
  out.line(fmt::format("  range            {} to {}", range.least, range.most));
  out.line(fmt::format("  smallest         {}{}", range.smallest,
                       range.smallest == range.smallest_normal
                           ? ""
                           : fmt::format("; normal from {}", range.smallest_normal)));
  out.line(fmt::format("  step at 1        {}", range.step_at_one));
  out.line(fmt::format("  bits             {} of exponent, {} of mantissa, bias {}",
                       row.fp.exponent_bits, row.fp.mantissa_bits, row.fp.bias));
  out.line("  has              " + specials_of(row));
}

// Prints the elements in memory order, with a line for each step of all but the innermost axis.
// Dots are padding.
void draw(Output& out, const btf::StridedLayout& storage) {
  if (storage.storage_elements > kMaxDrawn || storage.elements() == 0) return;
  std::vector<std::string> cells(storage.storage_elements);
  btf::Dims index(storage.dims.size(), 0);
  for (std::uint64_t n = 0; n < storage.elements(); ++n) {
    std::string& cell = cells[btf::offset(storage, index)];
    for (const std::uint64_t at : index) cell += (cell.empty() ? "" : ",") + std::to_string(at);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < storage.dims[d]) break;
      index[d] = 0;
    }
  }
  std::size_t width = 1;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  std::uint64_t line = cells.size();  // up to the next step of an outer axis
  for (const btf::StorageAxis& axis : storage.axes)
    if (axis.extent > 1 && axis.stride > 1) line = std::min(line, axis.stride);
  out.line("  memory order");
  for (std::uint64_t at = 0; at < cells.size(); at += line) {
    std::string text = fmt::format("  {:>6} ", at);
    for (std::uint64_t i = at; i < std::min<std::uint64_t>(at + line, cells.size()); ++i)
      text += " " + pad_right(cells[i].empty() ? "." : cells[i], width);
    text.resize(text.find_last_not_of(' ') + 1);
    out.line(text, kOffsetWidth);
  }
}

std::string list_of(const btf::Dims& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

void print_storage(Output& out, const btf::StridedLayout& storage, btf::DType dtype) {
  out.line(fmt::format("  dims {}: {} in {}", btf::dims_text(storage.dims),
                       counted(btf::storage_bytes(storage, dtype), "byte"), btf::info(dtype).name));
  out.line("  strides          " + list_of(storage.strides) + " elements" +
           (storage.split
                ? fmt::format("; dim {} in blocks of {}", storage.split->dim, storage.split->lanes)
                : ""));
  out.line(fmt::format(
      "  TensorRT strides {}; vectors of {}{}", list_of(btf::tensorrt_strides(storage)),
      storage.components,
      storage.vectorized_dim < 0 ? "" : fmt::format(" along dim {}", storage.vectorized_dim)));
  draw(out, storage);
}

btf::Result<btf::Dims> dims_in(const std::string& text) {
  auto spec = btf::parse_tensor_spec("int8:" + text);
  if (!spec || !spec->storage)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     "'" + text +
                         "' is not a shape: expected numbers with x between them, such "
                         "as 1x3x2x2");
  return spec->storage->dims;
}

btf::Status print_layout(Output& out, const LayoutSpec& row, const std::optional<btf::Dims>& dims) {
  out.line(fmt::format("{}: code {} in BTF, tensors of rank {} and more", name_of(row), row.code(),
                       row.min_rank));
  if (const std::string others = joined(row.aliases); !others.empty())
    out.line("  other names      " + others);
  if (row.lanes > 1) out.line(fmt::format("  lanes            {}", row.lanes));
  if (row.pitch_bytes > 0)
    out.line(fmt::format("  rows             at multiples of {} bytes", row.pitch_bytes));
  if (row.dense() && !row.shuffled()) {
    const std::string sentence =
        btf::format_sentence({.dtype = btf::DType::float16, .layout = row.layout});
    if (!sentence.empty()) out.line("  in words         " + sentence);
    out.line("  TensorRT holds   " + held_types(row) +
             (row.tensorrt[0].count > 0 ? fmt::format(" ({})", row.tensorrt[0].versions) : ""));
  }
  if (!dims) return {};
  const btf::DType dtype =
      row.tensorrt[0].count > 0 && row.tensorrt[0].dtypes[0] == btf::DType::int8
          ? btf::DType::int8
          : btf::DType::float16;
  BTF_ASSIGN(const btf::StridedLayout storage, btf::resolve(row.layout, *dims, dtype));
  print_storage(out, storage, dtype);
  return {};
}

btf::Status print_logged(Output& out, const std::string& text,
                         const std::optional<btf::Dims>& dims) {
  BTF_ASSIGN(const btf::LoggedFormat format, btf::parse_logged_format(text));
  if (dims) {
    BTF_ASSIGN(const btf::LoggedStorage found, btf::resolve(format, *dims));
    out.line(text + ": " + std::string(btf::info(format.dtype).name) + ", " +
             (found.layout ? name_of(btf::spec(*found.layout)) : "strides of no layout"));
    print_storage(out, found.storage, format.dtype);
    return {};
  }
  const std::vector<btf::LoggedShape> shapes = btf::shapes_of(format);
  if (shapes.empty())
    out.line(text + ": " + std::string(btf::info(format.dtype).name) +
             ", not the strides of a layout without padding; with dims after it, it is a spec");
  for (const btf::LoggedShape& shape : shapes) {
    std::string said;
    for (std::uint32_t d = 0; d < shape.dims.size(); ++d) {
      const bool vectors = format.vector_dim == d && format.components > 1;
      const std::string most = std::to_string(shape.dims[d]);
      said += (d == 0 ? "" : ", ") +
              (d == shape.unknown_dim ? std::string("?")
               : vectors ? std::to_string(shape.dims[d] - format.components + 1) + " to " + most
                         : most);
    }
    out.line(fmt::format("{}: {} in {}, dims [{}]; ? is not known", text,
                         btf::info(format.dtype).name, name_of(btf::spec(shape.layout)), said));
  }
  return {};
}

btf::Status print_sentence(Output& out, const std::string& text,
                           const std::optional<btf::Dims>& dims) {
  BTF_ASSIGN(const btf::TensorRtFormat format, btf::parse_format_sentence(text));
  out.line(
      text + ": " + std::string(btf::info(format.dtype).name) + ", " +
      (format.lanes == 0
           ? name_of(btf::spec(format.layout))
           : fmt::format("channels last, their number rounded up to {}{}", format.lanes,
                         format.row_pitch > 1
                             ? fmt::format(", rows at multiples of {} elements", format.row_pitch)
                             : "")));
  if (!dims) return {};
  BTF_ASSIGN(const btf::StridedLayout storage, btf::resolve(format, *dims));
  print_storage(out, storage, format.dtype);
  return {};
}

btf::Status explain(Output& out, const TypesOptions& options) {
  const std::string& what = *options.what;
  std::optional<btf::Dims> dims;
  if (options.shape) {
    BTF_ASSIGN(dims, dims_in(*options.shape));
  }
  if (btf::is_logged_format(what)) return print_logged(out, what, dims);
  if (btf::is_format_sentence(what)) return print_sentence(out, what, dims);
  if (const auto dtype = btf::parse_dtype(what)) {
    print_dtype(out, btf::info(*dtype));
    return {};
  }
  const bool xavier = what.ends_with(":xavier");
  const auto layout = btf::parse_layout(xavier ? what.substr(0, what.size() - 7) : what);
  if (!layout)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     "'" + what +
                         "' is not a dtype, a layout or a format of TensorRT; 'btftool types' "
                         "lists dtypes and layouts");
  return print_layout(
      out,
      btf::spec(xavier && *layout == btf::Layout::dla_hwc4 ? btf::Layout::dla_hwc4_xavier
                                                           : *layout),
      dims);
}

}  // namespace

btf::Result<int> run_types(const Context& context, const TypesOptions& options) {
  if (options.json) {
    Json json{{"schema", "btftool/types/1"}, {"dtypes", Json::array()}, {"layouts", Json::array()}};
    for (const DTypeInfo& row : btf::dtypes()) json["dtypes"].push_back(dtype_json(row));
    for (const LayoutSpec& row : btf::layouts()) json["layouts"].push_back(layout_json(row));
    context.out.line(dump(json));
  } else if (options.what) {
    BTF_TRY(explain(context.out, options));
  } else {
    print_tables(context.out);
  }
  return kSame;
}

}  // namespace btftool
