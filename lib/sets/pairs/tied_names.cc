#include "sets/pairs/tied_names.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "btf/try.h"
#include "core/errors.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace btf {
namespace {

// A larger file is not a config.
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;

// Names of embeddings: endings of the input embedding, and names of the output projection.
constexpr std::array<std::string_view, 6> kInputs{"embed_tokens.weight",    "wte.weight",
                                                  "word_embeddings.weight", "embed_in.weight",
                                                  "tok_embeddings.weight",  "shared.weight"};
constexpr std::array<std::string_view, 4> kOutputs{"lm_head.weight", "embed_out.weight",
                                                   "output.weight", "decoder.weight"};

// True if the last parts of the name are `ending`: "model.embed_tokens.weight" and
// "embed_tokens.weight".
bool ends_as(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  return name.size() == ending.size() || name[name.size() - ending.size() - 1] == '.';
}

bool is_of(std::string_view name, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return ends_as(name, ending); });
}

Result<bool> says_tied(const std::string& path) {
  BTF_ASSIGN(const std::unique_ptr<ByteSource> source, open_packed_source(path));
  if (source->size() > kMaxBytes) return false;
  JsonReader json(*source, {0, source->size()},
                  {.finding = "manifest", .whole = "the text", .python = true});
  bool tied = false;
  BTF_TRY(json.expect(JsonKind::object_begin, "the text"));
  BTF_TRY(json.members([&](const JsonToken& name) -> Status {
    const bool asked = name.text == "tie_word_embeddings";
    BTF_ASSIGN(const JsonToken value, json.next());
    if (!asked) return json.skip(value);
    tied = value.kind == JsonKind::boolean && value.text == "true";
    return json.skip(value);
  }));
  return tied;
}

}  // namespace

Status TiedNames::add(const TensorFile& file) {
  BTF_ASSIGN(const auto attributes, file.attributes());
  kept_.insert(attributes.metadata.begin(), attributes.metadata.end());
  const std::string config =
      (std::filesystem::path(file.path()).parent_path() / "config.json").string();
  const auto [folder, fresh] = folders_.try_emplace(config, false);
  BTF_ASSIGN(const bool there, fresh ? is_regular_file(config) : Result<bool>(false));
  if (there) {
    const Result<bool> tied = says_tied(config);
    // A config that is not JSON does not describe tied weights.
    if (!tied && tied.error().code != ErrorCode::malformed)
      return std::unexpected(tied.error().in_file(config));
    folder->second = tied && *tied;
  }
  embeddings_ = embeddings_ || folder->second;
  return {};
}

std::optional<std::size_t> TiedNames::stored_as(std::string_view name,
                                                std::span<const std::string> names) const {
  if (const auto kept = kept_.find(name); kept != kept_.end()) {
    const auto at = std::ranges::find(names, kept->second);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  }
  if (!embeddings_ || !is_of(name, kOutputs)) return std::nullopt;
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_of(names[i], kInputs)) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

// Tensors that are damaged share nothing; an error of the system says nothing about them.
Result<std::vector<std::string>> SharedBytes::names(std::uint64_t tensor) {
  if (!tensors_) {
    std::map<Extent, std::vector<std::uint64_t>> found;
    for (std::uint64_t i = 0; i < file_->tensor_count(); ++i) {
      const auto info = file_->tensor(i);
      if (!info && is_system_error(info.error()))
        return std::unexpected(info.error().in_file(file_->path()));
      if (info && info->named && info->data_bytes > 0 && !info->deflated())
        found[{info->data_offset, info->data_bytes}].push_back(i);
    }
    tensors_ = std::move(found);
  }
  std::vector<std::string> names;
  const auto own = file_->tensor(tensor);
  if (!own && is_system_error(own.error())) return std::unexpected(own.error().in_file(file_->path()));
  if (!own) return names;
  const auto same = tensors_->find({own->data_offset, own->data_bytes});
  if (same == tensors_->end()) return names;
  for (const std::uint64_t i : same->second) {
    if (i == tensor) continue;
    auto other = file_->tensor(i);
    if (!other) return std::unexpected(other.error().in_file(file_->path()));
    if (other->dtype == own->dtype && other->dims == own->dims)
      names.push_back(std::move(other->name));
  }
  return names;
}

}  // namespace btf
