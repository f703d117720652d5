#include "sets/safetensors_index.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <system_error>
#include <tuple>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/io/compressed_name.h"
#include "formats/json/canonical_json.h"
#include "formats/json/json_string.h"
#include "formats/json/reader.h"
#include "formats/open_source.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

// Models of a hundred thousand tensors have indexes of a tenth of it.
constexpr std::uint64_t kLongestIndex = 100'000'000;

bool stays_in_folder(std::string_view file) {
  return !file.empty() && file != "." && file != ".." && !file.contains('/') &&
         !file.contains('\0');
}

class SafetensorsIndex final : public SetIndex {
 public:
  static Result<std::unique_ptr<SetIndex>> read(const ByteSource& source, const std::string& path);

  std::span<const IndexEntry> entries() const override { return entries_; }
  Status check(std::size_t entry, const TensorFile& file, const FindingSink& report) const override;
  std::optional<std::string> file_of(std::string_view name) const override;

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

  std::string path_;
  std::vector<IndexEntry> entries_;  // of files, in natural order ("fc2" before "fc10")
  std::string names_;
  std::vector<Tensor> tensors_;  // by file, then by name
};

Result<std::unique_ptr<SetIndex>> SafetensorsIndex::read(const ByteSource& source,
                                                         const std::string& path) {
  if (source.size() > kLongestIndex)
    return malformed("safetensors-index", 0,
                     "the index has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestIndex) + " are read");
  JsonReader reader(source, {0, source.size()},
                    {.finding = "safetensors-index", .whole = "the index"});
  auto made = std::make_unique<SafetensorsIndex>();
  SafetensorsIndex& index = *made;
  index.path_ = path;
  std::map<std::string, std::uint32_t, std::less<>> files;
  const auto take_tensor = [&](const JsonToken& name) -> Status {
    if (!name.kept) return reader.wrong(name.extent.offset, "a name is too long");
    const std::string quoted = "'" + json_shown(name.text) + "'";
    index.tensors_.push_back({.file = 0,
                              .at = static_cast<std::uint32_t>(index.names_.size()),
                              .bytes = static_cast<std::uint32_t>(name.text.size())});
    index.names_ += name.text;
    BTF_ASSIGN(const JsonToken file, reader.expect(JsonKind::string, "the file of " + quoted));
    if (!stays_in_folder(file.text))
      return reader.wrong(file.extent.offset, "the file of " + quoted + ", '" +
                                                  json_shown(file.text) +
                                                  "', is not the name of a file beside the index");
    const auto known = files.find(file.text);
    index.tensors_.back().file =
        known != files.end()
            ? known->second
            : files.emplace(file.text, static_cast<std::uint32_t>(files.size())).first->second;
    return {};
  };
  bool mapped = false;
  BTF_TRY(reader.expect(JsonKind::object_begin, "it"));
  BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
    if (name.text != "weight_map") {
      BTF_TRY(reader.skip_value());
      return {};
    }
    mapped = true;
    BTF_TRY(reader.expect(JsonKind::object_begin, "'weight_map'"));
    return reader.members(take_tensor);
  }));
  BTF_TRY(reader.next());
  if (!mapped) return reader.wrong(0, "it has no 'weight_map', which says what is where");
  if (files.empty()) return reader.wrong(0, "its 'weight_map' names no file");
  index.entries_.resize(files.size());
  for (const auto& [file, number] : files) index.entries_[number].file = file;
  index.put_in_order();
  return made;
}

void SafetensorsIndex::put_in_order() {
  std::vector<std::uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, natural_less,
                    [&](std::uint32_t i) -> std::string_view { return entries_[i].file; });
  std::vector<std::uint32_t> place(order.size());
  std::vector<IndexEntry> sorted(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted[i] = std::move(entries_[order[i]]);
  }
  entries_ = std::move(sorted);
  for (Tensor& tensor : tensors_) tensor.file = place[tensor.file];
  std::ranges::sort(tensors_, {},
                    [&](const Tensor& tensor) { return std::tuple(tensor.file, name(tensor)); });
}

Status SafetensorsIndex::check(std::size_t entry, const TensorFile& file,
                               const FindingSink& report) const {
  const std::span<const Tensor> own = std::ranges::equal_range(tensors_, entry, {}, &Tensor::file);
  std::vector<bool> found(own.size());
  std::uint64_t more = 0;
  std::string first_more;
  std::uint64_t copies = 0;
  std::string first_copy;
  std::string meant;  // the shard that has the first
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    BTF_ASSIGN(const std::string held, file.name(i));
    const auto at = std::ranges::lower_bound(own, std::string_view(held), {},
                                             [&](const Tensor& tensor) { return name(tensor); });
    if (at != own.end() && name(*at) == held)
      found[static_cast<std::size_t>(at - own.begin())] = true;
    else if (const auto other = file_of(held)) {
      if (copies++ > 0) continue;
      first_copy = json_shown(held);
      meant = *other;
    } else if (more++ == 0) {
      first_more = json_shown(held);
    }
  }
  const auto say = [&](FindingCode code, std::uint64_t count, const std::string& first,
                       const std::string& what) {
    if (count == 0) return;
    const std::string others = count > 1 ? " and " + std::to_string(count - 1) + " more" : "";
    report({.severity = code.severity(),
            .code = code,
            .tensor = {},
            .offset = 0,
            .message = "tensor '" + first + "'" + others + what + path_});
  };
  const auto missing = std::ranges::find(found, false);
  if (missing != found.end())
    say("index-tensor-missing", static_cast<std::uint64_t>(std::ranges::count(found, false)),
        json_shown(name(own[static_cast<std::size_t>(missing - found.begin())])),
        " missing, listed in ");
  say("index-tensor-more", more, first_more, " not listed in ");
  say("index-tensor-more", copies, first_copy,
      (copies > 1 ? " are copies: those of other shards, the first of " : " is a copy: that of ") +
          meant + (copies > 1 ? ", are meant by " : " is meant by "));
  return {};
}

