#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/gguf/block_source.h"
#include "formats/gguf/gguf.h"
#include "formats/gguf/header.h"
#include "formats/gguf/metadata.h"
#include "formats/interface/check_tensors.h"
#include "formats/io/swapped_source.h"
#include "formats/json/json_string.h"

namespace btf {
namespace {

class GgufReader final : public TensorReader {
 public:
  GgufReader(const ByteSource& source, GgufHeader header)
      : source_(source), header_(std::move(header)) {}

  std::uint64_t tensor_count() const override { return header_.infos.size(); }
  // One stands behind the other.
  bool overlap_is_settled() const override { return true; }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    return name_at(source_, tensor.name);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    BTF_ASSIGN(attributes.metadata, gguf_metadata(source_, header_));
    for (std::uint64_t i = 0; i < tensor_count(); ++i) {
      BTF_ASSIGN(const GgufTensor tensor, read(i));
      if (!tensor.type->dtype) attributes.tensors[i].dtype_in_source = type_name(tensor);
    }
    return attributes;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    TensorInfo info;
    info.index = index;
    info.record_offset = header_.data_offset + tensor.offset;
    info.data_offset = info.record_offset;
    info.data_bytes = tensor.bytes;
    info.dims = tensor.dims;
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    if (tensor.type->dtype) {
      BTF_TRY(set_dtype(info, *tensor.type->dtype));
      return info;
    }
    info.foreign_dtype = type_name(tensor);
    BTF_ASSIGN(info.foreign_reason, reason(tensor));
    return info;
  }

  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const override {
    BTF_ASSIGN(TensorInfo info, tensor(index));
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    if (!decodes(*tensor.type)) return info;
    info.foreign_dtype.clear();
    info.foreign_reason.clear();
    info.data_offset = 0;
    BTF_TRY(set_dtype(info, DType::float32));
    info.data_bytes = storage_bytes(*info.storage, DType::float32);
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = made_.find(index);
    if (known != made_.end()) return known->second.get();
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    const std::uint64_t first = header_.data_offset + tensor.offset;
    std::unique_ptr<ByteSource> made;
    if (tensor.type->dtype) {
      if (!header_.big_endian || tensor.type->bytes == 1) return nullptr;
      made = swapped_source(source_, first, tensor.type->bytes);
    } else if (decodes(*tensor.type)) {
      made = block_source(source_, first, *element_count(tensor.dims), *tensor.type);
    } else {
      BTF_ASSIGN(std::string why, reason(tensor));
      return fail(ErrorCode::unsupported, std::move(why));
    }
    return made_.emplace(index, std::move(made)).first->second.get();
  }

 private:
  Result<GgufTensor> read(std::uint64_t index) const {
    return read_gguf_tensor(source_, header_, index);
  }

  static Status set_dtype(TensorInfo& info, DType dtype) {
    info.dtype = dtype;
    info.dtype_code = btf::info(dtype).code();
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, dtype));
    return {};
  }

  bool decodes(const GgmlType& type) const {
    return type.decode != nullptr && (type.any_endian || !header_.big_endian);
  }

  static std::string type_name(const GgufTensor& tensor) {
    if (tensor.type != &kUnknownGgmlType) return std::string(tensor.type->name);
    return "ggml type " + std::to_string(tensor.type_code);
  }

  Result<std::string> reason(const GgufTensor& tensor) const {
    BTF_ASSIGN(const std::string name, name_at(source_, tensor.name));
    const std::string is = "'" + json_shown(name) + "' is ";
    const GgmlType& type = *tensor.type;
    if (&type == &kUnknownGgmlType) return is + "of " + unknown_type_text(tensor);
    const std::string blocks = is + std::string(type.name) + ": " + std::to_string(type.elements) +
                               " elements in " + std::to_string(type.bytes) + " bytes";
    if (type.decode == nullptr) return blocks + ", which this tool does not decode";
    if (decodes(type)) return blocks + "; `dequantize` gives float32";
    return blocks + ", whose scales some writers of big-endian files byte-swap and some do not";
  }

  const ByteSource& source_;
  GgufHeader header_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> made_;  // decoded, or turned round
};

Status check_end(const ByteSource& source, const GgufHeader& header) {
  const std::uint64_t size = source.size();
  if (size >= header.data_end && !header.end_known) return {};
  if (size < header.data_end)
    return malformed("data-past-end", size,
                     "the file is cut off: has " + std::to_string(size) + " of " +
                         std::to_string(header.data_end) + " bytes");
  if (size <= header.end && !(source.more_follows() && size == header.end)) return {};
  return malformed("bytes-after-data", header.end,
                   (source.more_follows() ? "more than " : "") + std::to_string(size - header.end) +
                       (size - header.end == 1 ? " byte follows" : " bytes follow") +
                       " after the last tensor, which ends at byte " + std::to_string(header.end) +
                       " with its padding");
}

}  // namespace

Result<bool> recognizes_gguf(const ByteSource& source, const OpenRequest&) {
  std::array<std::byte, sizeof(std::uint64_t)> start{};
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), start.size());
  if (some < kGgufMagic.size()) return false;
  BTF_TRY(source.read_at(0, std::span(start).first(some)));
  if (!std::ranges::equal(std::span(start).first(kGgufMagic.size()),
                          std::as_bytes(std::span(kGgufMagic))))
    return false;
  // A BTF of as many tensors has 9 GB of offsets.
  const auto count = load_little<std::uint64_t>(start.data());
  return count > source.size() / sizeof(std::uint64_t);
}

Result<std::unique_ptr<TensorReader>> open_gguf(const ByteSource& source,
                                                const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is a GGUF file and describes its tensors itself; no spec applies to it");
  BTF_ASSIGN(GgufHeader header, read_gguf_header(source));
  BTF_TRY(check_end(source, header));
  return std::make_unique<GgufReader>(source, std::move(header));
}

// All other errors keep the file from being opened.
Status check_gguf(const TensorFile& file, const FindingSink& report) {
  std::set<std::uint64_t> unknown;  // tensors whose type is an error, and needs no warning too
  BTF_TRY(read_gguf_header(file.source(), [&](const Finding& finding) {
    if (finding.code == "unknown-dtype") unknown.insert(*finding.tensor);
    report(finding);
  }));
  return check_tensors(file, "foreign-dtype", [&](const Finding& finding) {
    if (!finding.tensor || !unknown.contains(*finding.tensor)) report(finding);
  });
}

}  // namespace btf
