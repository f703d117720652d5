#include "formats/format_table.h"

#include <algorithm>
#include <array>

#include "formats/btf_check.h"
#include "formats/btf_reader.h"

namespace btf {
namespace {

constexpr auto kRows = std::to_array<FormatRow>({
    {"btf", recognizes_btf, open_btf, check_btf},
});

}  // namespace

std::span<const FormatRow> formats() { return kRows; }

const FormatRow& recognize_format(const ByteSource& source, std::string_view path) {
  return *std::ranges::find_if(kRows,
                               [&](const FormatRow& row) { return row.recognizes(source, path); });
}

const FormatRow& format_named(std::string_view name) {
  return *std::ranges::find(kRows, name, &FormatRow::name);
}

}  // namespace btf