std::optional<std::string> SafetensorsIndex::file_of(std::string_view wanted) const {
  for (std::size_t file = 0; file < entries_.size(); ++file) {
    const std::span<const Tensor> own = std::ranges::equal_range(tensors_, file, {}, &Tensor::file);
    if (std::ranges::binary_search(own, wanted, {},
                                   [&](const Tensor& tensor) { return name(tensor); }))
      return entries_[file].file;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<SetIndex>> read_safetensors_index(const ByteSource& source,
                                                         const std::string& path) {
  return SafetensorsIndex::read(source, path);
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnding = ".safetensors.index.json";

// Programs look for one name, whatever the shards are called.
std::string index_name(std::string_view stem) {
  return (stem == "pytorch_model" ? "model" : std::string(stem)) + std::string(kIndexEnding);
}

// "model" of "model-00001-of-00002.safetensors"; empty: it is not called so.
std::string_view stem_of_shard(std::string_view name) {
  constexpr std::string_view kPattern = "-#####-of-#####";
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot <= kPattern.size()) return {};
  const std::string_view stem = name.substr(0, dot - kPattern.size());
  const bool fits = std::ranges::equal(name.substr(stem.size(), kPattern.size()), kPattern,
                                       [](char c, char p) {
                                         return p == '#' ? c >= '0' && c <= '9' : c == p;
                                       });
  return fits ? stem : std::string_view();
}

// The folder of a shard, and its name there.
std::pair<fs::path, std::string> place_of(const std::string& shard) {
  const fs::path path(shard);
  return {path.has_parent_path() ? path.parent_path() : fs::path("."), path.filename().string()};
}

}  // namespace

const std::vector<ShardIndexes::Index>& ShardIndexes::in(const std::string& folder) {
  const auto [known, fresh] = by_folder_.try_emplace(folder);
  if (!fresh) return known->second;
  std::error_code trouble;
  for (fs::directory_iterator at(folder, trouble), end; !trouble && at != end;
       at.increment(trouble)) {
    const std::string name = at->path().filename().string();
    for (const std::string_view ending : {kIndexEnding, std::string_view(".bin.index.json")}) {
      if (!ends_in(name, ending)) continue;
      const auto source = open_source(at->path().string(), {});
      if (!source) continue;
      auto content = read_safetensors_index(**source, name);
      if (!content) continue;
      const std::string_view stem = std::string_view(name).substr(0, name.size() - ending.size());
      known->second.push_back({index_name(stem), *std::move(content)});
    }
  }
  return known->second;
}

const ShardIndexes::Index* ShardIndexes::naming(const std::string& shard) {
  const auto [folder, file] = place_of(shard);
  for (const Index& index : in(folder.string()))
    if (std::ranges::find(index.content->entries(), file, &IndexEntry::file) !=
        index.content->entries().end())
      return &index;
  return nullptr;
}

std::optional<std::string> ShardIndexes::name_for(const std::string& shard) {
  if (const Index* const index = naming(shard)) return index->name;
  const std::string file = place_of(shard).second;
  const std::string_view stem = stem_of_shard(file);
  return stem.empty() ? std::nullopt : std::optional(index_name(stem));
}

bool ShardIndexes::elsewhere(const std::string& shard, std::string_view tensor) {
  const Index* const index = naming(shard);
  if (index == nullptr) return false;
  const auto file = index->content->file_of(tensor);
  return file && *file != place_of(shard).second;
}

Result<std::string> safetensors_index_text(std::span<const WrittenShard> shards,
                                           ShardIndexes& sources) {
  std::map<std::string, std::string> lines;  // of the tensors, by their names in quotes
  std::uint64_t bytes = 0;
  for (const auto& [path, source] : shards) {
    BTF_ASSIGN(const TensorFile file, TensorFile::open(path));
    const auto shard = json_quoted(std::string_view(path).substr(path.rfind('/') + 1));
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
      BTF_ASSIGN(const TensorInfo tensor, file.tensor(i));
      const auto name = json_quoted(tensor.name);
      if (!shard || !name)
        return std::unexpected(Error{ErrorCode::unsupported,
                                     "a name that is not UTF-8 cannot stand in an index"}
                                   .in_file(path));
      const auto [line, fresh] = lines.emplace(*name, *shard);
      if (fresh) bytes += tensor.data_bytes;
      if (!fresh && !sources.elsewhere(source, tensor.name)) line->second = *shard;
    }
  }
  std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(bytes) +
                     "\n  },\n  \"weight_map\": {";
  for (bool first = true; const auto& [name, shard] : lines) {
    text += (first ? "\n    " : ",\n    ") + name + ": " + shard;
    first = false;
  }
  return text + (lines.empty() ? "}\n}\n" : "\n  }\n}\n");
}

}  // namespace btf
