#include "formats/entry_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/find_format.h"
#include "formats/io/piecewise_source.h"

namespace btf {
namespace {

class EntryReader final : public TensorReader {
 public:
  EntryReader(std::unique_ptr<TensorReader> reader, FileEntry entry,
              std::optional<std::uint64_t> only)
      : reader_(std::move(reader)), entry_(std::move(entry)), only_(only) {}

  std::uint64_t tensor_count() const override { return only_ ? 1 : reader_->tensor_count(); }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(TensorInfo info, reader_->tensor(own(index)));
    info.index = index;
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    if (entry_.name) return entry_.name;
    return reader_->name(own(index));
  }

  Result<FileAttributes> attributes() const override {
    BTF_ASSIGN(FileAttributes all, reader_->attributes());
    if (only_) {
      auto of_it = all.tensors.extract(*only_);
      all.tensors.clear();
      // Its scales are other tensors of the file.
      if (of_it) of_it.mapped().quantized.reset();
      if (of_it) all.tensors.emplace(0, std::move(of_it.mapped()));
    }
    if (entry_.order) all.tensors[0].order = entry_.order;
    if (!entry_.role.empty()) all.tensors[0].role = entry_.role;
    return all;
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return reader_->record_offset(own(index));
  }
  bool overlap_is_settled() const override { return only_ || reader_->overlap_is_settled(); }
  Result<const ByteSource*> elements(std::uint64_t index) const override {
    return reader_->elements(own(index));
  }
  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const override {
    BTF_ASSIGN(std::optional<TensorInfo> info, reader_->dequantized(own(index)));
    if (info) info->index = index;
    return info;
  }
  // A manifest's entry may be part of a file, so the rest need not be complete.
  Status check_complete() const override { return only_ ? Status() : reader_->check_complete(); }
  Status check_unchanged() const override { return reader_->check_unchanged(); }

 private:
  std::uint64_t own(std::uint64_t index) const { return only_.value_or(index); }

  std::unique_ptr<TensorReader> reader_;
  FileEntry entry_;
  std::optional<std::uint64_t> only_;
};

Result<std::uint64_t> find_tensor(const TensorReader& reader, const std::string& wanted) {
  for (std::uint64_t i = 0; i < reader.tensor_count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, reader.name(i));
    if (name == wanted) return i;
  }
  return fail(ErrorCode::invalid_argument, "has no tensor '" + wanted + "'");
}

std::string count_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " tensor" : " tensors");
}

}  // namespace

Result<std::unique_ptr<ByteSource>> entry_source(std::unique_ptr<ByteSource> source,
                                                 const OpenRequest& request) {
  const auto& entry = request.options.entry;
  if (!entry || !entry->offset) return source;
  const std::uint64_t begin = *entry->offset;
  const std::uint64_t wanted = expected_bytes(request).value_or(0);
  if (!fits(begin, wanted, source->size()))
    return malformed("raw-size", std::min(begin, source->size()),
                     std::to_string(wanted) + " bytes were expected from byte " +
                         std::to_string(begin) + " on, the file has " +
                         std::to_string(source->size()));
  std::vector<Piece> pieces;
  if (wanted > 0)
    pieces.push_back({.begin = 0, .length = wanted, .source = std::move(source), .offset = begin});
  return piecewise_source(std::move(pieces));
}

Result<std::unique_ptr<TensorReader>> entry_reader(std::unique_ptr<TensorReader> reader,
                                                   const OpenRequest& request) {
  const auto& entry = request.options.entry;
  if (!entry) return reader;
  const std::uint64_t count = reader->tensor_count();
  std::optional<std::uint64_t> only = entry->tensor_number;
  if (entry->tensor_name) {
    BTF_ASSIGN(only, find_tensor(*reader, *entry->tensor_name));
  }
  if (only && *only >= count)
    return fail(ErrorCode::invalid_argument, "there is no tensor " + std::to_string(*only) +
                                                 ", the file has " + std::to_string(count));
  if (!only && count != 1 && (entry->name || entry->order))
    return fail(ErrorCode::invalid_argument,
                "has " + count_text(count) + ", and the manifest does not say which one it names");
  return std::make_unique<EntryReader>(std::move(reader), *entry, only);
}

}  // namespace btf
