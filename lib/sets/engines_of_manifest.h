// Layer lists of engines that entries of a manifest name in place of a spec.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "btf/error.h"
#include "btf/tensorrt/engine_list.h"
#include "sets/engine_names.h"
#include "sets/index.h"

namespace btf {

// "@engine.json", with dims behind it where the list has them as dynamic: "@engine.json:1x3x8x8".
inline bool names_engine(std::string_view spec) { return spec.starts_with('@'); }

class EnginesOfManifest {
 public:
  // `path`: that of the manifest, from whose folder the lists are named.
  explicit EnginesOfManifest(const std::string& path)
      : folder_(path.substr(0, path.rfind('/') + 1)) {}

  // Finds the tensor that the entry is called as, or else its file, and names the entry so.
  Status take(IndexEntry& entry);

 private:
  struct Engine {
    Engine(std::string of, EngineList all) : path(std::move(of)), list(std::move(all)) {}

    std::string path;
    EngineList list;
    EngineNames names{list};
  };

  Result<const Engine*> list(const std::string& file);

  std::string folder_;
  std::map<std::string, std::unique_ptr<const Engine>> engines_;  // by their files
};

}  // namespace btf
