#include <set>
#include <string>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/little_endian.h"
#include "core/utf8.h"
#include "formats/json/json_string.h"
#include "formats/tvm/header.h"
#include "formats/tvm/tvm.h"

namespace btf {
namespace {

std::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message));
}

class Bytes {
 public:
  template <typename Unsigned>
  void put(Unsigned value) {
    bytes_.resize(bytes_.size() + sizeof(Unsigned));
    store_little(bytes_.data() + bytes_.size() - sizeof(Unsigned), value);
  }
  void put(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class TvmWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    if (info(record.dtype).bits < 8)
      return unsupported(
          std::string(info(record.dtype).name) +
          " is not written: in such a file an element takes a byte, and TVM 0.27 reads beyond the "
          "end of a buffer of half the size; `dtype` int8 and the like are safe");
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "a file of TVM's parameters holds row-major tensors: kLINEAR, or the stored array as it "
          "is (plain)");
    std::string name = record.name;
    if (name.empty() && !record.named) name = "tensor_" + std::to_string(names_.size());
    if (!is_utf8(name))
      return unsupported("the name '" + json_shown(name) + "' is not UTF-8, as TVM demands");
    if (name.size() > kLongestTvmName)
      return unsupported("a name of " + std::to_string(name.size()) + " bytes; at most " +
                         std::to_string(kLongestTvmName) + " are written");
    if (!known_.insert(name).second)
      return unsupported("two tensors have the name '" + json_shown(name) +
                         "', of which a file of TVM's parameters can hold one");
    if (names_.size() == kMostTvmTensors)
      return unsupported("a file of TVM's parameters is written with at most " +
                         std::to_string(kMostTvmTensors) + " tensors");
    head_ = checked_add(head_, sizeof(std::uint64_t) + name.size());
    total_ = checked_add(total_, header(record).all().size());
    total_ = checked_add(total_, record.payload);
    names_.push_back(std::move(name));
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    const Checked total = checked_add(head_, total_);
    if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *total;
  }

  Status begin(ByteSink& sink) override {
    Bytes head;
    head.put(kTvmMagic);
    head.put(std::uint64_t{0});
    head.put(std::uint64_t{names_.size()});
    for (const std::string& name : names_) {
      head.put(std::uint64_t{name.size()});
      head.put(std::string_view(name));
    }
    head.put(std::uint64_t{names_.size()});
    return write(sink, head);
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(write(sink, header(record)));
    BTF_TRY(sink.begin_piece(record.payload));
    return std::exchange(offset_, offset_ + record.payload);
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  Bytes header(const RecordShape& record) const {
    const DTypeInfo& type = info(record.dtype);
    Bytes bytes;
    bytes.put(kTvmTensorMagic);
    bytes.put(std::uint64_t{0});
    bytes.put(static_cast<std::uint32_t>(dlpack::kDLCPU));
    bytes.put(std::uint32_t{0});
    bytes.put(static_cast<std::uint32_t>(record.dims.size()));
    bytes.put(type.dlpack);
    bytes.put(type.bits);
    bytes.put(std::uint16_t{1});  // lane
    for (const std::uint64_t dim : record.dims) bytes.put(dim);
    bytes.put(record.payload);
    return bytes;
  }

  Status write(ByteSink& sink, const Bytes& bytes) {
    BTF_TRY(sink.begin_piece(bytes.all().size()));
    return sink.write_at(std::exchange(offset_, offset_ + bytes.all().size()), bytes.all());
  }

  std::vector<std::string> names_;
  std::set<std::string> known_;
  Checked head_ = kTvmFileHeader + sizeof(std::uint64_t);
  Checked total_ = std::uint64_t{0};  // of the tensors
  std::uint64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<TensorWriter> tvm_writer(const WriteRequest&) {
  return std::make_unique<TvmWriter>();
}

}  // namespace btf
