// Manifests: the files of tensors, and specs of files that do not describe themselves:
//   {"schema":"btftool/manifest/1","tensors":[{"file":"x.raw","spec":"fp16:hwc8:1x3x8x8",..},..]}
// docs/formats.md has all members.
#pragma once

#include <memory>
#include <string>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

inline constexpr std::string_view kManifestSchema = "btftool/manifest/1";

Result<std::unique_ptr<SetIndex>> read_manifest(const ByteSource& source, const std::string& path);

// ndarray-cache.json, tensor-cache.json: the list of the shards that MLC LLM and TVM write
// parameters into, with names, types, shapes and offsets.
Result<std::unique_ptr<SetIndex>> read_mlc_cache(const ByteSource& source, const std::string& path);

// A manifest that is written, an entry a line.
class ManifestText {
 public:
  // An error: a text is not UTF-8.
  Status add(const IndexEntry& entry);
  std::string finish() &&;

 private:
  std::string entries_;
};

}  // namespace btf
