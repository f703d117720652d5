#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "btf/file.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/entry_reader.h"
#include "formats/find_format.h"
#include "formats/open_source.h"
#include "formats/table/content_bound.h"
#include "formats/table/endings.h"

namespace btf {
namespace {

struct TensorExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t tensor = 0;
};

// Tensors that share bytes, each with one that it shares them with.
using Overlaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::uint64_t extent_end(const TensorInfo& tensor) {
  return std::max(tensor.end(), tensor.data_offset);
}

// The bytes needed, up to the end of the manifest's entry.
std::optional<std::uint64_t> wanted_bytes(const OpenRequest& request) {
  // Text is read to its end.
  if (request.options.spec && request.options.spec->as_text) return kUnlimited;
  const auto bytes = expected_bytes(request);
  const auto& entry = request.options.entry;
  if (!bytes || !entry || !entry->offset) return bytes;
  return checked_add(*bytes, *entry->offset).value_or(kUnlimited);
}

}  // namespace

struct TensorFile::State {
  std::string path;
  std::string name;  // the base of the names of tensors
  const FormatRow* format = nullptr;
  std::unique_ptr<ByteSource> source;
  std::unique_ptr<TensorReader> reader;
  mutable std::optional<Overlaps> overlaps;  // found at the first question

  // Number of tensors, of those asked for in order, that share nothing with later ones.
  mutable std::uint64_t apart = 0;
  mutable std::optional<bool> ascending;  // record offsets

  Status for_extents(const std::function<void(const TensorExtent&)>& take) const;
  Result<Overlaps> find_overlaps() const;
  bool find_ascending() const;
  bool next_without_overlap(const TensorInfo& tensor) const;
};

bool TensorFile::State::find_ascending() const {
  std::optional<std::uint64_t> last;
  for (std::uint64_t i = 0; i < reader->tensor_count(); ++i) {
    const auto begin = reader->record_offset(i);
    if (!begin || (last && *begin <= *last)) return false;
    last = begin;
  }
  return true;
}

// Is this the next in order, or an earlier one, and does it end before all that follow begin?
bool TensorFile::State::next_without_overlap(const TensorInfo& tensor) const {
  if (tensor.index < apart) return true;
  if (tensor.index > apart) return false;
  if (!ascending) ascending = find_ascending();
  if (!*ascending) return false;
  const bool last = apart + 1 == reader->tensor_count();
  if (!last && extent_end(tensor) > reader->record_offset(apart + 1)) return false;
  ++apart;
  return true;
}

// Only the reader can judge a record that is not sound; trouble with the file is another matter.
Status TensorFile::State::for_extents(const std::function<void(const TensorExtent&)>& take) const {
  for (std::uint64_t i = 0; i < reader->tensor_count(); ++i) {
    const auto info = reader->tensor(i);
    if (info)
      take(TensorExtent{info->record_offset, extent_end(*info), i});
    else if (info.error().finding.empty())
      return std::unexpected(info.error().of_tensor(i));
  }
  return {};
}

Result<Overlaps> TensorFile::State::find_overlaps() const {
  std::uint64_t end = 0;
  bool in_order = true;
  // Ascending records without overlap, the common case, need no list.
  BTF_TRY(for_extents([&](const TensorExtent& extent) {
    in_order = in_order && extent.begin >= end;
    end = std::max(end, extent.end);
  }));
  Overlaps found;
  if (in_order) return found;
  std::vector<TensorExtent> extents;
  BTF_TRY(for_extents([&](const TensorExtent& extent) { extents.push_back(extent); }));
  std::ranges::sort(extents, {}, [](const TensorExtent& e) { return std::pair(e.begin, e.end); });
  TensorExtent widest{};
  for (const TensorExtent& extent : extents) {
    if (extent.begin < widest.end) {
      found.emplace_back(extent.tensor, widest.tensor);
      found.emplace_back(widest.tensor, extent.tensor);
    }
    if (extent.end > widest.end) widest = extent;
  }
  std::ranges::sort(found);
  return found;
}

std::string TensorInfo::unknown_dtype_text() const {
  if (!foreign_reason.empty()) return foreign_reason;
  if (foreign_dtype.empty()) return "unknown dtype code " + std::to_string(dtype_code);
  return "dtype " + foreign_dtype + " is not supported";
}

TensorFile::TensorFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&&) noexcept = default;
TensorFile::~TensorFile() = default;

Result<TensorFile> TensorFile::open(const std::string& path, const OpenOptions& options) {
  return open_content(open_source(path, wanted_bytes({path, options})), path, options);
}

Result<TensorFile> TensorFile::open(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                    const OpenOptions& options) {
  return open_content(unpacked_source(name, std::move(bytes), wanted_bytes({name, options})), name,
                      options);
}

