// A file that says which others belong together and what they hold. One kind of it is a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/tensorrt/engine_list.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"

namespace btf {

// A tensor of an engine's layer list, which says what raw bytes hold.
struct EngineEntry {
  EngineTensor tensor;
  std::string path;            // of the list
  std::optional<Dims> dims{};  // where the list has them as dynamic
};

struct IndexEntry {
  std::string file{};               // its path, from the folder of the index
  std::string spec{};               // of raw bytes, as it is written; empty: none
  std::optional<EngineEntry> engine{};  // that `spec` names
  std::optional<FileEntry> tensor{};  // nothing: all that the file holds, as it says
  std::string folder{};  // the begin of `file` that is no part of its tensors' names

  // Its place: entries of one file have different ones.
  std::string place() const;
};

class SetIndex {
 public:
  virtual ~SetIndex() = default;
  virtual std::span<const IndexEntry> entries() const = 0;
  // Does an entry's file hold what the index says? What it holds besides is a warning.
  virtual Status check(std::size_t, const TensorFile&, const FindingSink&) const { return {}; }
  // Further files that it names, which hold the same again in another form.
  virtual std::span<const std::string> others() const { return {}; }
  // The file that it gives this tensor to; nothing: it names no tensors, or not this one.
  virtual std::optional<std::string> file_of(std::string_view) const { return std::nullopt; }
  // Oddities of an index that can be used.
  virtual std::span<const Finding> odd() const { return {}; }
};

struct IndexKind {
  bool (*named)(std::string_view path);
  // Do its first bytes say so? nullptr: it is known by its name.
  bool (*begins)(std::string_view start);
  // `path` is for messages.
  Result<std::unique_ptr<SetIndex>> (*read)(const ByteSource& source, const std::string& path);
  bool beside_folder = false;  // it may lie beside the folder of the files that it names
};

// Whoever names a file may have called it anything that ends in .json; of what lies in a directory
// an index is called as one.
enum class FoundBy : std::uint8_t { operand, directory };

// The name of the index beside a folder that may name the files in it.
inline constexpr std::string_view kIndexBesideFolder = "dump.json";

// Is it a dump.json of msprobe?
bool is_msprobe_dump(const std::string& path);

// nullptr: it is none, or cannot be read.
const IndexKind* find_index_kind(const std::string& path, FoundBy found_by);

}  // namespace btf
