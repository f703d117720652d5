#include "sets/index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "core/names.h"
#include "formats/io/compressed_name.h"
#include "formats/open_source.h"
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

constexpr auto kKinds = std::to_array<IndexKind>({
    {named_as_first_gguf_part, "", read_gguf_parts},
    {named_as_shards, "", read_safetensors_index},
    {named_as_summary, "", read_trtexec_summary},
    {named_as_mlc_cache, "", read_mlc_cache},
    {named_as_manifest, kManifestSchema, read_manifest},
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

const IndexKind* find_index_kind(const std::string& path, FoundBy found_by) {
  const bool json = found_by == FoundBy::operand && ends_in(path, ".json");
  const auto* row = std::ranges::find_if(kKinds, [&](const IndexKind& kind) {
    const bool named = kind.named(path);
    if (kind.schema.empty() || !(named || json)) return named;
    return first_bytes(path).contains(kind.schema);
  });
  return row == kKinds.end() ? nullptr : row;
}

}  // namespace btf
