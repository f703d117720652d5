// Files beside a model that hold values of its tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

class ExternalFiles {
 public:
  explicit ExternalFiles(std::string model) : model_(std::move(model)) {}

  // Opened once each. Refused is what does not lie in the folder of the model: by its name, or
  // where links lead. A model that is itself a link, as in caches of downloads, may have them
  // where the model really is.
  Result<std::shared_ptr<const ByteSource>> open(const std::string& location);

  // Those that were opened.
  std::vector<std::string> paths() const;

  // An error if one of those that were opened was changed since.
  Status check_unchanged() const;

 private:
  std::string path_of(const std::string& location) const;
  Result<std::shared_ptr<const ByteSource>> open_new(const std::string& location) const;

  std::string model_;  // its path
  std::map<std::string, std::shared_ptr<const ByteSource>> opened_;
};

}  // namespace btf
