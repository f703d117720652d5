// Weights that a model uses twice and a file stores once, under one of their names.
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

// What the files of one side say of it: the metadata of safetensors, {"lm_head.weight":
// "model.embed_tokens.weight"}, and a config.json beside them with "tie_word_embeddings": true.
class TiedNames {
 public:
  // An error if what the file says, or a config.json beside it, cannot be read.
  Status add(const TensorFile& file);

  // Which of `names`, those of all tensors of the side, holds what is called `name` and is not
  // there itself. Nothing: none is known.
  std::optional<std::size_t> stored_as(std::string_view name,
                                       std::span<const std::string> names) const;

 private:
  std::map<std::string, std::string, std::less<>> kept_;  // by the names that are not stored
  std::map<std::string, bool> folders_;                   // does the config there tie embeddings?
  bool embeddings_ = false;
};

// Which tensors of a file are the same bytes of it, as PyTorch stores tied weights. The file
// outlives it.
class SharedBytes {
 public:
  explicit SharedBytes(const TensorFile& file) : file_(&file) {}

  // The names of the others that `tensor` shares all its bytes with. The file is gone through at
  // the first question.
  std::vector<std::string> names(std::uint64_t tensor);

 private:
  using Extent = std::pair<std::uint64_t, std::uint64_t>;  // offset, bytes

  const TensorFile* file_;
  std::optional<std::map<Extent, std::vector<std::uint64_t>>> tensors_;
};

}  // namespace btf
