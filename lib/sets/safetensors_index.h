// The index of a model in several safetensors files:
//   {"metadata":{..},"weight_map":{"NAME":"model-00001-of-00002.safetensors", ..}}
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

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

}  // namespace btf
