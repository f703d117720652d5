// Index files of several kinds, GGUF files in parts, and the use of both for directories.
#include "sets/index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/io/output.h"
#include "formats/json.h"
#include "formats/msprobe.h"
#include "formats/tensor_file.h"
#include "sets/directory.h"
#include "sets/manifest.h"

namespace btf {
namespace {

constexpr std::string_view kGgufEnding = ".gguf";
constexpr std::string_view kOf = "-of-";
constexpr std::size_t kDigits = 5;

// The name before "-00001-of-00003.gguf", and the number of parts.
struct FirstPart {
  std::string_view stem;
  std::uint64_t count = 0;
};

std::string five_digits(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

std::optional<FirstPart> parse_first_part(std::string_view path) {
  const std::size_t suffix = 1 + kDigits + kOf.size() + kDigits + kGgufEnding.size();
  if (path.size() < suffix || !path.ends_with(kGgufEnding)) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - suffix);
  const std::string_view digits = path.substr(path.size() - kGgufEnding.size() - kDigits, kDigits);
  const auto count = parse_number<std::uint64_t>(digits);
  const std::string first =
      "-" + five_digits(1) + std::string(kOf) + std::string(digits) + std::string(kGgufEnding);
  if (!count || *count == 0 || path.substr(stem.size()) != first) return std::nullopt;
  return FirstPart{stem, *count};
}

class GgufParts final : public SetIndex {
 public:
  explicit GgufParts(std::string_view path) {
    const FirstPart first = *parse_first_part(path);
    const std::string stem(first.stem.substr(first.stem.rfind('/') + 1));
    for (std::uint64_t i = 1; i <= first.count; ++i)
      entries_.push_back({.file = stem + "-" + five_digits(i) + std::string(kOf) +
                                  five_digits(first.count) + std::string(kGgufEnding)});
  }

  std::span<const IndexEntry> entries() const override { return entries_; }

  // Checks that the metadata of the file agree with its name.
  Status check(std::size_t number, const TensorFile& file,
               const FindingSink& report) const override {
    constexpr FindingCode kCode("gguf-split");
    const auto say = [&](std::string what) {
      report({.severity = kCode.severity(),
              .code = kCode,
              .tensor = {},
              .offset = 0,
              .message = std::move(what)});
    };
    if (file.format() != "gguf") {
      say("the name says part of a split GGUF file, the format is " +
          std::string(file.format_title()));
      return {};
    }
    BTF_ASSIGN(const FileAttributes attributes, file.attributes());
    const auto said = [&](const std::string& key) {
      const auto found = attributes.metadata.find(key);
      return found == attributes.metadata.end() ? "missing" : found->second;
    };
    for (const auto& [key, expected] : {std::pair<std::string, std::size_t>{"split.no", number},
                                        {"split.count", entries_.size()}})
      if (said(key) != std::to_string(expected)) {
        say(key + " is " + said(key) + ", the file name says " + std::to_string(expected));
        return {};
      }
    return {};
  }

