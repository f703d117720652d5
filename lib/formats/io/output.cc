#include "btf/output.h"

#include <unistd.h>

#include <filesystem>
#include <span>

#include "btf/try.h"
#include "formats/io/compressed_name.h"
#include "formats/io/output_place.h"
#include "formats/io/text_sink.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> about(const std::string& path, const Error& error) {
  return std::unexpected(error.in_file(output_name(path)));
}

}  // namespace

Result<std::string> output_path(const std::string& output, const std::string& input) {
  std::error_code unknown;
  // A slash at the end says that it is one, or is to become one.
  if (output == "-" || (!output.ends_with('/') && !fs::is_directory(output, unknown)))
    return output;
  if (input == "-")
    return about(output, {ErrorCode::invalid_argument,
                          "is a directory, and standard input gives no file name"});
  const fs::path path = fs::path(output) / fs::path(input).filename();
  if (fs::equivalent(path, input, unknown))
    return about(path.string(),
                 {ErrorCode::invalid_argument,
                  "is the input itself, which only an output of the same name replaces"});
  return path.string();
}

bool compressed_by_name(std::string_view output) { return ends_as_compressed(output); }

Status check_output(const std::string& path) {
  const auto place = find_output(path);
  if (!place) return about(path, place.error());
  return {};
}

std::optional<std::string> overwritten(const std::string& output,
                                       std::span<const std::string> inputs) {
  const auto written = output_identity(output);
  if (!written) return std::nullopt;
  for (const std::string& input : inputs)
    if (input_identity(input) == written) return input;
  return std::nullopt;
}

bool is_file_already(const std::string& output) { return output_identity(output).has_value(); }

bool same_output(const std::string& one, const std::string& other) {
  return same_place(one, other);
}

bool written_in_place(const std::string& path) { return in_place(path); }

bool is_standard_output(const std::string& path) {
  return output_descriptor(path) == STDOUT_FILENO;
}

Status write_text(const std::string& path, std::string_view text) {
  BTF_ASSIGN(const auto sink, create_text_sink(path, text.size()));
  BTF_TRY(sink->write_at(0, std::as_bytes(std::span(text))));
  return sink->commit();
}

}  // namespace btf
