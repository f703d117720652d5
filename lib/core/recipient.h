// Limits of the programs that files are made for. Adding a program is adding a row to the table in
// recipient.cc.
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

}  // namespace btf