 private:
  std::vector<IndexEntry> entries_;
};

// Returns true if `path` is named like the first of several parts, which represents all of them.
bool named_as_first_gguf_part(std::string_view path) { return parse_first_part(path).has_value(); }

// `path` must be named so. Missing parts are noticed when they are opened.
Result<std::unique_ptr<SetIndex>> read_gguf_parts(const ByteSource&, const std::string& path) {
  return std::make_unique<GgufParts>(path);
}

// Indexes of models with a hundred thousand tensors have a tenth of this.
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
  // A range of names_.
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
  std::vector<IndexEntry> entries_;  // the files, in natural order ("fc2" before "fc10")
  std::string names_;
  std::vector<Tensor> tensors_;  // sorted by file, then by name
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
    if (!name.complete) return reader.wrong(name.extent.offset, "a name is too long");
    const std::string quoted = "'" + json_shown(name.text) + "'";
    index.tensors_.push_back({.file = 0,
                              .at = static_cast<std::uint32_t>(index.names_.size()),
                              .bytes = static_cast<std::uint32_t>(name.text.size())});
    index.names_ += name.text;
    BTF_ASSIGN(const JsonToken file, reader.expect(JsonKind::string, "the file of " + quoted));
    if (!stays_in_folder(file.text))
      return reader.wrong(file.extent.offset, "the file of " + quoted + ", '" +
                                                  json_shown(file.text) +
                                                  "', is not the name of a file next to the index");
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
  if (!mapped) return reader.wrong(0, "it has no 'weight_map' from tensors to files");
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
  std::string meant;  // the shard that the index names for the first copy
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
      (copies > 1 ? " are copies; those of other shards, the first of "
                  : " is a copy; the one of ") +
          meant + (copies > 1 ? ", are listed in " : " is listed in "));
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

// Programs look for this name, whatever the shards are called.
std::string index_name(std::string_view stem) {
  return (stem == "pytorch_model" ? "model" : std::string(stem)) + std::string(kIndexEnding);
}

// "model" for "model-00001-of-00002.safetensors"; empty if the name has another form.
std::string_view stem_of_shard(std::string_view name) {
  constexpr std::string_view kPattern = "-#####-of-#####";
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot <= kPattern.size()) return {};
  const std::string_view stem = name.substr(0, dot - kPattern.size());
  const bool fits =
      std::ranges::equal(name.substr(stem.size(), kPattern.size()), kPattern,
                         [](char c, char p) { return p == '#' ? c >= '0' && c <= '9' : c == p; });
  return fits ? stem : std::string_view();
}

// The folder of a shard and its file name.
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
      const std::string path = at->path().string();
      const auto source = open_source(path, {});
      auto content = source ? read_safetensors_index(**source, name)
                            : Result<std::unique_ptr<SetIndex>>(std::unexpected(source.error()));
      if (!content) {
        note(content.error().in_file(path));
        continue;
      }
      const std::string_view stem = std::string_view(name).substr(0, name.size() - ending.size());
      known->second.push_back({index_name(stem), *std::move(content)});
    }
  }
  if (trouble) {
    const std::string text = "cannot read the directory: " + trouble.message();
    note(system_failure(ErrorCode::io, trouble.value(), text).error().in_file(folder));
  }
  return known->second;
}

