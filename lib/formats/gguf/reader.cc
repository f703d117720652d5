#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/little_endian.h"
#include "formats/gguf/block_source.h"
#include "formats/gguf/gguf.h"
#include "formats/gguf/header.h"
#include "formats/gguf/metadata.h"
#include "formats/interface/check_tensors.h"
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
      if (!tensor.type->dtype) attributes.tensors[i].dtype_in_source = tensor.type->name;
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
    info.foreign_dtype = tensor.type->name;
    BTF_ASSIGN(info.foreign_reason, reason(tensor));
    return info;
  }

  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const override {
    BTF_ASSIGN(TensorInfo info, tensor(index));
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    if (tensor.type->decode == nullptr) return info;
    info.foreign_dtype.clear();
    info.foreign_reason.clear();
    info.data_offset = 0;
    BTF_TRY(set_dtype(info, DType::float32));
    info.data_bytes = storage_bytes(*info.storage, DType::float32);
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = decoded_.find(index);
    if (known != decoded_.end()) return known->second.get();
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    if (tensor.type->dtype) return nullptr;
    if (tensor.type->decode == nullptr) {
      BTF_ASSIGN(std::string why, reason(tensor));
      return fail(ErrorCode::unsupported, std::move(why));
    }
    auto decoded = block_source(source_, header_.data_offset + tensor.offset,
                                *element_count(tensor.dims), *tensor.type);
    return decoded_.emplace(index, std::move(decoded)).first->second.get();
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

  Result<std::string> reason(const GgufTensor& tensor) const {
    BTF_ASSIGN(const std::string name, name_at(source_, tensor.name));
    const GgmlType& type = *tensor.type;
    return "'" + json_shown(name) + "' is " + std::string(type.name) + ": " +
           std::to_string(type.elements) + " elements in " + std::to_string(type.bytes) + " bytes" +
           (type.decode != nullptr ? "; --dequantize gives float32"
                                   : ", which this tool does not decode");
  }

  const ByteSource& source_;
  GgufHeader header_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> decoded_;
};

Status check_end(const ByteSource& source, const GgufHeader& header) {
  const std::uint64_t size = source.size();
  if (size < header.data_end)
    return malformed("data-past-end", size,
                     "the file is cut off: has " + std::to_string(size) + " of " +
                         std::to_string(header.data_end) + " bytes");
  if (size <= header.end && !(source.goes_on() && size == header.end)) return {};
  return malformed("bytes-after-data", header.end,
                   (source.goes_on() ? "more than " : "") + std::to_string(size - header.end) +
                       (size - header.end == 1 ? " byte follows" : " bytes follow") +
                       " behind the last tensor, which ends at byte " + std::to_string(header.end) +
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
                "is a GGUF file and says itself what it holds, so no spec goes with it");
  BTF_ASSIGN(GgufHeader header, read_gguf_header(source));
  BTF_TRY(check_end(source, header));
  return std::make_unique<GgufReader>(source, std::move(header));
}

// What else could be wrong keeps the file from being opened.
Status check_gguf(const TensorFile& file, const FindingSink& report) {
  return check_tensors(file, "foreign-dtype", report);
}

}  // namespace btf
