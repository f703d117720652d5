// Manifests, the layer lists of engines that they refer to, and the shard lists of MLC LLM and TVM.
#include "sets/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/json.h"
#include "sets/index.h"
#include "sets/names/name_keys.h"

namespace btf {
namespace {

// "@engine.json", followed by dims if the list has dynamic ones: "@engine.json:1x3x8x8".
bool names_engine(std::string_view spec) { return spec.starts_with('@'); }

class EnginesOfManifest {
 public:
  // `path` is the path of the manifest; layer lists are relative to its folder.
  explicit EnginesOfManifest(const std::string& path)
      : folder_(path.substr(0, path.rfind('/') + 1)) {}

  // Finds the tensor for the entry's name, or else its file name, and sets the entry's name.
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
  std::map<std::string, std::unique_ptr<const Engine>> engines_;  // by file
};

// Splits a spec into the file and the dims after it.
Result<std::pair<std::string, std::optional<Dims>>> parts_of(const std::string& spec) {
  const std::string text = spec.substr(1);
  const std::size_t mark = text.rfind(':');
  if (mark != text.npos) {
    const auto dims = parse_tensor_spec("int8" + text.substr(mark));
    if (dims && dims->storage) return std::pair(text.substr(0, mark), dims->storage->dims);
  }
  if (text.empty())
    return fail(ErrorCode::invalid_argument, "'@' must be followed by the layer list of an engine");
  return std::pair(text, std::optional<Dims>());
}

Result<const EnginesOfManifest::Engine*> EnginesOfManifest::list(const std::string& file) {
  if (const auto known = engines_.find(file); known != engines_.end()) return known->second.get();
  const std::string path = file.starts_with('/') ? file : folder_ + file;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail(ErrorCode::invalid_argument, path + " is not a regular file");
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
                engine->path + " has no tensor " +
                    (tensor.name ? "called '" + *tensor.name + "'"
                                 : "named like the file '" + entry.file +
                                       "'; set 'name' to the tensor's name"));
  if (!tensor.name) tensor.name = found->name;
  entry.tensor = std::move(tensor);
  entry.engine =
      EngineEntry{.tensor = *found, .path = engine->path, .dims = std::move(parts.second)};
  return {};
}

constexpr std::uint32_t kSeveral = UINT32_MAX;

// Extensions of raw bytes; all other files describe themselves.
constexpr auto kRawEndings = std::to_array<std::string_view>({".raw", ".bin", ".dat", ".buf"});

}  // namespace

EngineNames::EngineNames(const EngineList& list) : list_(list) {
  for (std::uint32_t i = 0; i < list.tensors.size(); ++i) {
    exact_.emplace(list.tensors[i].name, i);
    const auto [at, added] = sanitised_.emplace(sanitised_name(list.tensors[i].name), i);
    if (!added) at->second = kSeveral;
  }
}

const EngineTensor* EngineNames::named(std::string_view name) const {
  for (const std::string& own : {std::string(name), percent_decoded(name)})
    if (const auto at = exact_.find(own); at != exact_.end()) return &list_.tensors[at->second];
  const auto at = sanitised_.find(sanitised_name(percent_decoded(name)));
  return at == sanitised_.end() || at->second == kSeveral ? nullptr : &list_.tensors[at->second];
}

// A folder may be part of the name, as in "model/conv1/out.raw".
const EngineTensor* EngineNames::find(std::string_view path) const {
  std::string_view name = path;
  const auto* const ending = std::ranges::find_if(kRawEndings, [&](std::string_view one) {
    return name.size() > one.size() && same_name(one, name.substr(name.size() - one.size()));
  });
  if (ending == kRawEndings.end()) return nullptr;
  std::string dumped;
  if (const auto dump = parse_dump_name(path)) dumped = dump->name;
  name.remove_suffix(ending->size());
  for (;;) {
    if (const EngineTensor* const found = named(name)) return found;
    const std::size_t slash = name.find('/');
    if (slash == name.npos) break;
    name.remove_prefix(slash + 1);
  }
  return dumped.empty() ? nullptr : named(dumped);
}

namespace {

constexpr std::uint64_t kLongestManifest = 100'000'000;

class ManifestReader {
 public:
  ManifestReader(const ByteSource& source, const std::string& path)
      : reader_(source, {0, source.size()}, {.finding = "manifest", .whole = "the manifest"}),
        engines_(path) {}

