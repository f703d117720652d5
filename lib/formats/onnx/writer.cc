#include <optional>
#include <string>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/utf8.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/types.h"
#include "formats/protobuf/wire.h"

namespace btf {
namespace {

// The longest message that Google's protocol buffers can read.
constexpr std::uint64_t kLargestMessage = INT32_MAX;

void append_tag(std::string& to, std::uint64_t field, ProtoType type) {
  append_varint(to, field << 3 | static_cast<std::uint64_t>(type));
}

// All that stands before the values, as onnx writes it.
std::string onnx_header(const RecordShape& record) {
  std::string text;
  for (const std::uint64_t dim : record.dims) {
    append_tag(text, onnx::tensor::kDims, ProtoType::varint);
    append_varint(text, dim);
  }
  append_tag(text, onnx::tensor::kDataType, ProtoType::varint);
  append_varint(text, onnx_type_of(record.dtype)->number);
  if (record.named && !record.name.empty()) {
    append_tag(text, onnx::tensor::kName, ProtoType::bytes);
    append_varint(text, record.name.size());
    text += record.name;
  }
  append_tag(text, onnx::tensor::kRaw, ProtoType::bytes);
  append_varint(text, record.payload);
  return text;
}

class OnnxWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const auto unsupported = [](std::string message) {
      return fail(ErrorCode::unsupported, std::move(message));
    };
    if (size_)
      return unsupported(
          "an ONNX tensor file (.pb) holds one tensor, the result has more: select one");
    const std::string dtype(info(record.dtype).name);
    if (onnx_type_of(record.dtype) == nullptr) return unsupported("ONNX has no type for " + dtype);
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "an ONNX tensor is row-major: kLINEAR, or the stored array as it is (plain)");
    if (record.named && !is_utf8(record.name))
      return unsupported("its name is not UTF-8, as ONNX demands");
    size_ = checked_add(onnx_header(record).size(), record.payload);
    if (size_ && *size_ <= kLargestMessage) return {};
    return unsupported("an ONNX tensor has at most " + std::to_string(kLargestMessage) +
                       " bytes, this one would have " +
                       (size_ ? std::to_string(*size_) : std::string("more than 2^64")));
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!size_)
      return fail(ErrorCode::unsupported,
                  "an ONNX tensor file (.pb) holds one tensor, there is none");
    return *size_;
  }

  Status begin(ByteSink&) override { return {}; }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = onnx_header(record);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_TRY(sink.write_at(0, std::as_bytes(std::span(header))));
    BTF_TRY(sink.begin_piece(record.payload));
    return header.size();
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  Checked size_;  // of the file, once there is a tensor
};

}  // namespace

std::unique_ptr<TensorWriter> onnx_writer(const WriteRequest&) {
  return std::make_unique<OnnxWriter>();
}

}  // namespace btf
