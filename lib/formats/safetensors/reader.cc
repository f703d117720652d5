#include <algorithm>
#include <array>
#include <string>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/interface/check_tensors.h"
#include "formats/io/compressed_name.h"
#include "formats/io/window_source.h"
#include "formats/json/json_string.h"
#include "formats/safetensors/header.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/types.h"

namespace btf {
namespace {

// For a file without JSON in its header.
Result<bool> could_be_btf(const ByteSource& source) {
  std::array<std::byte, 16> start{};
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), start.size());
  if (some < 8) return false;
  BTF_TRY(source.read_at(0, std::span(start).first(some)));
  const auto count = load_little<std::uint64_t>(start.data());
  const auto first = load_little<std::uint64_t>(start.data() + 8);
  return count <= (source.size() - 8) / 8 && (count == 0 || first <= source.size() - 16);
}

class SafetensorsReader final : public TensorReader {
 public:
  SafetensorsReader(const ByteSource& source, SafetensorsHeader header)
      : source_(source), texts_(source), header_(std::move(header)) {}

  std::uint64_t tensor_count() const override { return header_.entries.size(); }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const SafetensorsEntry& entry = header_.entries[index];
    TensorInfo info;
    info.index = index;
    info.record_offset = header_.data_offset + entry.begin;
    info.data_offset = info.record_offset;
    info.data_bytes = entry.end - entry.begin;
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    BTF_ASSIGN(info.dims, dims_of(entry));
    if (entry.type != kUnknownType) info.dtype = dtype_of(kSafetensorsTypes[entry.type]);
    if (!info.dtype) {
      BTF_ASSIGN(info.foreign_dtype, type_text(entry));
      return info;
    }
    info.dtype_code = btf::info(*info.dtype).code();
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, *info.dtype));
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return safetensors_name(texts_, header_.entries[index]);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    if (!header_.metadata) return attributes;
    JsonOptions options = safetensors_json();
    options.keep = header_.metadata->length;
    JsonReader reader(source_, *header_.metadata, options);
    BTF_TRY(reader.expect(JsonKind::object_begin, kSafetensorsMetadata));
    BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
      std::string& value = attributes.metadata[std::string(name.text)];
      BTF_ASSIGN(const JsonToken text, reader.expect(JsonKind::string, kSafetensorsMetadata));
      value = text.text;
      return {};
    }));
    return attributes;
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return header_.data_offset + header_.entries[index].begin;
  }

  // The header says that none shares bytes with another, or it is refused.
  bool overlap_is_settled() const override { return true; }

 private:
  // Reads the dims again: only their product was kept.
  Result<Dims> dims_of(const SafetensorsEntry& entry) const {
    JsonReader reader(texts_, {entry.shape_at, entry.shape_bytes}, safetensors_json());
    BTF_TRY(reader.expect(JsonKind::array_begin, "the shape"));
    Dims dims;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader.next());
      if (token.kind == JsonKind::array_end) return dims;
      BTF_ASSIGN(const std::uint64_t dim, reader.size_of(token, "a dim"));
      if (dims.size() == kMaxRank)
        return malformed("rank-too-large", entry.shape_at,
                         "the shape has more than " + std::to_string(kMaxRank) + " dims");
      dims.push_back(dim);
    }
  }

  Result<std::string> type_text(const SafetensorsEntry& entry) const {
    if (entry.type != kUnknownType) return std::string(kSafetensorsTypes[entry.type].name);
    const std::uint64_t rest = header_.data_offset - 1 - entry.dtype_at;
    BTF_ASSIGN(const std::string text, json_string_at(texts_, {entry.dtype_at, rest}));
    return json_shown(text);
  }

  const ByteSource& source_;
  WindowSource texts_;  // names and shapes, which are read again and again
  SafetensorsHeader header_;
};

// The data against what there is of them.
Status check_end(const ByteSource& source, const SafetensorsHeader& header) {
  const std::uint64_t data = header.entries.empty() ? 0 : header.entries.back().end;
  const Checked end = checked_add(header.data_offset, data);
  if (!end)
    return malformed("size-overflow", header.data_offset,
                     "the end of " + std::to_string(data) + " bytes of data does not fit 64 bits");
  const std::uint64_t size = source.size();
  if (size < *end)
    return malformed("data-past-end", size,
                     "the file is cut off: has " + std::to_string(size) + " of " +
                         std::to_string(*end) + " bytes");
  if (size == *end && !source.more_follows()) return {};
  return malformed("bytes-after-data", *end,
                   (source.more_follows() ? "more than " : "") + std::to_string(size - *end) +
                       (size - *end == 1 ? " byte follows" : " bytes follow") +
                       " after the last tensor, which ends at byte " + std::to_string(*end));
}

}  // namespace

Result<bool> recognizes_safetensors(const ByteSource& source, const OpenRequest& request) {
  // No more than the first frame of what is compressed.
  const std::uint64_t known = std::min(source.size(), source.read_ahead_end(0));
  std::string start(std::min<std::uint64_t>(kSafetensorsStart, known), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  if (begins_as_safetensors(start)) return true;
  // By its name only where a header may be as long as it says.
  if (!ends_in(content_name(request.path), kSafetensorsEnding)) return false;
  if (start.size() >= kSafetensorsWord && !safetensors_data_offset(start)) return false;
  BTF_ASSIGN(const bool other, could_be_btf(source));
  return !other;
}

Result<std::unique_ptr<TensorReader>> open_safetensors(const ByteSource& source,
                                                       const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is a safetensors file and describes its tensors itself; no spec applies to it");
  BTF_ASSIGN(SafetensorsHeader header, read_safetensors_header(source));
  BTF_TRY(check_end(source, header));
  return std::make_unique<SafetensorsReader>(source, std::move(header));
}

// All other errors keep the file from being opened.
Status check_safetensors(const TensorFile& file, const FindingSink& report) {
  return check_tensors(file, "unknown-dtype", report);
}

}  // namespace btf