  Result<std::unique_ptr<SetIndex>> read() {
    bool listed = false;
    bool ours = false;
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "schema") return take_schema(ours);
      if (name.text == "comment") return skip();
      if (name.text != "tensors") return unknown(name, "it");
      listed = true;
      return take_tensors();
    }));
    BTF_TRY(reader_.next());
    if (!ours) return reader_.wrong(0, "'schema' is missing");
    if (!listed) return reader_.wrong(0, "'tensors' is missing");
    return std::move(files_);
  }

 private:
  Status skip() {
    BTF_TRY(reader_.skip_value());
    return {};
  }

  Status unknown(const JsonToken& name, const std::string& where) const {
    return reader_.wrong(name.extent.offset,
                         "unknown member '" + json_shown(name.text) + "' of " + where);
  }

  Status take_schema(bool& ours) {
    BTF_ASSIGN(const JsonToken schema, reader_.expect(JsonKind::string, "its 'schema'"));
    ours = schema.text == kManifestSchema;
    if (ours) return {};
    return reader_.wrong(schema.extent.offset, "its 'schema' is '" + json_shown(schema.text) +
                                                   "' and not '" + std::string(kManifestSchema) +
                                                   "'");
  }

  Status take_tensors() {
    BTF_TRY(reader_.expect(JsonKind::array_begin, "its 'tensors'"));
    for (std::uint64_t i = 0;; ++i) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      const std::string what = "entry " + std::to_string(i);
      if (token.kind != JsonKind::object_begin)
        return reader_.wrong(
            token.extent.offset,
            what + " is " + std::string(json_kind_name(token.kind)) + " and not an object");
      const std::uint64_t at = token.extent.offset;
      BTF_ASSIGN(IndexEntry entry, take_entry(what));
      if (names_engine(entry.spec))
        if (const Status named = engines_.take(entry); !named)
          return reader_.wrong(at, "'spec' of " + what + ": " + named.error().message);
      BTF_TRY(check(entry, what, at));
      files_->add(std::move(entry));
    }
  }

  Result<IndexEntry> take_entry(const std::string& what) {
    IndexEntry entry;
    FileEntry tensor;
    bool described = false;
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      const std::string member(name.text);
      const std::string of = "'" + json_shown(member) + "' of " + what;
      if (member == "comment") return skip();
      if (member == "file") return take_text(of, entry.file);
      if (member == "spec") return take_text(of, entry.spec);
      described = true;
      if (member == "name") return take_text(of, tensor.name.emplace());
      if (member == "role") return take_text(of, tensor.role);
      if (member == "order") return take_count(of, tensor.order);
      if (member == "offset") return take_count(of, tensor.offset);
      if (member == "tensor") return take_tensor_selector(of, tensor);
      return unknown(name, what);
    }));
    if (described) entry.tensor = std::move(tensor);
    return entry;
  }

  Status take_text(const std::string& what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.expect(JsonKind::string, what));
    if (!token.complete) return reader_.wrong(token.extent.offset, what + " is too long");
    text = token.text;
    if (!text.contains('\0')) return {};
    return reader_.wrong(token.extent.offset, what + " has a zero byte");
  }

  Status take_count(const std::string& what, std::optional<std::uint64_t>& size) {
    BTF_ASSIGN(size, reader_.expect_size(what));
    return {};
  }

  // Reads a name or a number.
  Status take_tensor_selector(const std::string& what, FileEntry& tensor) {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    if (token.kind == JsonKind::string && token.complete) {
      tensor.tensor_name = std::string(token.text);
      return {};
    }
    BTF_ASSIGN(tensor.tensor_number, reader_.size_of(token, what));
    return {};
  }

  Status check(const IndexEntry& entry, const std::string& what, std::uint64_t at) {
    if (entry.file.empty()) return reader_.wrong(at, what + " has no 'file'");
    if (entry.spec.empty()) {
      if (entry.tensor && entry.tensor->offset)
        return reader_.wrong(at, what + " has an 'offset' and no 'spec'");
    } else if (!entry.engine) {
      const auto spec = parse_tensor_spec(entry.spec);
      if (!spec) return reader_.wrong(at, "'spec' of " + what + ": " + spec.error().message);
      if (entry.tensor && entry.tensor->offset && !spec->storage)
        return reader_.wrong(at, "'spec' of " + what + " has no dims, which its 'offset' needs");
      if (entry.tensor && entry.tensor->offset && spec->as_text)
        return reader_.wrong(at, "'spec' of " + what + " describes text, which has no 'offset'");
    }
    if (entry.tensor && entry.tensor->offset &&
        (entry.tensor->tensor_name || entry.tensor->tensor_number))
      return reader_.wrong(at, what + " has an 'offset' and a 'tensor'; raw bytes hold one tensor");
    if (!places_.insert(entry.place()).second)
      return reader_.wrong(at, what + " duplicates '" + json_shown(entry.place()) + "'");
    return {};
  }

  JsonReader reader_;
  EnginesOfManifest engines_;
  std::unique_ptr<DescribedFiles> files_ = std::make_unique<DescribedFiles>();
  std::set<std::string> places_;
};

