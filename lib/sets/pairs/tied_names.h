// Tied weights: used twice by a model and stored once, under one of their names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/file.h"

namespace btf {

// Collects tied names from the files of one side: from the metadata of safetensors,
// {"lm_head.weight": "model.embed_tokens.weight"}, and from a config.json next to them with
// "tie_word_embeddings": true.
class TiedNames {
 public:
  // An error if the metadata of the file, or a config.json next to it, cannot be read.
  Status add(const TensorFile& file);

  // The index in `names`, which has all tensors of the side, of the tensor that holds the data of
  // `name`, which is not stored itself. Unset if none is known.
  std::optional<std::size_t> stored_as(std::string_view name,
                                       std::span<const std::string> names) const;

 private:
  std::map<std::string, std::string, std::less<>> kept_;  // by the names that are not stored
  std::map<std::string, bool> folders_;  // whether the config.json of a folder ties embeddings
  bool embeddings_ = false;
};

// Finds tensors that are the same bytes of a file, as PyTorch stores tied weights. The file must
// outlive this object.
class SharedBytes {
 public:
  explicit SharedBytes(const TensorFile& file) : file_(&file) {}

  // The names of the other tensors that share all bytes of `tensor`. The first call scans the whole
  // file.
  Result<std::vector<std::string>> names(std::uint64_t tensor);

 private:
  using Extent = std::pair<std::uint64_t, std::uint64_t>;  // offset, bytes

  const TensorFile* file_;
  std::optional<std::map<Extent, std::vector<std::uint64_t>>> tensors_;
};

}  // namespace btf
