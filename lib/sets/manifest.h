// Manifests: the files of tensors, and specs of files that do not describe themselves:
//   {"schema":"btftool/manifest/1","tensors":[{"file":"x.raw","spec":"fp16:hwc8:1x3x8x8",..},..]}
// docs/formats.md has all members.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/tensorrt.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

class DescribedFiles final : public SetIndex {
 public:
  std::span<const IndexEntry> entries() const override { return entries_; }
  std::span<const std::string> others() const override { return others_; }
  std::span<const Finding> odd() const override { return odd_; }

  void add(IndexEntry entry) { entries_.push_back(std::move(entry)); }
  void add_other(std::string file) { others_.push_back(std::move(file)); }
  void add_odd(Finding finding) { odd_.push_back(std::move(finding)); }

 private:
  std::vector<IndexEntry> entries_;
  std::vector<std::string> others_;
  std::vector<Finding> odd_;
};

// Which tensor of a TensorRT engine a file is called as.

// By the tensor's name as it is, with %2f in place of '/', and as programs that dump sanitise it:
// all that is no letter and no digit is an underscore.
class EngineNames {
 public:
  // The list outlives it.
  explicit EngineNames(const EngineList& list);

  // nullptr: of no tensor, of several, or a file that says itself what it holds.
  const EngineTensor* find(std::string_view path) const;
  const EngineTensor* named(std::string_view name) const;

 private:
  const EngineList& list_;
  std::unordered_map<std::string, std::uint32_t> exact_;
  std::unordered_map<std::string, std::uint32_t> sanitised_;  // kSeveral: of more than one
};

// Manifests: the files of tensors, and specs of files that do not describe themselves:
//   {"schema":"btftool/manifest/1","tensors":[{"file":"x.raw","spec":"fp16:hwc8:1x3x8x8",..},..]}
// docs/formats.md has all members.

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
