#include "formats/format_table.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/btf/check.h"
#include "formats/btf/reader.h"
#include "formats/btf/writer.h"
#include "formats/gguf/gguf.h"
#include "formats/io/file_endings.h"
#include "formats/npy/npy.h"
#include "formats/npz/npz.h"
#include "formats/onnx/onnx.h"
#include "formats/other_kinds.h"
#include "formats/polygraphy/polygraphy.h"
#include "formats/raw/raw.h"
#include "formats/safetensors/safetensors.h"
#include "formats/text/text.h"
#include "formats/torch/torch.h"
#include "formats/trtexec/trtexec.h"
#include "formats/tvm/tvm.h"

namespace btf {
namespace {

// Of a form that is written only, and read by another row.
Result<bool> recognizes_none(const ByteSource&, const OpenRequest&) { return false; }

std::unique_ptr<TensorWriter> write_btf(const WriteRequest&) { return btf_writer(); }

constexpr unsigned kNumpyNamed = kRowMajorOnly | kNamed | kNumpyArrays | kInOrder;

// clang-format off
constexpr auto kRows = std::to_array<FormatRow>({
    {"npy",               "NumPy .npy",                nullptr,   recognizes_npy,         open_npy,         check_npy,         npy_writer,                kSingle | kRowMajorOnly | kNumpyArrays},
    {"torch",             "PyTorch",                   nullptr,   recognizes_torch,       open_torch,       check_torch,       nullptr,                   kInOrder},
    {"npz",               "NumPy .npz",                nullptr,   recognizes_npz,         open_npz,         check_npz,         npz_writer,                kNumpyNamed},
    {"safetensors",       "safetensors",               nullptr,   recognizes_safetensors, open_safetensors, check_safetensors, safetensors_writer,        kRowMajorOnly | kNamed},
    {"tvm",               "TVM .params",               nullptr,   recognizes_tvm,         open_tvm,         check_tvm,         tvm_writer,                kRowMajorOnly | kNamed},
    {"gguf",              "GGUF",                      nullptr,   recognizes_gguf,        open_gguf,        check_gguf,        nullptr},
    {"onnx",              "ONNX",                      nullptr,   recognizes_onnx,        open_onnx,        check_onnx,        onnx_writer,               kSingle | kRowMajorOnly | kNamed},
    {"polygraphy",        "Polygraphy JSON",           nullptr,   recognizes_polygraphy,  open_polygraphy,  check_polygraphy,  polygraphy_outputs_writer, kNumpyNamed},
    {"polygraphy-inputs", "Polygraphy JSON of inputs", nullptr,   recognizes_none,        open_polygraphy,  check_polygraphy,  polygraphy_inputs_writer,  kNumpyNamed},
    {"trtexec",           "trtexec JSON",              nullptr,   recognizes_trtexec,     open_trtexec,     check_trtexec,     nullptr,                   kInOrder},
    {"text",              "numbers in text",           nullptr,   recognizes_text,        open_text,        check_text,        nullptr,                   kSingle},
    {"raw",               "raw bytes",                 raw_bytes, recognizes_raw,         open_raw,         check_raw,         raw_writer,                kSingle},
    {"btf",               "BTF",                       nullptr,   recognizes_btf,         open_btf,         check_btf,         write_btf,                 kShuffled | kNamed | kInOrder},
});
// clang-format on

// A name is read by other tools, or by people, who would not get what it says.
Status check_name(const WriteRequest& request, const FileEnding* ending, const FormatRow& row) {
  const auto refuse = [&](std::string_view named, const std::string& written) -> Status {
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              "is the name of " + std::string(named) + ", and " + written + " would be written"}
            .in_file(request.path));
  };
  const std::string title(row.title);
  const bool named_so = ends_as_compressed(request.path);
  if (ending != nullptr && ending->format != row.name)
    return refuse(ending->title, request.compressed ? "compressed " + title : title);
  if (named_so && !request.compressed) return refuse("a compressed file", title + " as it is");
  // Whoever reads BTF here knows it by its first bytes.
  if (request.compressed && !named_so && ending != nullptr && row.name != "btf")
    return refuse(ending->title, "compressed " + title);
  return {};
}

