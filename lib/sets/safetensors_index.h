// The index of a model in several safetensors files:
//   {"metadata":{..},"weight_map":{"NAME":"model-00001-of-00002.safetensors", ..}}
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

// By its name: "model.safetensors.index.json".
bool named_as_safetensors_index(std::string_view path);

class SafetensorsIndex {
 public:
  // An index of more bytes than a header may have is refused. Files are named without a folder:
  // they lie beside the index.
  static Result<SafetensorsIndex> read(const ByteSource& source);

  // Names of files, in natural order ("fc2" before "fc10").
  const std::vector<std::string>& files() const { return files_; }

  // Of a file: what the index says is in it and is not, and what is and should not be.
  struct Difference {
    std::uint64_t missing = 0;
    std::string first_missing{};
    std::uint64_t more = 0;
    std::string first_more{};
  };
  using NameOf = std::function<Result<std::string>(std::uint64_t)>;
  Result<Difference> compare(std::size_t file, std::uint64_t tensors, const NameOf& name) const;

 private:
  // Bytes of names_.
  struct Tensor {
    std::uint32_t file = 0;
    std::uint32_t at = 0;
    std::uint32_t bytes = 0;
  };

  std::string_view name(const Tensor& tensor) const {
    return std::string_view(names_).substr(tensor.at, tensor.bytes);
  }
  void put_in_order();

  std::vector<std::string> files_;
  std::string names_;
  std::vector<Tensor> tensors_;  // by file, then by name
};

}  // namespace btf
