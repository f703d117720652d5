#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/little_endian.h"
#include "formats/json/canonical_json.h"
#include "formats/json/json_string.h"
#include "formats/safetensors/header.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/types.h"

namespace btf {
namespace {

// The metadata that the reference always writes; some readers refuse a file without it.
constexpr const char* kFormat = "format";
constexpr std::string_view kFormatOfPyTorch = "pt";

std::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message));
}

class SafetensorsWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const DTypeInfo& dtype = info(record.dtype);
    const auto type = safetensors_type_of(record.dtype);
    if (!type) return unsupported("safetensors has no type for " + std::string(dtype.name));
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "a safetensors file holds row-major tensors: kLINEAR, or the stored array as it is "
          "(plain)");
    const std::uint64_t elements = *element_count(record.dims);
    if (dtype.bits < 8 && elements % 2 != 0)
      return unsupported(std::to_string(elements) + " elements of " + std::string(dtype.name) +
                         " do not fill whole bytes, as safetensors demands");
    std::string name = record.name;
    if (name.empty() && !record.named) name = "tensor_" + std::to_string(tensors_.size());
    auto quoted = json_quoted(name);
    if (!quoted)
      return unsupported("the name '" + json_shown(name) +
                         "' is not UTF-8, as safetensors demands");
    if (name == kSafetensorsMetadata)
      return unsupported("a tensor of a safetensors file cannot be called '" + name + "'");
    tensors_.push_back({*type, std::move(name), *std::move(quoted), record.dims, record.payload});
    return {};
  }

  void describe(const FileAttributes& attributes) override { metadata_ = attributes.metadata; }

  // As the reference writes them: the wider types first, so that all are aligned, and by name.
  std::vector<std::size_t> own_order() const override {
    std::vector<std::size_t> order(tensors_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::tie(tensors_[b].type, tensors_[a].name) <
             std::tie(tensors_[a].type, tensors_[b].name);
    });
    return order;
  }

  Result<std::uint64_t> total_bytes() const override {
    BTF_ASSIGN(const std::string text, header());
    Checked total = text.size();
    for (const Tensor& tensor : tensors_) total = checked_add(total, tensor.bytes);
    if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *total;
  }

  Status begin(ByteSink& sink) override {
    BTF_ASSIGN(const std::string text, header());
    offset_ = text.size();
    BTF_TRY(sink.begin_piece(text.size()));
    return sink.write_at(0, std::as_bytes(std::span(text)));
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(sink.begin_piece(record.payload));
    return std::exchange(offset_, offset_ + record.payload);
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  struct Tensor {
    std::uint8_t type = 0;
    std::string name;
    std::string quoted;
    Dims dims;
    std::uint64_t bytes = 0;
  };

  Status check_names() const {
    std::vector<std::string_view> names;
    for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice == names.end()) return {};
    return unsupported("two tensors have the name '" + json_shown(*twice) +
                       "', of which a safetensors file can hold one");
  }

  // With its length in front, and spaces behind it up to a multiple of 8.
  Result<std::string> header() const {
    BTF_TRY(check_names());
    std::string text(kSafetensorsWord, '\0');
    JsonObject metadata;
    metadata.text(kFormat, kFormatOfPyTorch);
    for (const auto& [key, value] : metadata_) metadata.text(key, value);
    text.append("{").append(*json_quoted(kSafetensorsMetadata)).append(":" + metadata.take());
    Checked end = 0;
    for (const std::size_t i : own_order()) {
      const Tensor& tensor = tensors_[i];
      text += "," + tensor.quoted + R"(:{"dtype":")";
      text += kSafetensorsTypes[tensor.type].name;
      text += R"(","shape":[)";
      for (std::size_t d = 0; d < tensor.dims.size(); ++d)
        text += (d == 0 ? "" : ",") + std::to_string(tensor.dims[d]);
      text += R"(],"data_offsets":[)" + std::to_string(*end) + ",";
      end = checked_add(end, tensor.bytes);
      if (!end) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
      text += std::to_string(*end) + "]}";
    }
    text += "}";
    text.resize(*round_up(text.size(), kSafetensorsWord), ' ');
    const std::uint64_t bytes = text.size() - kSafetensorsWord;
    if (bytes > kLongestSafetensorsHeader)
      return unsupported("the header would have " + std::to_string(bytes) +
                         " bytes; a safetensors file has one of at most " +
                         std::to_string(kLongestSafetensorsHeader));
    store_little(std::as_writable_bytes(std::span(text)).data(), bytes);
    return text;
  }

  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::uint64_t offset_ = 0;  // of the next record
};

}  // namespace

std::unique_ptr<TensorWriter> safetensors_writer(const WriteRequest&) {
  return std::make_unique<SafetensorsWriter>();
}

}  // namespace btf
