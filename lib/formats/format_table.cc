#include "formats/format_table.h"

#include <algorithm>
#include <array>

#include "core/names.h"
#include "core/try.h"
#include "formats/btf_check.h"
#include "formats/btf_reader.h"
#include "formats/btf_writer.h"
#include "formats/npy.h"
#include "formats/raw.h"

namespace btf {
namespace {

std::unique_ptr<TensorWriter> write_btf(const WriteRequest&) { return btf_writer(); }

constexpr auto kRows = std::to_array<FormatRow>({
    {"npy", "NumPy .npy", ".npy", recognizes_npy, open_npy, check_npy, npy_writer, true},
    {"raw", "raw bytes", ".raw", recognizes_raw, open_raw, check_raw, raw_writer},
    {"btf", "BTF", "", recognizes_btf, open_btf, check_btf, write_btf, false, true},
});

bool ends_in(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() &&
         same_name(suffix, path.substr(path.size() - suffix.size()));
}

}  // namespace

std::span<const FormatRow> formats() { return kRows; }

Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request) {
  for (const FormatRow& row : kRows) {
    BTF_ASSIGN(const bool recognized, row.recognizes(source, request));
    if (recognized) return &row;
  }
  return &format_named("btf");
}

Result<const FormatRow*> format_to_write(const WriteRequest& request) {
  const auto* row = std::ranges::find_if(kRows, [&](const FormatRow& candidate) {
    if (!request.format.empty()) return same_name(candidate.name, request.format);
    if (request.spec != nullptr) return candidate.name == "raw";
    return ends_in(request.path, candidate.suffix);
  });
  if (row == kRows.end())
    return fail(ErrorCode::invalid_argument, "unknown format '" + std::string(request.format) +
                                                 "'; there are " + name_list(kRows));
  if (request.spec != nullptr && row->name != "raw")
    return fail(ErrorCode::invalid_argument,
                "the spec of an output is for raw bytes, not for " + std::string(row->title));
  return row;
}

const FormatRow& format_named(std::string_view name) {
  return *std::ranges::find(kRows, name, &FormatRow::name);
}

}  // namespace btf
