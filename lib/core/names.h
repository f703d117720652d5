// Names of dtypes, layouts and the like, matched without regard to case; the programs that a file
// may be made for; UTF-8.
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

// Names are matched without regard to case.

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  return true;
}

// How others write one of our names as code of their own: "float16" of "torch.float16" or
// "np.float16", "kHWC8" of "nvinfer1::TensorFormat::kHWC8". Any other word as it is.
std::string_view without_owner(std::string_view name);

// "a, b, c" of the names of the rows of a table.
template <typename Rows>
std::string name_list(Rows&& rows) {
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

// Limits of the programs that files are made for. Adding a program is adding a row to the table in
// names.cc.

// The finding and the reason for something that a program does not take.
struct Refusal {
  FindingCode code;
  std::string_view consequence;  // what the program does then
};

struct RecipientRow {
  Recipient recipient{};
  std::string_view name;   // of the option
  std::string_view title;  // as people write it
  std::span<const DType> dtypes;
  std::span<const Layout> layouts;
  std::uint8_t coo_code = 0;
  std::uint64_t alignment = 1;  // of record offsets

  std::string_view format;  // which it reads, uncompressed
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

// By the codes in a record, known or not.
std::optional<Objection> dtype_objection(const RecipientRow& row, std::uint8_t dtype_code);
std::optional<Objection> layout_objection(const RecipientRow& row, std::uint8_t layout_code);
std::optional<Objection> offset_objection(const RecipientRow& row, std::uint64_t offset);

// The objection to a whole file, by the name and the title of its format.
std::optional<Objection> format_objection(const RecipientRow& row, std::string_view format,
                                          std::string_view title, bool compressed);

// "int8, int16, ..."
std::string dtype_list(const RecipientRow& row);

// As RFC 3629 has it: no overlong form, no half of a surrogate pair, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// Written by programs of Windows in front of text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace btf
