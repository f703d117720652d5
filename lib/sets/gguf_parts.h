// A model in several GGUF files, which their names say: "x-00001-of-00003.gguf".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"

namespace btf {

// By its name: the first of several, which stands for all of them.
bool named_as_first_gguf_part(std::string_view path);

class GgufParts {
 public:
  // `path` is so named.
  explicit GgufParts(std::string_view path);

  // Names, without a folder.
  const std::vector<std::string>& files() const { return files_; }

  // Does the file say that it is this part of so many? The finding gguf-split if it does not.
  Status check(std::size_t number, const TensorFile& file) const;

 private:
  std::vector<std::string> files_;
};

}  // namespace btf