Result<TensorFile> TensorFile::open_content(Result<std::unique_ptr<ByteSource>> source,
                                            const std::string& path, const OpenOptions& options) {
  if (!source) return std::unexpected(source.error().in_file(path));
  auto state = std::make_unique<State>();
  state->path = path;
  state->name = options.name.empty()
                    ? name_in_path(std::string_view(path).substr(path.rfind('/') + 1))
                    : options.name;
  auto content = entry_source(*std::move(source), {path, options});
  if (!content) return std::unexpected(content.error().in_file(path));
  state->source = *std::move(content);
  auto format = recognize_format(*state->source, {path, options});
  if (!format) return std::unexpected(format.error().in_file(path));
  state->format = *format;
  if (options.spec && options.spec->as_text && !state->format->has(kText))
    return std::unexpected(Error{ErrorCode::invalid_argument,
                                 "is " + std::string(state->format->title) + ", its spec '" +
                                     options.spec->text + "' describes text"}
                               .in_file(path));
  auto reader = state->format->open(*state->source, {path, options});
  if (reader) reader = entry_reader(*std::move(reader), {path, options});
  if (!reader) return std::unexpected(reader.error().in_file(path));
  state->reader = *std::move(reader);
  return TensorFile(std::move(state));
}

const std::string& TensorFile::path() const { return state_->path; }
std::string_view TensorFile::format() const { return state_->format->name; }
bool TensorFile::compressed() const { return state_->source->compressed(); }
std::string_view TensorFile::format_title() const { return state_->format->title; }
bool TensorFile::has(FormatTrait trait) const { return state_->format->has(trait); }
std::uint64_t TensorFile::size() const { return state_->source->size(); }
bool TensorFile::more_follows() const { return state_->source->more_follows(); }
std::uint64_t TensorFile::tensor_count() const { return state_->reader->tensor_count(); }
const ByteSource& TensorFile::source() const { return *state_->source; }

bool TensorFile::says_dims() const {
  if (!has(kSaysDims) || !has(kText)) return has(kSaysDims);
  const auto tensor = state_->reader->tensor(0);
  return tensor && tensor->dims.size() != 1;
}

std::vector<std::string> TensorFile::other_files() const {
  // A tensor that cannot be read has none that is of use.
  for (std::uint64_t i = 0; i < tensor_count(); ++i) static_cast<void>(state_->reader->tensor(i));
  return state_->reader->other_files();
}

Status TensorFile::check_unchanged() const {
  BTF_TRY(state_->source->check_unchanged());
  return state_->reader->check_unchanged();
}

Status TensorFile::check_complete() const {
  const Status complete = state_->reader->check_complete();
  return complete ? complete : std::unexpected(complete.error().in_file(path()));
}

Result<const ByteSource*> TensorFile::elements(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto own = state_->reader->elements(index);
  if (!own) return std::unexpected(about(index, own.error()));
  return *own != nullptr ? *own : state_->source.get();
}

Result<std::optional<std::string>> TensorFile::own_name(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto own = state_->reader->name(index);
  if (!own) return std::unexpected(own.error().in_file(path()));
  return own;
}

Result<FileAttributes> TensorFile::attributes() const {
  auto attributes = state_->reader->attributes();
  if (!attributes) return std::unexpected(attributes.error().in_file(path()));
  return attributes;
}

Result<std::string> TensorFile::name(std::uint64_t index) const {
  BTF_ASSIGN(std::optional<std::string> own, own_name(index));
  return own ? *std::move(own) : derived_name(index);
}

std::string TensorFile::derived_name(std::uint64_t index) const {
  return tensor_count() == 1 ? state_->name : state_->name + "#" + std::to_string(index);
}

Error TensorFile::about(std::uint64_t tensor, const Error& error) const {
  return error.of_tensor(tensor).in_file(path());
}

Status TensorFile::check_index(std::uint64_t index) const {
  if (index < tensor_count()) return {};
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "there is no tensor " + std::to_string(index) +
                                             ", the file has " + std::to_string(tensor_count())}
          .in_file(path()));
}

Status TensorFile::name(TensorInfo& tensor, std::uint64_t index) const {
  const auto own = state_->reader->name(index);
  // Damaged names leave tensors usable by their numbers; names that the system cannot read would not
  // be missed.
  if (!own && own.error().code == ErrorCode::io) return std::unexpected(about(index, own.error()));
  tensor.named = own && *own;
  tensor.name = tensor.named ? **own : derived_name(index);
  return {};
}

Result<TensorInfo> TensorFile::tensor(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto info = state_->reader->tensor(index);
  if (!info) return std::unexpected(about(index, info.error()));
  BTF_TRY(name(*info, index));
  return info;
}

Result<std::optional<TensorInfo>> TensorFile::dequantized(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto info = state_->reader->dequantized(index);
  if (!info) return std::unexpected(about(index, info.error()));
  if (*info) BTF_TRY(name(**info, index));
  return info;
}

Status TensorFile::check_overlap(const TensorInfo& tensor) const {
  if (state_->reader->overlap_is_settled() || tensor_count() == 1) return {};
  if (!state_->overlaps && state_->next_without_overlap(tensor)) return {};
  if (!state_->overlaps) {
    auto found = state_->find_overlaps();
    if (!found) return std::unexpected(found.error().in_file(path()));
    state_->overlaps = *std::move(found);
  }
  const auto& overlaps = *state_->overlaps;
  const auto found = std::ranges::lower_bound(overlaps, std::pair(tensor.index, std::uint64_t{0}));
  if (found == overlaps.end() || found->first != tensor.index) return {};
  const auto overlap =
      malformed("records-overlap", tensor.record_offset,
                "the record overlaps that of tensor " + std::to_string(found->second));
  return std::unexpected(about(tensor.index, overlap.error()));
}

}  // namespace btf