// An empty file, and what stands in the place of one.
Status refuse_stand_ins(const ByteSource& source) {
  if (source.size() == 0 && !source.goes_on())
    return malformed("file-too-short", 0, "is empty: 0 bytes");
  BTF_ASSIGN(const auto kind, find_stand_in(source));
  return kind ? fail(ErrorCode::unsupported, kind->text) : Status();
}

FindingCode finding_of_unknown(std::string_view path, bool table_fits) {
  const FileEnding* const ending = find_ending(content_name(path));
  if (ending != nullptr && ending->format == "safetensors") return "safetensors-header";
  return table_fits ? FindingCode("not-btf") : FindingCode("offset-table-too-long");
}

// What no other row recognizes is BTF if it looks so, or says so by its name; a stream has none.
Status check_btf_at_all(const ByteSource& source, const OpenRequest& request) {
  const std::string_view name = content_name(request.path);
  const bool called = name.ends_with(".btf");
  const bool unnamed = name == "-" || name.starts_with("/dev/");
  BTF_ASSIGN(const bool table_fits, offset_table_fits(source));
  if (called && table_fits) return {};
  BTF_ASSIGN(const BtfLook look, look_of_btf(source));
  if (look == BtfLook::sound) return {};
  BTF_ASSIGN(const auto kind, find_other_kind(source, request.path));
  if (kind) return fail(ErrorCode::unsupported, kind->text);
  // What is said of it by a spec, the reader compares with what it is.
  const bool no_count = source.size() < sizeof(std::uint64_t);
  if (called || no_count || request.options.spec || (unnamed && look == BtfLook::no_record))
    return {};
  return malformed(finding_of_unknown(request.path, table_fits), 0,
                   unknown_kind(source, request.path));
}

}  // namespace

std::span<const FormatRow> formats() { return kRows; }

std::optional<std::uint64_t> expected_bytes(const OpenRequest& request) {
  for (const FormatRow& row : kRows)
    if (row.expected_bytes != nullptr)
      if (const auto bytes = row.expected_bytes(request)) return bytes;
  return std::nullopt;
}

Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request) {
  // As many bytes as were said are these, whatever they look like.
  const std::optional<std::uint64_t> expected = expected_bytes(request);
  if (!source.goes_on() && expected == source.size()) return &format_named("raw");
  if (!expected || source.size() > 0) BTF_TRY(refuse_stand_ins(source));
  for (const FormatRow& row : kRows) {
    if (row.name == "btf") BTF_TRY(check_btf_at_all(source, request));
    BTF_ASSIGN(const bool recognized, row.recognizes(source, request));
    if (recognized) return &row;
  }
  return &format_named("btf");
}

Result<const FormatRow*> format_to_write(const WriteRequest& request) {
  const FileEnding* ending = find_ending(content_name(request.path));
  const bool ours = ending != nullptr && !ending->format.empty();
  const std::string_view name = !request.format.empty()   ? request.format
                                : request.spec != nullptr ? "raw"
                                : ours                    ? ending->format
                                                          : "btf";
  const auto* row = std::ranges::find_if(
      kRows, [&](const FormatRow& candidate) { return same_name(candidate.name, name); });
  if (row == kRows.end())
    return fail(ErrorCode::invalid_argument,
                "unknown format '" + std::string(request.format) + "'; there are " +
                    name_list(kRows | std::views::filter(&FormatRow::writer)));
  if (request.spec != nullptr && row->name != "raw")
    return fail(ErrorCode::invalid_argument,
                "the spec of an output is for raw bytes, not for " + std::string(row->title));
  if (row->writer == nullptr)
    return fail(ErrorCode::unsupported, std::string(row->title) + " is read and not written");
  if (request.format.empty()) BTF_TRY(check_name(request, ending, *row));
  return row;
}

const FormatRow& format_named(std::string_view name) {
  return *std::ranges::find(kRows, name, &FormatRow::name);
}

}  // namespace btf
