#include "core/recipient.h"

#include <algorithm>
#include <array>

namespace btf {
namespace {

using enum DType;

constexpr auto kTfrtDTypes = std::to_array<DType>(
    {int8, int16, int32, int64, float32, float64, uint8, uint16, uint32, uint64});
constexpr auto kTfrtLayouts = std::to_array<Layout>({Layout::linear, Layout::coo});

// TFRT: its sources lib/tensor/btf_util.cc and tools/btf_info_tool, and what they did with files
// that were given to them (docs/format.md).
constexpr auto kRows = std::to_array<RecipientRow>({
    {.recipient = Recipient::tfrt,
     .name = "tfrt",
     .title = "TFRT",
     .dtypes = kTfrtDTypes,
     .layouts = kTfrtLayouts,
     .coo_code = kCooCodeTfrt,
     .alignment = 8,
     .format = "btf",
     .format_title = "BTF",
     .other_format = "tfrt-format",
     .other_dtype = {"tfrt-dtype", "its reader looks the code up without a check and may crash"},
     .other_layout = {"tfrt-layout",
                      "its reader refuses the record, its btf_info passes over it in silence"},
     .other_coo_code = {"tfrt-coo-code",
                        "its reader refuses the record, its btf_info passes over it in silence"},
     .misaligned = {"tfrt-offset", "its btf_info refuses the record"}},
});

constexpr auto kNames = [] {
  std::array<Named<Recipient>, kRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kRows[i].recipient, kRows[i].name};
  return names;
}();

std::string coded(std::string_view name, std::uint8_t code) {
  const std::string number = "code " + std::to_string(code);
  return name.empty() ? number : std::string(name) + " (" + number + ")";
}

}  // namespace

std::span<const Named<Recipient>> recipient_names() { return kNames; }

const RecipientRow& info(Recipient recipient) {
  return *std::ranges::find(kRows, recipient, &RecipientRow::recipient);
}

std::optional<Objection> dtype_objection(const RecipientRow& row, std::uint8_t dtype_code) {
  const DTypeInfo* const dtype = find_dtype(dtype_code);
  if (dtype != nullptr && std::ranges::find(row.dtypes, dtype->dtype) != row.dtypes.end())
    return std::nullopt;
  return Objection{row.other_dtype.code,
                   std::string(row.title) + " has no dtype " +
                       coded(dtype == nullptr ? "" : dtype->name, dtype_code) + ": " +
                       std::string(row.other_dtype.consequence)};
}

std::optional<Objection> layout_objection(const RecipientRow& row, std::uint8_t layout_code) {
  const LayoutSpec* const layout = find_layout(layout_code);
  if (layout != nullptr && layout->layout == Layout::coo) {
    if (layout_code == row.coo_code) return std::nullopt;
    return Objection{row.other_coo_code.code, std::string(row.title) + " numbers COO " +
                                                  std::to_string(row.coo_code) + ", not " +
                                                  std::to_string(layout_code) + ": " +
                                                  std::string(row.other_coo_code.consequence)};
  }
  if (layout != nullptr && std::ranges::find(row.layouts, layout->layout) != row.layouts.end())
    return std::nullopt;
  return Objection{row.other_layout.code,
                   std::string(row.title) + " has no layout " +
                       coded(layout == nullptr ? "" : layout->name, layout_code) + ": " +
                       std::string(row.other_layout.consequence)};
}

std::optional<Objection> offset_objection(const RecipientRow& row, std::uint64_t offset) {
  if (offset % row.alignment == 0) return std::nullopt;
  return Objection{row.misaligned.code, std::string(row.title) + " wants records at multiples of " +
                                            std::to_string(row.alignment) + ", not at " +
                                            std::to_string(offset) + ": " +
                                            std::string(row.misaligned.consequence)};
}

std::optional<Objection> format_objection(const RecipientRow& row, std::string_view format,
                                          std::string_view title, bool compressed) {
  const std::string reads = std::string(row.title) + " reads " + std::string(row.format_title) +
                            " that is not compressed";
  if (format != row.format)
    return Objection{row.other_format, reads + ", not " + std::string(title)};
  if (compressed) return Objection{row.other_format, reads + ", not zstd"};
  return std::nullopt;
}

std::string dtype_list(const RecipientRow& row) {
  std::string text;
  for (const DType dtype : row.dtypes)
    text += (text.empty() ? "" : ", ") + std::string(info(dtype).name);
  return text;
}

}  // namespace btf
