#include "sets/engines_of_manifest.h"

#include <sys/stat.h>

#include <utility>

#include "btf/tensor_spec.h"
#include "btf/try.h"

namespace btf {
namespace {

// The file, and the dims behind it.
Result<std::pair<std::string, std::optional<Dims>>> parts_of(const std::string& spec) {
  const std::string text = spec.substr(1);
  const std::size_t mark = text.rfind(':');
  if (mark != text.npos) {
    const auto dims = parse_tensor_spec("int8" + text.substr(mark));
    if (dims && dims->storage) return std::pair(text.substr(0, mark), dims->storage->dims);
  }
  if (text.empty())
    return fail(ErrorCode::invalid_argument, "'@' needs the layer list of an engine behind it");
  return std::pair(text, std::optional<Dims>());
}

}  // namespace

Result<const EnginesOfManifest::Engine*> EnginesOfManifest::list(const std::string& file) {
  if (const auto known = engines_.find(file); known != engines_.end()) return known->second.get();
  const std::string path = file.starts_with('/') ? file : folder_ + file;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail(ErrorCode::invalid_argument, path + " is no regular file");
  auto list = read_engine_list(path);
  if (!list) return fail(list.error().code, list.error().file + ": " + list.error().message);
  return engines_.emplace(file, std::make_unique<const Engine>(path, *std::move(list)))
      .first->second.get();
}

Status EnginesOfManifest::take(IndexEntry& entry) {
  BTF_ASSIGN(auto parts, parts_of(entry.spec));
  BTF_ASSIGN(const Engine* const engine, list(parts.first));
  FileEntry tensor = entry.tensor.value_or(FileEntry());
  const EngineTensor* const found =
      tensor.name ? engine->names.named(*tensor.name) : engine->names.find(entry.file);
  if (found == nullptr)
    return fail(ErrorCode::invalid_argument,
                engine->path + " has no tensor that is called as " +
                    (tensor.name ? "its name, '" + *tensor.name + "'"
                                 : "its file, '" + entry.file + "'; a 'name' says which it is"));
  if (!tensor.name) tensor.name = found->name;
  entry.tensor = std::move(tensor);
  entry.engine =
      EngineEntry{.tensor = *found, .path = engine->path, .dims = std::move(parts.second)};
  return {};
}

}  // namespace btf
