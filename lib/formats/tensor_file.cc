#include <algorithm>
#include <utility>
#include <vector>

#include "btf/file.h"
#include "core/try.h"
#include "formats/format_table.h"

namespace btf {
namespace {

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t tensor = 0;
};

std::uint64_t extent_end(const TensorInfo& tensor) {
  return std::max(tensor.end(), tensor.data_offset);
}

}  // namespace

struct TensorFile::State {
  std::string path;
  const FormatRow* format = nullptr;
  std::unique_ptr<ByteSource> source;
  std::unique_ptr<TensorReader> reader;
  // Tensors that share bytes, each with one that it shares them with; found at the first question.
  mutable std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> overlaps;

  // Of the tensors asked for in order: how many share nothing with those behind them.
  mutable std::uint64_t apart = 0;
  mutable std::optional<bool> ascending;  // record offsets

  void find_overlaps() const;
  bool next_apart(const TensorInfo& tensor) const;
};

// Is this the next in order, or an earlier one, and does it end before all that follow begin?
bool TensorFile::State::next_apart(const TensorInfo& tensor) const {
  if (tensor.index < apart) return true;
  if (tensor.index > apart) return false;
  if (!ascending) {
    ascending = true;
    std::optional<std::uint64_t> last;
    for (std::uint64_t i = 0; *ascending && i < reader->tensor_count(); ++i) {
      const auto begin = reader->record_offset(i);
      ascending = begin && (!last || *begin > *last);
      last = begin;
    }
  }
  if (!*ascending) return false;
  const bool last = apart + 1 == reader->tensor_count();
  if (!last && extent_end(tensor) > reader->record_offset(apart + 1)) return false;
  ++apart;
  return true;
}

void TensorFile::State::find_overlaps() const {
  overlaps.emplace();
  std::vector<Extent> extents;
  std::uint64_t end = 0;
  bool ascending = true;
  const auto visit = [&](auto&& take) {
    for (std::uint64_t i = 0; i < reader->tensor_count(); ++i)
      if (const auto info = reader->tensor(i))
        take(Extent{info->record_offset, extent_end(*info), i});
  };
  // Ascending records without overlap, the common case, need no list.
  visit([&](const Extent& extent) {
    ascending = ascending && extent.begin >= end;
    end = std::max(end, extent.end);
  });
  if (ascending) return;
  visit([&](const Extent& extent) { extents.push_back(extent); });
  std::ranges::sort(extents, {}, [](const Extent& e) { return std::pair(e.begin, e.end); });
  Extent widest{};
  for (const Extent& extent : extents) {
    if (extent.begin < widest.end) {
      overlaps->emplace_back(extent.tensor, widest.tensor);
      overlaps->emplace_back(widest.tensor, extent.tensor);
    }
    if (extent.end > widest.end) widest = extent;
  }
  std::ranges::sort(*overlaps);
}

TensorFile::TensorFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&&) noexcept = default;
TensorFile::~TensorFile() = default;

Result<TensorFile> TensorFile::open(const std::string& path, const OpenOptions& options) {
  auto state = std::make_unique<State>();
  state->path = path;
  auto source = open_source(path, {.header = !options.spec});
  if (!source) return std::unexpected(source.error().in_file(path));
  state->source = *std::move(source);
  state->format = &recognize_format(*state->source, {path, options});
  auto reader = state->format->open(*state->source, {path, options});
  if (!reader) return std::unexpected(reader.error().in_file(path));
  state->reader = *std::move(reader);
  return TensorFile(std::move(state));
}

const std::string& TensorFile::path() const { return state_->path; }
std::string_view TensorFile::format() const { return state_->format->name; }
bool TensorFile::compressed() const { return state_->source->compressed(); }
std::string_view TensorFile::format_title() const { return state_->format->title; }
std::uint64_t TensorFile::size() const { return state_->source->size(); }
std::uint64_t TensorFile::tensor_count() const { return state_->reader->tensor_count(); }
const ByteSource& TensorFile::source() const {
  const ByteSource* elements = state_->reader->elements();
  return elements != nullptr ? *elements : *state_->source;
}

Result<TensorInfo> TensorFile::tensor(std::uint64_t index) const {
  if (index >= tensor_count())
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "there is no tensor " + std::to_string(index) +
                                               ", the file has " + std::to_string(tensor_count())}
            .in_file(path()));
  auto info = state_->reader->tensor(index);
  if (!info)
    return std::unexpected(info.error().within("tensor " + std::to_string(index)).in_file(path()));
  return info;
}

Status TensorFile::check_overlap(const TensorInfo& info) const {
  if (!state_->overlaps && state_->next_apart(info)) return {};
  if (!state_->overlaps) state_->find_overlaps();
  const auto& overlaps = *state_->overlaps;
  const auto found = std::ranges::lower_bound(overlaps, std::pair(info.index, std::uint64_t{0}));
  if (found == overlaps.end() || found->first != info.index) return {};
  return std::unexpected(
      Error{ErrorCode::malformed,
            "the record overlaps that of tensor " + std::to_string(found->second),
            {},
            "records-overlap",
            info.record_offset}
          .within("tensor " + std::to_string(info.index))
          .in_file(path()));
}

}  // namespace btf
