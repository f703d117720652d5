#include "formats/find_format.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "btf/output.h"
#include "btf/words/did_you_mean.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/btf/reader.h"
#include "formats/io/compressed_name.h"
#include "formats/other_kinds.h"
#include "formats/table/endings.h"
#include "formats/table/format_table.h"

namespace btf {
namespace {

// "PyTorch files are", "a file of vectors is": what goes in front of "not written".
std::string files_called(std::string_view title) {
  for (const std::string_view word : {" file", " model", " engine", " checkpoint"})
    if (title.ends_with(word))
      return std::string(title.substr(title.find(' ') + 1)) + "s are";
  return std::string(title) + " is";
}

std::string written_names() {
  return name_list(formats() | std::views::filter(&FormatRow::writer));
}

// A name is read by other tools, or by people, who would not get what it says.
Status check_name(const WriteRequest& request, const std::optional<FileEnding>& ending,
                  const FormatRow& row) {
  const auto refuse = [&](std::string_view named, const std::string& written) -> Status {
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              "the extension says " + std::string(named) + ", the format is " + written}
            .in_file(request.path));
  };
  const std::string title(row.title);
  if (ending && ending->format.empty())
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              files_called(ending->title) + " not written; these are: " + written_names()}
            .in_file(request.path));
  const bool named_so = ends_as_compressed(request.path);
  if (ending && ending->format != row.name)
    return refuse(ending->title, request.compressed ? "compressed " + title : title);
  if (named_so && !request.compressed) return refuse("a compressed file", "uncompressed " + title);
  // BTF is recognized by its first bytes, compressed or not.
  if (request.compressed && !named_so && ending && &row != &default_format())
    return refuse(ending->title, "compressed " + title);
  return {};
}

// An empty file, or a stand-in for one.
Status refuse_stand_ins(const ByteSource& source) {
  if (source.size() == 0 && !source.more_follows())
    return malformed("file-too-short", 0, "is empty: 0 bytes");
  BTF_ASSIGN(const auto kind, find_stand_in(source));
  return kind ? fail(ErrorCode::unsupported, kind->text) : Status();
}

FindingCode finding_of_unknown(std::string_view path, bool table_fits) {
  if (const auto ending = find_ending(content_name(path)); ending && !ending->format.empty())
    if (const FormatRow& row = format_named(ending->format); row.misnamed) return *row.misnamed;
  return table_fits ? FindingCode("not-btf") : FindingCode("offset-table-too-long");
}

// A file that no other row recognizes is BTF if its bytes or its name say so; a stream has no name.
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
  // The reader compares the spec with the content.
  const bool no_count = source.size() < sizeof(std::uint64_t);
  if (called || no_count || request.options.spec || (unnamed && look == BtfLook::no_record))
    return {};
  return malformed(finding_of_unknown(request.path, table_fits), 0,
                   unknown_kind(source, request.path));
}

}  // namespace

std::optional<std::uint64_t> expected_bytes(const OpenRequest& request) {
  for (const FormatRow& row : formats())
    if (row.expected_bytes != nullptr)
      if (const auto bytes = row.expected_bytes(request)) return bytes;
  return std::nullopt;
}

Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request) {
  // As many bytes as were said are these, whatever they look like.
  const std::optional<std::uint64_t> expected = expected_bytes(request);
  if (!source.more_follows() && expected == source.size()) return &format_with(kUndescribed);
  if (!expected || source.size() > 0) BTF_TRY(refuse_stand_ins(source));
  for (const FormatRow& row : formats()) {
    if (&row == &default_format()) BTF_TRY(check_btf_at_all(source, request));
    BTF_ASSIGN(const bool recognized, row.recognizes(source, request));
    if (recognized) return &row;
  }
  return &default_format();
}

std::vector<std::string_view> output_formats() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : formats())
    if (row.writer != nullptr) names.emplace_back(row.name);
  return names;
}

// The names of formats that may be meant by `word`.
std::string formats_meant(std::string_view word) {
  return did_you_mean(word, output_formats()) + "; there are " +
         name_list(formats() | std::views::filter(&FormatRow::writer));
}

Result<const FormatRow*> format_to_write(const WriteRequest& request) {
  const auto ending = find_ending(content_name(request.path));
  const bool ours = ending && !ending->format.empty();
  const std::string_view name = !request.format.empty()   ? request.format
                                : request.spec != nullptr ? format_with(kUndescribed).name
                                : ours                    ? ending->format
                                                          : default_format().name;
  const auto row = std::ranges::find_if(
      formats(), [&](const FormatRow& candidate) { return same_name(candidate.name, name); });
  if (row == formats().end())
    return fail(ErrorCode::invalid_argument, "unknown format '" + std::string(request.format) +
                                                 "'" + formats_meant(request.format));
  if (request.spec != nullptr && !row->has(kUndescribed))
    return fail(ErrorCode::invalid_argument,
                "the spec of an output is for raw bytes, not for " + std::string(row->title));
  if (row->writer == nullptr)
    return fail(ErrorCode::unsupported,
                std::string(row->title) + " is read and not written; these are: " + written_names());
  if (request.format.empty()) BTF_TRY(check_name(request, ending, *row));
  return &*row;
}

}  // namespace btf
