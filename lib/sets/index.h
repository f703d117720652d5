// A file that says which others belong together and what they hold. One kind of it is a row.
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

// A tensor of an engine's layer list, which says what raw bytes hold.
struct EngineEntry {
  EngineTensor tensor;
  std::string path;            // of the list
  std::optional<Dims> dims{};  // where the list has them as dynamic
};

struct IndexEntry {
  std::string file{};                   // its path, from the folder of the index
  std::string spec{};                   // of raw bytes, as it is written; empty: none
  std::optional<EngineEntry> engine{};  // that `spec` names
  std::optional<FileEntry> tensor{};    // nothing: all that the file holds, as it says
  std::string folder{};                 // the begin of `file` that is no part of its tensors' names

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

// The index of a model in several safetensors files:
//   {"metadata":{..},"weight_map":{"NAME":"model-00001-of-00002.safetensors", ..}}

// An index of more bytes than a header may have is refused. Files are named without a folder: they
// lie beside the index.
Result<std::unique_ptr<SetIndex>> read_safetensors_index(const ByteSource& source,
                                                         const std::string& path);

// The indexes that lie beside shards, read at the first question.
class ShardIndexes {
 public:
  // Files of these formats alone come in shards.
  static bool may_be_shard(std::string_view path) {
    return path.ends_with(".safetensors") || path.ends_with(".bin");
  }
  // What the index of these shards is called as safetensors, "model.safetensors.index.json": by
  // the index that names this one, or by its own name ("model-00001-of-00002.safetensors").
  // Nothing: it belongs to no others.
  std::optional<std::string> name_for(const std::string& shard);
  // Does the index that names the shard give the tensor to another one?
  bool elsewhere(const std::string& shard, std::string_view tensor);

 private:
  struct Index {
    std::string name;  // as name_for() gives it
    std::unique_ptr<SetIndex> content;
  };

  const std::vector<Index>& in(const std::string& folder);
  const Index* naming(const std::string& shard);

  std::map<std::string, std::vector<Index>> by_folder_;
};

// A shard, and the one that it was made of.
struct WrittenShard {
  std::string path;
  std::string source;
};

// The text of an index of these files, which lie beside each other. A tensor that several hold is
// where the index of their sources says; those of `sources` are known already, for the files may
// have been replaced.
Result<std::string> safetensors_index_text(std::span<const WrittenShard> shards,
                                           ShardIndexes& sources);

// tensor_summary.json, which trtexec --saveAllDebugTensors writes beside the files of tensors: what
// they are called, their types and shapes, in the order in which they were computed.

// One that was cut off, since the program did not come to its end, is read as far as it goes.
Result<std::unique_ptr<SetIndex>> read_trtexec_summary(const ByteSource& source,
                                                       const std::string& path);

// Files that an index names: a set of their own, and what they must be in a directory.

struct OpenIndex {
  std::string path;
  std::string folder;  // that its files are in, with the '/' at its end
  std::unique_ptr<const SetIndex> content;
  // Of several indexes below a directory one follows another in the order of execution.
  std::uint64_t first_order = 0;
  // The only one: where it lies below the directory says nothing of its tensors.
  bool only = false;
};

// An entry of an index.
struct IndexedFile {
  std::shared_ptr<const OpenIndex> index;
  std::size_t number = 0;  // of its entries

  const IndexEntry& entry() const { return index->content->entries()[number]; }
  // To open it by.
  std::string path() const;
  // What the entry says that its raw bytes hold.
  Result<TensorSpec> spec() const;
  // Its options: those of all files and its own.
  Result<OpenOptions> options(const OpenOptions& of_all) const;
  // Does the file hold what the index says? What is odd with the index counts for its first file.
  Status check(const TensorFile& file, const FindingSink& report) const;
};

struct IndexedListing {
  std::string folder;  // where the places are; empty: here
  DirectoryListing listing;
  std::map<std::uint64_t, IndexedFile> indexed;  // by the number of the place
  std::vector<std::string> others{};   // places of files beside the tensors, which are no members
  std::vector<std::string> indexes{};  // paths of those that were read
};

// The files that an index names, in its order.
Result<IndexedListing> list_index(const std::string& path, const IndexKind& kind);

// Does a file stand beside the tensors? `path`: to open it by.
using BesideTensors = std::function<bool(const std::string& path, const std::string& place)>;

// Indexes below a directory are no members, unless they cannot be read, nor are files beside the
// tensors; files that indexes name are, also those that do not exist.
IndexedListing take_indexes(const std::string& directory, DirectoryListing listing,
                            const BesideTensors& beside);

}  // namespace btf