void ShardIndexes::note(const Error& error) {
  if (status_ && is_system_error(error) && !is_not_there(error)) status_ = std::unexpected(error);
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
  std::map<std::string, std::string> lines;  // by the quoted names of the tensors
  std::uint64_t bytes = 0;
  for (const auto& [path, source] : shards) {
    BTF_ASSIGN(const TensorFile file, TensorFile::open(path));
    const auto shard = json_quoted(std::string_view(path).substr(path.rfind('/') + 1));
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
      BTF_ASSIGN(const TensorInfo tensor, file.tensor(i));
      const auto name = json_quoted(tensor.name);
      if (!shard || !name)
        return std::unexpected(
            Error{ErrorCode::unsupported, "a name that is not UTF-8 cannot be written to an index"}
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

namespace {

constexpr std::uint64_t kLongestSummary = 100'000'000;

struct TypeName {
  std::string_view theirs;
  DType dtype;
};

constexpr auto kTypes = std::to_array<TypeName>({
    {"FLOAT", DType::float32},
    {"HALF", DType::float16},
    {"BF16", DType::bfloat16},
    {"FP8", DType::float8_e4m3fn},
    {"E8M0", DType::float8_e8m0fnu},
    {"FP4", DType::float4_e2m1fn},
    {"INT64", DType::int64},
    {"INT32", DType::int32},
    {"INT8", DType::int8},
    {"INT4", DType::int4},
    {"UINT8", DType::uint8},
    {"BOOL", DType::boolean},
});

// The spec for a dtype of trtexec. An unknown dtype keeps its name and is refused when its data is
// read.
std::string spec_of(const std::string& type, const Dims& dims) {
  const auto* row = std::ranges::find(kTypes, type, &TypeName::theirs);
  if (row != kTypes.end()) return spec_text(row->dtype, Layout::linear, dims);
  return type + ":" + (dims.empty() ? "scalar" : dims_text(dims));
}

// The forms in which a tensor was written, those without loss first.
struct Files {
  std::string raw;
  std::string assigned;  // also raw bytes, under a name that the user assigned
  std::string numpy;
  std::string text;
};

class SummaryReader {
 public:
  SummaryReader(const ByteSource& source, const std::string& path)
      : source_(source),
        path_(path),
        reader_(source, {0, source.size()},
                {.finding = "trtexec-summary", .whole = "the summary"}) {}

  Result<std::unique_ptr<SetIndex>> read() {
    const Status status = take_all();
    if (!status && !cut_off()) return std::unexpected(status.error());
    if (!listed_) return reader_.wrong(0, "'tensors' is missing");
    if (!status) {
      constexpr FindingCode kCode("trtexec-summary-cut-off");
      files_->add_odd({.severity = kCode.severity(),
                       .code = kCode,
                       .tensor = {},
                       .offset = source_.size(),
                       .message = path_ + " is cut off after " + std::to_string(count_) +
                                  " tensors; the tensors computed after them are not known"});
    }
    return std::move(files_);
  }

 private:
  // Returns true if the text ended early, so that anything wrong is at its end.
  bool cut_off() const { return listed_ && reader_.offset() >= source_.size(); }

  Status take_all() {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "tensors") return take_tensors();
      BTF_TRY(reader_.skip_value());
      return {};
    }));
    BTF_TRY(reader_.next());
    return {};
  }

  Status take_tensors() {
    BTF_TRY(reader_.expect(JsonKind::array_begin, "its 'tensors'"));
    listed_ = true;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      const std::string what = "tensor " + std::to_string(count_);
      if (token.kind != JsonKind::object_begin)
        return reader_.wrong(
            token.extent.offset,
            what + " is " + std::string(json_kind_name(token.kind)) + " and not an object");
      BTF_TRY(take_tensor(what, token.extent.offset));
      ++count_;
    }
  }

  Status take_tensor(const std::string& what, std::uint64_t at) {
    FileEntry tensor{.order = count_};
    std::optional<std::string> type;
    std::optional<Dims> dims;
    Files files;
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "name") return take_text("'name' of " + what, tensor.name.emplace());
      if (name.text == "type") return take_text("'type' of " + what, type.emplace());
      if (name.text == "shape") {
        BTF_ASSIGN(dims, reader_.expect_dims("'shape' of " + what));
        return {};
      }
      if (name.text == "files") return take_files("'files' of " + what, files);
      BTF_TRY(reader_.skip_value());
      return {};
    }));
    for (const auto& [there, member] :
         {std::pair(tensor.name.has_value(), "name"), std::pair(type.has_value(), "type"),
          std::pair(dims.has_value(), "shape")})
      if (!there) return reader_.wrong(at, what + " has no '" + member + "'");
    add(std::move(tensor), spec_of(*type, *dims), std::move(files));
    return {};
  }

  // A tensor without a file only has a name.
  void add(FileEntry tensor, std::string spec, Files files) {
    IndexEntry entry;
    for (std::string* const file : {&files.raw, &files.assigned, &files.numpy}) {
      if (file->empty()) continue;
      if (!entry.file.empty()) {
        if (*file != entry.file) files_->add_other(std::move(*file));
        continue;
      }
      // An array describes itself, also if NumPy needed a wider type.
      if (file != &files.numpy) entry.spec = std::move(spec);
      entry.file = std::move(*file);
    }
    if (!files.text.empty()) files_->add_other(std::move(files.text));
    if (entry.file.empty()) return;
    entry.tensor = std::move(tensor);
    files_->add(std::move(entry));
  }

  Status take_text(const std::string& what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.expect(JsonKind::string, what));
    if (!token.complete) return reader_.wrong(token.extent.offset, what + " is too long");
    text = token.text;
    return {};
  }

  Status take_files(const std::string& what, Files& files) {
    BTF_TRY(reader_.expect(JsonKind::object_begin, what));
    return reader_.members([&](const JsonToken& name) -> Status {
      std::string* const file = name.text == "raw"        ? &files.raw
                                : name.text == "assigned" ? &files.assigned
                                : name.text == "numpy"    ? &files.numpy
                                : name.text == "string"   ? &files.text
                                                          : nullptr;
      const std::string of = "'" + json_shown(name.text) + "' in " + what;
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (file == nullptr || token.kind == JsonKind::null) return reader_.skip(token);
      if (token.kind != JsonKind::string || !token.complete)
        return reader_.wrong(token.extent.offset, of + " is not a file name");
      return take_file(token, of, *file);
    });
  }

  // The files are next to the summary, wherever they were when it was written.
  Status take_file(const JsonToken& token, const std::string& what, std::string& file) const {
    const std::string_view base = token.text.substr(token.text.rfind('/') + 1);
    if (token.text.empty()) return {};
    if (base.empty() || base == "." || base == ".." || base.contains('\0'))
      return reader_.wrong(token.extent.offset,
                           what + ", '" + json_shown(token.text) + "', is not a file name");
    file = base;
    return {};
  }

  const ByteSource& source_;
  std::string path_;
  JsonReader reader_;
  bool listed_ = false;
  std::uint64_t count_ = 0;
  std::unique_ptr<DescribedFiles> files_ = std::make_unique<DescribedFiles>();
};

}  // namespace

