#include "sets/index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/io/compressed_name.h"
#include "formats/msprobe/dump.h"
#include "formats/open_source.h"
#include "sets/described_files.h"
#include "sets/gguf_parts.h"
#include "sets/manifest.h"
#include "sets/safetensors_index.h"
#include "sets/trtexec_summary.h"

namespace btf {
namespace {

bool named_as_shards(std::string_view path) {
  return ends_in(path, ".safetensors.index.json") || ends_in(path, ".bin.index.json");
}
bool named_as_summary(std::string_view path) { return ends_in(path, "tensor_summary.json"); }
bool named_as_mlc_cache(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "ndarray-cache.json" || name == "tensor-cache.json" ||
         name == "ndarray-cache-b16.json";
}
bool named_as_manifest(std::string_view path) { return ends_in(path, "manifest.json"); }
bool named_as_msprobe_dump(std::string_view path) {
  const std::string_view name = content_name(path.substr(path.rfind('/') + 1));
  return name == kIndexBesideFolder || name == "debug.json";
}

bool begins_as_manifest(std::string_view start) { return start.contains(kManifestSchema); }

constexpr std::string_view kUsualFolder = "dump_tensor_data";

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Of what a tensor holds something is known: msprobe names a file also where it could write none.
bool has_numbers(const ProbeTensor& tensor) {
  return tensor.max || tensor.min || tensor.mean || tensor.norm || !tensor.checksum.empty();
}

// The files with elements that a dump.json names, as they lie beside it.
Result<std::unique_ptr<SetIndex>> read_msprobe_index(const ByteSource& source,
                                                     const std::string& path) {
  const auto construct = open_source(path.substr(0, path.rfind('/') + 1) + "construct.json", {});
  BTF_ASSIGN(const ProbeDump dump, read_msprobe_dump(source, construct ? construct->get() : nullptr));
  auto files = std::make_unique<DescribedFiles>();
  if (dump.cut_off) {
    constexpr FindingCode kCode("msprobe-dump-cut-off");
    files->add_odd({.severity = kCode.severity(),
                    .code = kCode,
                    .tensor = {},
                    .offset = source.size(),
                    .message = cut_off_text(path, dump)});
  }
  const std::string beside = path.substr(0, path.rfind('/') + 1);
  std::string folder = dump.folder.empty() ? std::string(kUsualFolder) : dump.folder;
  folder = is_folder(beside + folder) ? folder + "/" : "";
  for (const std::string_view other : {"stack.json", "construct.json"})
    files->add_other(std::string(other));
  std::uint64_t order = 0;
  for (const ProbeTensor& tensor : dump.tensors) {
    const std::uint64_t number = order++;
    if (tensor.file.empty()) continue;
    struct stat status {};
    if (!has_numbers(tensor) && ::stat((beside + folder + tensor.file).c_str(), &status) != 0)
      continue;
    files->add({.file = folder + tensor.file,
                .tensor = FileEntry{.order = number,
                                    .role = std::string(role_of(tensor))},
                .folder = folder});
  }
  return files;
}

constexpr auto kKinds = std::to_array<IndexKind>({
    {named_as_first_gguf_part, nullptr, read_gguf_parts},
    {named_as_shards, nullptr, read_safetensors_index},
    {named_as_summary, nullptr, read_trtexec_summary},
    {named_as_mlc_cache, nullptr, read_mlc_cache},
    {named_as_manifest, begins_as_manifest, read_manifest},
    {named_as_msprobe_dump, begins_as_msprobe_dump, read_msprobe_index, true},
});

// For a regular file: those of a pipe could not be read again.
std::string first_bytes(const std::string& path) {
  constexpr std::uint64_t kStart = 4096;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto source = open_packed_source(path);
  if (!source) return {};
  std::string start(std::min(kStart, (*source)->size()), '\0');
  return (*source)->read_at(0, std::as_writable_bytes(std::span(start))) ? start : std::string();
}

}  // namespace

std::string IndexEntry::place() const {
  if (!tensor) return file;
  if (tensor->tensor_name) return file + "#" + *tensor->tensor_name;
  if (tensor->tensor_number) return file + "#" + std::to_string(*tensor->tensor_number);
  if (tensor->offset) return file + "#" + tensor->name.value_or(std::to_string(*tensor->offset));
  return file;
}

bool is_msprobe_dump(const std::string& path) {
  const IndexKind* const kind = find_index_kind(path, FoundBy::operand);
  return kind != nullptr && kind->read == read_msprobe_index;
}

const IndexKind* find_index_kind(const std::string& path, FoundBy found_by) {
  const bool json = found_by == FoundBy::operand && ends_in(path, ".json");
  const auto* row = std::ranges::find_if(kKinds, [&](const IndexKind& kind) {
    const bool named = kind.named(path);
    if (kind.begins == nullptr || !(named || json)) return named;
    return kind.begins(first_bytes(path));
  });
  return row == kKinds.end() ? nullptr : row;
}

}  // namespace btf
