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
  std::span<const Finding> warnings() const override { return warnings_; }

  void add(IndexEntry entry) { entries_.push_back(std::move(entry)); }
  void add_other(std::string file) { others_.push_back(std::move(file)); }
  void add_odd(Finding finding) { warnings_.push_back(std::move(finding)); }

 private:
  std::vector<IndexEntry> entries_;
  std::vector<std::string> others_;
  std::vector<Finding> warnings_;
};

// Finds the tensor of a TensorRT engine that a file is named after.

// File names may have the tensor's name as it is, with %2f instead of '/', or sanitised as dumping
// programs do, with an underscore for everything that is not a letter or digit.
class EngineNames {
 public:
  // The list must outlive this object.
  explicit EngineNames(const EngineList& list);

  // nullptr if no tensor or several match, or if the file describes itself.
  const EngineTensor* find(std::string_view path) const;
  const EngineTensor* named(std::string_view name) const;

 private:
  const EngineList& list_;
  std::unordered_map<std::string, std::uint32_t> exact_;
  std::unordered_map<std::string, std::uint32_t> sanitised_;  // kSeveral if several share it
};

inline constexpr std::string_view kManifestSchema = "btftool/manifest/1";

Result<std::unique_ptr<SetIndex>> read_manifest(const ByteSource& source, const std::string& path);

// Reads ndarray-cache.json or tensor-cache.json, in which MLC LLM and TVM list the shards of
// parameters with names, types, shapes and offsets.
Result<std::unique_ptr<SetIndex>> read_mlc_cache(const ByteSource& source, const std::string& path);

// Builds the text of a manifest with one entry per line.
class ManifestText {
 public:
  // An error if a text is not UTF-8.
  Status add(const IndexEntry& entry);
  std::string finish() &&;

 private:
  std::string entries_;
};

}  // namespace btf