Result<std::unique_ptr<SetIndex>> read_trtexec_summary(const ByteSource& source,
                                                       const std::string& path) {
  if (source.size() > kLongestSummary)
    return malformed("trtexec-summary", 0,
                     "the summary has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestSummary) + " are read");
  return SummaryReader(source, path).read();
}

namespace {

// Includes the '/' at its end.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Result<std::shared_ptr<OpenIndex>> open_index(const std::string& path, const IndexKind& kind) {
  auto source = open_source(path, {});
  if (!source) return std::unexpected(source.error().in_file(path));
  auto content = kind.read(**source, path);
  if (!content) return std::unexpected(content.error().in_file(path));
  return std::make_shared<OpenIndex>(path, folder_of(path), *std::move(content));
}

// Returns true if both paths are the same directory.
Result<bool> is_same(const std::string& one, const std::string& other) {
  BTF_ASSIGN(const auto left, status_of_path(one));
  BTF_ASSIGN(const auto right, status_of_path(other));
  return left && right && left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

// The part of an index next to a directory that describes files in it, with paths relative to the
// directory.
class FolderIndex final : public SetIndex {
 public:
  static Result<std::unique_ptr<FolderIndex>> of(std::unique_ptr<const SetIndex> index,
                                                 const std::string& around,
                                                 const std::string& directory) {
    std::unique_ptr<FolderIndex> found(new FolderIndex(std::move(index)));
    std::string folder;
    bool here = false;
    for (const IndexEntry& entry : found->index_->entries()) {
      if (entry.folder.empty()) continue;
      if (folder != entry.folder) {
        BTF_ASSIGN(here, is_same(around + (folder = entry.folder), directory));
      }
      if (!here) continue;
      IndexEntry& own = found->entries_.emplace_back(entry);
      own.file.erase(0, own.folder.size());
      own.folder.clear();
    }
    return found;
  }

  std::span<const IndexEntry> entries() const override { return entries_; }
  std::span<const Finding> warnings() const override { return index_->warnings(); }

 private:
  explicit FolderIndex(std::unique_ptr<const SetIndex> index) : index_(std::move(index)) {}

  std::unique_ptr<const SetIndex> index_;
  std::vector<IndexEntry> entries_;
};

// The index next to a directory that names files in it; nullptr if there is none.
Result<std::shared_ptr<OpenIndex>> open_beside_folder(const std::string& directory) {
  const std::string around = join_path(directory, "../");
  const std::string path = around + std::string(kIndexBesideFolder);
  BTF_ASSIGN(const IndexKind* const kind, find_index_kind(path, FoundBy::directory));
  if (kind == nullptr || !kind->beside_folder) return nullptr;
  BTF_ASSIGN(std::shared_ptr<OpenIndex> index, open_index(path, *kind));
  BTF_ASSIGN(index->content, FolderIndex::of(std::move(index->content), around, directory));
  index->folder = join_path(directory, "");
  return index->content->entries().empty() ? nullptr : index;
}

// Adds with saturation.
std::uint64_t added(std::uint64_t one, std::uint64_t other) {
  return one + std::min(other, UINT64_MAX - one);
}

std::uint64_t end_of_order(const SetIndex& index) {
  std::uint64_t end = 0;
  for (const IndexEntry& entry : index.entries())
    if (entry.tensor && entry.tensor->order) end = std::max(end, added(*entry.tensor->order, 1));
  return end;
}

struct Member {
  std::string place;
  std::optional<Error> trouble{};
  std::optional<IndexedFile> indexed{};
};

// A member for a file that an index names, whether the file exists or not.
Member named_member(std::string place, IndexedFile file) {
  Member member{.place = std::move(place)};
  const std::string path = file.path();
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    Error error = system_failure("open").error();
    error.message += "; it is listed in " + file.index->path;
    member.trouble = error.in_file(path);
  } else if (!S_ISREG(status.st_mode)) {
    member.trouble =
        Error{ErrorCode::io, "not a regular file; it is listed in " + file.index->path}.in_file(
            path);
  }
  member.indexed = std::move(file);
  return member;
}

IndexedListing listing_of(std::string folder, std::vector<Member> members) {
  IndexedListing all{.folder = std::move(folder), .listing = {}, .indexed = {}};
  all.listing.places.reserve(members.size());
  for (Member& member : members) {
    const std::uint64_t number = all.listing.places.size();
    if (member.trouble) all.listing.trouble.emplace(number, *std::move(member.trouble));
    if (member.indexed) all.indexed.emplace(number, *std::move(member.indexed));
    all.listing.places.push_back(std::move(member.place));
  }
  return all;
}

std::string_view place_of_member(const Member& member) { return member.place; }

// "model.onnx_data" next to "model.onnx" holds data of that model and is not a file of tensors.
bool holds_data_of_model(std::string_view place, std::span<const Member> members) {
  for (const std::string_view ending : {"_data", ".data"}) {
    if (!place.ends_with(ending)) continue;
    const std::string_view model = place.substr(0, place.size() - ending.size());
    if (!model.ends_with(".onnx")) continue;
    return std::ranges::binary_search(members, model, natural_less, place_of_member);
  }
  return false;
}

// The files that indexes of a directory name, by place.
struct NamedFiles {
  std::multimap<std::string, IndexedFile, std::less<>> files;
  std::set<std::string, std::less<>> others;
};

// `place` is the place of the index.
void take_index(const std::string& place, const std::shared_ptr<const OpenIndex>& index,
                NamedFiles& named) {
  const std::string folder = folder_of(place);
  for (std::size_t i = 0; i < index->content->entries().size(); ++i)
    named.files.emplace(folder + index->content->entries()[i].file, IndexedFile{index, i});
  for (const std::string& other : index->content->others()) named.others.insert(folder + other);
}

}  // namespace

