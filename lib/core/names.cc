#include "core/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "btf/did_you_mean.h"
#include "core/errors.h"

namespace btf {
namespace {

constexpr auto kOwners = std::to_array<std::string_view>(
    {"torch", "np", "numpy", "jnp", "jax.numpy", "tf", "tf.dtypes", "ml_dtypes", "mx",
     "TensorFormat", "DataType", "trt.TensorFormat", "trt.DataType", "tensorrt.TensorFormat",
     "tensorrt.DataType", "nvinfer1::TensorFormat", "nvinfer1::DataType", "nvinfer1.TensorFormat",
     "nvinfer1.DataType"});

// The number of letters missing, added, replaced, or exchanged with the next one: Damerau's
// distance in the form that changes no letter twice (optimal string alignment).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above;
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && same_name(a.substr(i - 2, 1), b.substr(j - 1, 1)) &&
          same_name(a.substr(i - 1, 1), b.substr(j - 2, 1)))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
    two_above = std::exchange(above, row);
  }
  return above.back();
}

// The name without the leading dashes of options, which do not make names similar.
std::string_view letters(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 200;  // the table has the square of it
  if (word.size() > kLongest) return {};
  word = letters(word);
  std::string_view best;
  std::size_t fewest = word.size();
  for (const std::string_view whole : names) {
    const std::string_view name = letters(whole);
    // The difference in length is a lower bound of the slips.
    if (name.size() > word.size() + word.size() / 2 || word.size() > name.size() + name.size() / 2)
      continue;
    const std::size_t count = slips(word, name);
    if (3 * count > std::max(word.size(), name.size()) || count >= fewest) continue;
    fewest = count;
    best = whole;
  }
  return best.empty() ? std::string() : " (did you mean '" + std::string(best) + "'?)";
}

std::string_view without_owner(std::string_view name) {
  for (const std::string_view mark : {"::", "."}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) continue;
    const bool known = std::ranges::any_of(
        kOwners, [&](std::string_view owner) { return same_name(owner, name.substr(0, at)); });
    return known ? name.substr(at + mark.size()) : name;
  }
  return name;
}

namespace {

using enum DType;

constexpr auto kTfrtDTypes = std::to_array<DType>(
    {int8, int16, int32, int64, float32, float64, uint8, uint16, uint32, uint64});
constexpr auto kTfrtLayouts = std::to_array<Layout>({Layout::linear, Layout::coo});

// TFRT: the behaviour of its reader (btf_util) and of its btf_info_tool (docs/format.md).
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
                      "its reader refuses the record, its btf_info skips it silently"},
     .other_coo_code = {"tfrt-coo-code",
                        "its reader refuses the record, its btf_info skips it silently"},
     .misaligned = {"tfrt-offset", "its btf_info refuses the record"}},
});

constexpr auto kNames = [] {
  std::array<Named<Recipient>, kRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kRows[i].recipient, kRows[i].name};
  return names;
}();

std::string coded(std::string_view name, std::uint8_t code) {
  const std::string number = concat("code ", code);
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
    return Objection{row.other_coo_code.code,
                     concat(row.title, " numbers COO ", row.coo_code, ", not ", layout_code, ": ",
                            row.other_coo_code.consequence)};
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
  return Objection{row.misaligned.code,
                   concat(row.title, " needs records at multiples of ", row.alignment, ", not at ",
                          offset, ": ", row.misaligned.consequence)};
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

namespace {

struct Lead {
  unsigned char first;  // of the lead bytes
  unsigned char last;
  unsigned char least;  // of the next byte
  unsigned char most;
  std::size_t bytes;  // of the character
};

// The table of RFC 3629: the byte that may follow each lead byte. All others are 80 to BF.
constexpr Lead kLeads[] = {
    {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

// The length of the first character in bytes; 0 if the text does not begin with one.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Lead& lead : kLeads) {
    if (byte(0) < lead.first || byte(0) > lead.last) continue;
    if (lead.bytes > text.size()) return 0;
    if (lead.bytes > 1 && (byte(1) < lead.least || byte(1) > lead.most)) return 0;
    for (std::size_t i = 2; i < lead.bytes; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    return lead.bytes;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace btf