// Dtype names of older TVM versions.
struct OldDTypeName {
  std::string_view name;
  DType dtype;
};

constexpr auto kOldDTypeNames = std::to_array<OldDTypeName>(
    {{"e4m3_float8", DType::float8_e4m3fn}, {"e5m2_float8", DType::float8_e5m2}});

bool stays_below(std::string_view file) {
  if (file.empty() || file.starts_with('/') || file.contains('\0')) return false;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('/'), file.size());
    if (file.substr(0, end) == "..") return false;
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  return true;
}

// {"metadata": {..}, "records": [{"dataPath": "params_shard_0.bin", "format": "raw-shard", ..,
//   "records": [{"name": .., "shape": [..], "dtype": .., "format": .., "nbytes": ..,
//                "byteOffset": ..}]}]}
class TvmShardListReader {
 public:
  explicit TvmShardListReader(const ByteSource& source)
      : reader_(source, {0, source.size()},
                {.finding = "manifest", .whole = "the list of shards"}) {}

  Result<std::unique_ptr<SetIndex>> read() {
    bool listed = false;
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text != "records") return skip();
      listed = true;
      return each("its 'records'",
                  [&](std::uint64_t i) { return take_shard("shard " + std::to_string(i)); });
    }));
    BTF_TRY(reader_.next());
    if (!listed) return reader_.wrong(0, "'records', the list of shards, is missing");
    return std::move(files_);
  }

 private:
  struct Tensor {
    FileEntry entry;
    std::string dtype;
    std::string format = "raw";
    Dims dims;
    std::optional<std::uint64_t> bytes;
    std::uint64_t at = 0;  // position in the text
  };

  Status skip() {
    BTF_TRY(reader_.skip_value());
    return {};
  }

  // Reads a list of objects.
  template <typename Take>
  Status each(const std::string& what, Take take) {
    BTF_TRY(reader_.expect(JsonKind::array_begin, what));
    for (std::uint64_t i = 0;; ++i) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      if (token.kind != JsonKind::object_begin)
        return reader_.wrong(token.extent.offset, "an item of " + what + " is " +
                                                      std::string(json_kind_name(token.kind)) +
                                                      " and not an object");
      BTF_TRY(take(i));
    }
  }

  Status take_shard(const std::string& what) {
    std::string file;
    std::string format = "raw-shard";
    std::vector<Tensor> tensors;
    const std::uint64_t at = reader_.offset();
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      const std::string of = "'" + json_shown(name.text) + "' of " + what;
      if (name.text == "dataPath") return take_text(of, file);
      if (name.text == "format") return take_text(of, format);
      if (name.text != "records") return skip();
      return each(of, [&](std::uint64_t i) {
        return take_tensor("tensor " + std::to_string(i) + " of " + what, tensors.emplace_back());
      });
    }));
    if (!stays_below(file))
      return reader_.wrong(at, "'dataPath' of " + what + ", '" + json_shown(file) +
                                   "', is not a file below the folder of the list");
    if (format != "raw-shard")
      return reader_.wrong(
          at, what + " has the format '" + json_shown(format) + "'; only 'raw-shard' is supported");
    for (Tensor& tensor : tensors) {
      BTF_ASSIGN(std::string spec, spec_of(tensor));
      files_->add({.file = file, .spec = std::move(spec), .tensor = std::move(tensor.entry)});
    }
    return {};
  }

  Status take_tensor(const std::string& what, Tensor& tensor) {
    tensor.at = reader_.offset();
    tensor.entry.offset = 0;
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      const std::string of = "'" + json_shown(name.text) + "' of " + what;
      if (name.text == "name") return take_text(of, tensor.entry.name.emplace());
      if (name.text == "dtype") return take_text(of, tensor.dtype);
      if (name.text == "format") return take_text(of, tensor.format);
      if (name.text == "shape") {
        BTF_ASSIGN(tensor.dims, reader_.expect_dims(of));
        return {};
      }
      if (name.text == "nbytes") return take_count(of, tensor.bytes);
      if (name.text == "byteOffset") return take_count(of, tensor.entry.offset);
      return skip();
    }));
    if (!tensor.entry.name) return reader_.wrong(tensor.at, what + " has no 'name'");
    return {};
  }

  // The spec of the stored data: float32 parameters may be stored as bfloat16.
  Result<std::string> spec_of(const Tensor& tensor) const {
    const std::string what = "tensor '" + json_shown(*tensor.entry.name) + "'";
    const auto* const old = std::ranges::find(kOldDTypeNames, tensor.dtype, &OldDTypeName::name);
    auto dtype =
        old == kOldDTypeNames.end() ? parse_dtype(tensor.dtype) : Result<DType>(old->dtype);
    if (!dtype)
      return reader_.wrong(tensor.at, "'dtype' of " + what + ": " + dtype.error().message);
    if (tensor.format == "f32-to-bf16" && *dtype == DType::float32)
      dtype = DType::bfloat16;
    else if (tensor.format != "raw")
      return reader_.wrong(tensor.at,
                           what + " has the format '" + json_shown(tensor.format) +
                               "'; only 'raw' and, for float32, 'f32-to-bf16' are supported");
    const auto count = element_count(tensor.dims);
    const auto bytes = count ? stream_bytes(*count, info(*dtype).bits) : std::nullopt;
    if (!bytes || (tensor.bytes && tensor.bytes != bytes))
      return reader_.wrong(tensor.at, what + ", " + std::string(info(*dtype).name) + " " +
                                          dims_text(tensor.dims) + ", does not have the " +
                                          std::to_string(tensor.bytes.value_or(0)) +
                                          " bytes of its 'nbytes'");
    return spec_text(*dtype, Layout::linear, tensor.dims);
  }

  Status take_text(const std::string& what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.expect(JsonKind::string, what));
    if (!token.complete) return reader_.wrong(token.extent.offset, what + " is too long");
    text = token.text;
    return {};
  }

  Status take_count(const std::string& what, std::optional<std::uint64_t>& size) {
    BTF_ASSIGN(size, reader_.expect_size(what));
    return {};
  }

  JsonReader reader_;
  std::unique_ptr<DescribedFiles> files_ = std::make_unique<DescribedFiles>();
};

}  // namespace