std::string IndexedFile::path() const {
  return entry().file.starts_with('/') ? entry().file : index->folder + entry().file;
}

Result<TensorSpec> IndexedFile::spec() const {
  const auto& engine = entry().engine;
  if (!engine) return parse_tensor_spec(entry().spec);
  // If data of other tensors may follow, the file size does not tell the dims.
  std::optional<std::uint64_t> bytes;
  if (!entry().tensor->offset) {
    BTF_ASSIGN(const auto status, status_of_path(path()));
    if (status) bytes = static_cast<std::uint64_t>(status->st_size);
  }
  EngineSpecs specs{.list = {}, .path = engine->path, .shapes = {}, .in_manifest = true};
  if (engine->dims) specs.shapes.push_back({.glob = engine->tensor.name, .dims = *engine->dims});
  return engine_spec(specs, engine->tensor, bytes);
}

Result<OpenOptions> IndexedFile::options(const OpenOptions& of_all) const {
  OpenOptions options = of_all;
  options.entry = entry().tensor;
  if (options.entry && options.entry->order)
    options.entry->order = added(*options.entry->order, index->first_order);
  if (entry().spec.empty()) return options;
  auto spec = this->spec();
  if (!spec) return std::unexpected(spec.error().in_file(index->path));
  options.spec = *std::move(spec);
  return options;
}

Status IndexedFile::check(const TensorFile& file, const FindingSink& report) const {
  if (number == 0)
    for (const Finding& finding : index->content->warnings()) report(finding);
  return index->content->check(number, file, report);
}

Result<IndexedListing> list_index(const std::string& path, const IndexKind& kind) {
  BTF_ASSIGN(const auto index, open_index(path, kind));
  std::vector<Member> members;
  for (std::size_t i = 0; i < index->content->entries().size(); ++i)
    members.push_back(named_member(index->content->entries()[i].place(), IndexedFile{index, i}));
  IndexedListing all = listing_of(folder_of(path), std::move(members));
  all.indexes.push_back(path);
  return all;
}

