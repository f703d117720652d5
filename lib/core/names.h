// Names, which are matched without regard to case; the programs that files may be made for; UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "btf/file.h"
#include "btf/layout.h"
#include "core/finding_table.h"

namespace btf {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  return true;
}

// Removes the qualification that other programs put before a name: "float16" from "torch.float16"
// or "np.float16", "kHWC8" from "nvinfer1::TensorFormat::kHWC8". Any other word stays as it is.
std::string_view without_owner(std::string_view name);

// The names of the rows of a table: "a, b, c".
template <typename Rows>
std::string name_list(Rows&& rows) {
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

// Something that a program does not accept: the finding, and the reason.
struct Refusal {
  FindingCode code;
  std::string_view consequence;  // what the program does then
};

// The limits of a program that files may be made for. To add one, add a row to the table in
// names.cc.
struct RecipientRow {
  Recipient recipient{};
  std::string_view name;   // of the option
  std::string_view title;  // as it is usually written
  std::span<const DType> dtypes;
  std::span<const Layout> layouts;
  std::uint8_t coo_code = 0;
  std::uint64_t alignment = 1;  // of record offsets

  std::string_view format;  // that it reads, if it is not compressed
  std::string_view format_title;
  FindingCode other_format;
  Refusal other_dtype;
  Refusal other_layout;
  Refusal other_coo_code;
  Refusal misaligned;
};

const RecipientRow& info(Recipient recipient);

struct Objection {
  FindingCode code;
  std::string message;
};

// Objections to the codes of a record, known or not, and to its offset; unset if there are none.
std::optional<Objection> dtype_objection(const RecipientRow& row, std::uint8_t dtype_code);
std::optional<Objection> layout_objection(const RecipientRow& row, std::uint8_t layout_code);
std::optional<Objection> offset_objection(const RecipientRow& row, std::uint64_t offset);

// The objection to a whole file, by the name and title of its format.
std::optional<Objection> format_objection(const RecipientRow& row, std::string_view format,
                                          std::string_view title, bool compressed);

// "int8, int16, ..."
std::string dtype_list(const RecipientRow& row);

// By RFC 3629: no overlong form, no half of a surrogate pair, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// Some programs on Windows write it before text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace btf