Result<std::unique_ptr<SetIndex>> read_manifest(const ByteSource& source, const std::string& path) {
  if (source.size() > kLongestManifest)
    return malformed("manifest", 0,
                     "the manifest has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestManifest) + " are read");
  return ManifestReader(source, path).read();
}

Result<std::unique_ptr<SetIndex>> read_mlc_cache(const ByteSource& source, const std::string&) {
  if (source.size() > kLongestManifest)
    return malformed("manifest", 0,
                     "the list of shards has " + std::to_string(source.size()) +
                         " bytes; at most " + std::to_string(kLongestManifest) + " are read");
  return TvmShardListReader(source).read();
}

Status ManifestText::add(const IndexEntry& entry) {
  const FileEntry tensor = entry.tensor.value_or(FileEntry());
  std::string line;
  Status status;
  const auto member = [&](std::string_view name, const std::string& value) {
    line += (line.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
  };
  const auto text = [&](std::string_view name, const std::string& value) {
    const auto quoted = json_quoted(value);
    if (quoted) return member(name, *quoted);
    status = fail(ErrorCode::unsupported, "'" + json_shown(value) + "' is not UTF-8, as the " +
                                              std::string(name) + " of a manifest must be");
  };
  // In the order in which a reader looks for them.
  if (tensor.name) text("name", *tensor.name);
  text("file", entry.file);
  if (tensor.tensor_name) text("tensor", *tensor.tensor_name);
  if (tensor.tensor_number) member("tensor", std::to_string(*tensor.tensor_number));
  if (!entry.spec.empty()) text("spec", entry.spec);
  if (tensor.offset) member("offset", std::to_string(*tensor.offset));
  if (tensor.order) member("order", std::to_string(*tensor.order));
  if (!tensor.role.empty()) text("role", tensor.role);
  BTF_TRY(status);
  entries_ += (entries_.empty() ? "" : ",\n") + ("    {" + line + "}");
  return {};
}

std::string ManifestText::finish() && {
  return "{\n  \"schema\": \"" + std::string(kManifestSchema) + "\",\n  \"tensors\": [" +
         (entries_.empty() ? "]" : "\n" + std::move(entries_) + "\n  ]") + "\n}\n";
}

}  // namespace btf