IndexedListing take_indexes(const std::string& directory, DirectoryListing listing,
                            const BesideTensors& beside) {
  std::vector<Member> members;
  std::vector<std::string> others;
  std::vector<std::string> indexes;
  std::shared_ptr<OpenIndex> last;
  const auto finish = [&] {
    IndexedListing all = listing_of(directory, std::move(members));
    all.others = std::move(others);
    all.indexes = std::move(indexes);
    return all;
  };
  NamedFiles named;
  std::uint64_t order = 0;
  if (auto index = open_beside_folder(directory); !index) {
    members.push_back({.place = std::string(kIndexBesideFolder), .trouble = index.error()});
  } else if (*index) {
    indexes.push_back((*index)->path);
    order = end_of_order(*(*index)->content);
    take_index("", *index, named);
  }
  for (std::uint64_t i = 0; i < listing.places.size(); ++i) {
    Member member{.place = std::move(listing.places[i])};
    if (const auto trouble = listing.trouble.find(i); trouble != listing.trouble.end()) {
      member.trouble = trouble->second;
    } else if (const std::string path = join_path(directory, member.place);
               const auto kind = find_index_kind(path, FoundBy::directory)) {
      if (*kind == nullptr) {
        members.push_back(std::move(member));
        continue;
      }
      auto index = open_index(path, **kind);
      if (index) {
        indexes.push_back(path);
        last = *index;
        last->first_order = order;
        order = added(order, end_of_order(*(*index)->content));
        take_index(member.place, *index, named);
        continue;
      }
      member.trouble = index.error();
    } else {
      member.trouble = kind.error();
    }
    members.push_back(std::move(member));
  }
  if (last && indexes.size() == 1) last->only = true;
  for (const Member& member : members)
    if (holds_data_of_model(member.place, members)) named.others.insert(member.place);
  std::erase_if(members, [&](const Member& member) {
    return named.files.contains(member.place) || named.others.contains(member.place);
  });
  std::vector<Member> of_tensors;
  for (Member& member : members) {
    const Result<bool> passed =
        member.trouble ? false : beside(join_path(directory, member.place), member.place);
    if (!passed) member.trouble = passed.error();
    if (passed && *passed)
      others.push_back(member.place);
    else
      of_tensors.push_back(std::move(member));
  }
  members = std::move(of_tensors);
  if (named.files.empty()) return finish();
  for (auto& [place, file] : named.files) {
    const std::string part = file.entry().place().substr(file.entry().file.size());
    members.push_back(named_member(place + part, std::move(file)));
  }
  std::ranges::stable_sort(members, natural_less, place_of_member);
  // If two indexes describe a file, the first one is used.
  const auto twice = std::ranges::unique(members, {}, place_of_member);
  members.erase(twice.begin(), twice.end());
  return finish();
}

