// Index files: files that list other files and describe their contents. Each kind is a row of a
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/tensorrt.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "sets/directory.h"

namespace btf {

// A tensor of an engine's layer list, which describes raw bytes.
struct EngineEntry {
  EngineTensor tensor;
  std::string path;            // path of the list
  std::optional<Dims> dims{};  // set if the list has dynamic dims
};

struct IndexEntry {
  std::string file{};                   // its path relative to the index's folder
  std::string spec{};                   // spec of raw bytes as written; empty if there is none
  std::optional<EngineEntry> engine{};  // the engine tensor that `spec` refers to
  std::optional<FileEntry> tensor{};    // unset if the entry is for everything in the file
  std::string folder{};  // the part of `file` that does not belong to its tensors' names

  // Unique among the entries of an index, even for entries of one file.
  std::string place() const;
};

class SetIndex {
 public:
  virtual ~SetIndex() = default;
  virtual std::span<const IndexEntry> entries() const = 0;
  // Checks that the file of an entry has the contents that the index lists. Additional contents are
  // reported as warnings.
  virtual Status check(std::size_t, const TensorFile&, const FindingSink&) const { return {}; }
  // Further files that the index names, which hold the same data in another form.
  virtual std::span<const std::string> others() const { return {}; }
  // The file of this tensor; unset if the index does not list it or lists no tensors.
  virtual std::optional<std::string> file_of(std::string_view) const { return std::nullopt; }
  // Warnings about an index that can be used.
  virtual std::span<const Finding> warnings() const { return {}; }
};

struct IndexKind {
  bool (*named)(std::string_view path);
  // Recognises a kind by its first bytes; nullptr if it is recognised by its name only.
  bool (*begins)(std::string_view start);
  // `path` is only for messages.
  Result<std::unique_ptr<SetIndex>> (*read)(const ByteSource& source, const std::string& path);
  bool beside_folder = false;  // it may be next to the folder of the files that it names
  // A file next to it that is read with it, if it is there.
  std::string_view read_with_it{};
};

// A file given by the user may have any name that ends in .json; in a directory, an index must have
// a usual name.
enum class FoundBy : std::uint8_t { operand, directory };

// The name of an index that may be next to the folder of its files.
inline constexpr std::string_view kIndexBesideFolder = "dump.json";

// Returns true for a dump.json of msprobe.
Result<bool> is_msprobe_dump(const std::string& path);

// The path of a file in the folder of an index.
std::string next_to_index(const std::string& path, std::string_view name);

// The list of each call's caller, which may be next to a dump.json of msprobe.
inline constexpr std::string_view kMsprobeConstruct = "construct.json";

// nullptr if it is not an index or cannot be read.
Result<const IndexKind*> find_index_kind(const std::string& path, FoundBy found_by);

// Reads the index of a model in several safetensors files:
//   {"metadata":{..},"weight_map":{"NAME":"model-00001-of-00002.safetensors", ..}}
// An index with more bytes than a header may have is refused. Files are named without a folder;
// they are next to the index.

Result<std::unique_ptr<SetIndex>> read_safetensors_index(const ByteSource& source,
                                                         const std::string& path);

// The indexes next to shards, read when they are first needed.
class ShardIndexes {
 public:
  // Only files of these formats come in shards.
  static bool may_be_shard(std::string_view path) {
    return path.ends_with(".safetensors") || path.ends_with(".bin");
  }
  // The safetensors name of the index of these shards, "model.safetensors.index.json". It follows
  // from the index that names this shard, or from the shard's own name
  // ("model-00001-of-00002.safetensors"). Unset if the file is not a shard.
  std::optional<std::string> name_for(const std::string& shard);
  // Returns true if the index that names the shard assigns the tensor to another one.
  bool elsewhere(const std::string& shard, std::string_view tensor);
  // The first error of the system: an index was not seen for it, and the answers above do not hold.
  const Status& status() const { return status_; }

 private:
  struct Index {
    std::string name;  // see name_for()
    std::unique_ptr<SetIndex> content;
  };

  const std::vector<Index>& in(const std::string& folder);
  void note(const Error& error);
  const Index* naming(const std::string& shard);

  std::map<std::string, std::vector<Index>> by_folder_;
  Status status_{};
};

// A shard, and the one from which it was converted.
struct WrittenShard {
  std::string path;
  std::string source;
};

// The text of an index of these files, which are in one folder. A tensor that several hold is
// assigned as in the index of their sources. `sources` must have been read before, since the files
// may have been replaced.
Result<std::string> safetensors_index_text(std::span<const WrittenShard> shards,
                                           ShardIndexes& sources);

// tensor_summary.json, which trtexec --saveAllDebugTensors writes next to the tensor files: names,
// types and shapes, in the order of execution.

// A summary that is cut off, since the program did not finish, is read up to its end.
Result<std::unique_ptr<SetIndex>> read_trtexec_summary(const ByteSource& source,
                                                       const std::string& path);

struct OpenIndex {
  std::string path;
  std::string folder;  // folder of its files, ending in '/'
  std::unique_ptr<const SetIndex> content;
  // Several indexes below a directory follow one another in the order of execution.
  std::uint64_t first_order = 0;
  // If it is the only index, its folder does not become part of the tensors' names.
  bool only = false;
};

// An entry of an index.
struct IndexedFile {
  std::shared_ptr<const OpenIndex> index;
  std::size_t number = 0;  // number of the entry

  const IndexEntry& entry() const { return index->content->entries()[number]; }
  // The path to open.
  std::string path() const;
  // The contents of the raw bytes according to the entry.
  Result<TensorSpec> spec() const;
  // The options for opening the file: those of all files, completed by the entry.
  Result<OpenOptions> options(const OpenOptions& of_all) const;
  // Checks the file against the index. Warnings about the index itself are reported with its first
  // file.
  Status check(const TensorFile& file, const FindingSink& report) const;
};

struct IndexedListing {
  std::string folder;  // folder of the places; empty for the working directory
  DirectoryListing listing;
  std::map<std::uint64_t, IndexedFile> indexed;  // by index of the place
  std::vector<std::string> others{};   // places of files next to the tensors, which are not members
  std::vector<std::string> indexes{};  // paths of the indexes that were read
};

// The files that an index names, in its order.
Result<IndexedListing> list_index(const std::string& path, const IndexKind& kind);

// Returns true for files that are not tensors themselves but accompany them. `path` is for opening
// it.
using BesideTensors =
    std::function<Result<bool>(const std::string& path, const std::string& place)>;

// Indexes below a directory are not members, unless they cannot be read, nor are files that
// accompany tensors. Files that indexes name are members even if they do not exist.
IndexedListing take_indexes(const std::string& directory, DirectoryListing listing,
                            const BesideTensors& beside);

}  // namespace btf