namespace {

bool named_as_shards(std::string_view path) {
  return ends_in(path, ".safetensors.index.json") || ends_in(path, ".bin.index.json");
}
bool named_as_summary(std::string_view path) { return ends_in(path, "tensor_summary.json"); }
bool named_as_mlc_cache(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "ndarray-cache.json" || name == "tensor-cache.json" ||
         name == "ndarray-cache-b16.json";
}
bool named_as_manifest(std::string_view path) { return ends_in(path, "manifest.json"); }
bool named_as_msprobe_dump(std::string_view path) {
  const std::string_view name = content_name(path.substr(path.rfind('/') + 1));
  return name == kIndexBesideFolder || name == "debug.json";
}

bool begins_as_manifest(std::string_view start) { return start.contains(kManifestSchema); }

constexpr std::string_view kUsualFolder = "dump_tensor_data";

// Returns true if the dump knows anything about the tensor's data: msprobe also names files that it
// could not write.
bool has_numbers(const ProbeTensor& tensor) {
  return tensor.max || tensor.min || tensor.mean || tensor.norm || !tensor.checksum.empty();
}

// The files with elements that a dump.json names, which are next to it.
Result<std::unique_ptr<SetIndex>> read_msprobe_index(const ByteSource& source,
                                                     const std::string& path) {
  BTF_ASSIGN(const auto construct, open_if_there(next_to_index(path, kMsprobeConstruct)));
  BTF_ASSIGN(const ProbeDump dump, read_msprobe_dump(source, construct.get()));
  auto files = std::make_unique<DescribedFiles>();
  if (dump.cut_off) {
    constexpr FindingCode kCode("msprobe-dump-cut-off");
    files->add_odd({.severity = kCode.severity(),
                    .code = kCode,
                    .tensor = {},
                    .offset = source.size(),
                    .message = cut_off_text(path, dump)});
  }
  const std::string beside = path.substr(0, path.rfind('/') + 1);
  std::string folder = dump.folder.empty() ? std::string(kUsualFolder) : dump.folder;
  BTF_ASSIGN(const auto there, status_of_path(beside + folder));
  folder = there && S_ISDIR(there->st_mode) ? folder + "/" : "";
  for (const std::string_view other : {std::string_view("stack.json"), kMsprobeConstruct})
    files->add_other(std::string(other));
  std::uint64_t order = 0;
  for (const ProbeTensor& tensor : dump.tensors) {
    const std::uint64_t number = order++;
    if (tensor.file.empty()) continue;
    if (!has_numbers(tensor)) {
      BTF_ASSIGN(const auto written, status_of_path(beside + folder + tensor.file));
      if (!written) continue;
    }
    files->add({.file = folder + tensor.file,
                .tensor = FileEntry{.order = number, .role = std::string(role_of(tensor))},
                .folder = folder});
  }
  return files;
}

constexpr auto kKinds = std::to_array<IndexKind>({
    {named_as_first_gguf_part, nullptr, read_gguf_parts},
    {named_as_shards, nullptr, read_safetensors_index},
    {named_as_summary, nullptr, read_trtexec_summary},
    {named_as_mlc_cache, nullptr, read_mlc_cache},
    {named_as_manifest, begins_as_manifest, read_manifest},
    {named_as_msprobe_dump, begins_as_msprobe_dump, read_msprobe_index, true, kMsprobeConstruct},
});

// Only for regular files, since reading from a pipe would consume its bytes.
Result<std::string> first_bytes(const std::string& path) {
  constexpr std::uint64_t kStart = 4096;
  BTF_ASSIGN(const bool regular, is_regular_file(path));
  if (!regular) return std::string();
  const auto read = [&]() -> Result<std::string> {
    BTF_ASSIGN(const auto source, open_packed_source(path));
    std::string start(std::min(kStart, source->size()), '\0');
    BTF_TRY(source->read_at(0, std::as_writable_bytes(std::span(start))));
    return start;
  };
  auto start = read();
  if (start) return start;
  // Damaged or unreadable files are reported when they are opened as files of tensors.
  if (!is_system_error(start.error()) || is_not_there(start.error())) return std::string();
  return std::unexpected(start.error().in_file(path));
}

}  // namespace

std::string IndexEntry::place() const {
  if (!tensor) return file;
  if (tensor->tensor_name) return file + "#" + *tensor->tensor_name;
  if (tensor->tensor_number) return file + "#" + std::to_string(*tensor->tensor_number);
  if (tensor->offset) return file + "#" + tensor->name.value_or(std::to_string(*tensor->offset));
  return file;
}

std::string next_to_index(const std::string& path, std::string_view name) {
  return path.substr(0, path.rfind('/') + 1).append(name);
}

Result<bool> is_msprobe_dump(const std::string& path) {
  BTF_ASSIGN(const IndexKind* const kind, find_index_kind(path, FoundBy::operand));
  return kind != nullptr && kind->read == read_msprobe_index;
}

Result<const IndexKind*> find_index_kind(const std::string& path, FoundBy found_by) {
  const bool json = found_by == FoundBy::operand && ends_in(path, ".json");
  for (const IndexKind& kind : kKinds) {
    const bool named = kind.named(path);
    if (kind.begins == nullptr || !(named || json)) {
      if (named) return &kind;
      continue;
    }
    BTF_ASSIGN(const std::string start, first_bytes(path));
    if (kind.begins(start)) return &kind;
  }
  return nullptr;
}

}  // namespace btf
