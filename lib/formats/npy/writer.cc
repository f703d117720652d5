#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/npy/nibble_bytes.h"
#include "formats/npy/npy.h"
#include "formats/npy/written.h"

namespace btf {
namespace {

class NpyWriter final : public TensorWriter {
 public:
  explicit NpyWriter(bool as_uint) : as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    if (size_)
      return fail(ErrorCode::unsupported,
                  "a .npy file holds one tensor, the result has more: select one");
    BTF_TRY(check_npy_record(record));
    size_ = checked_add(npy_header_text(record, as_uint_).size(), data_bytes(record));
    if (!size_) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!size_) return fail(ErrorCode::unsupported, "a .npy file holds one tensor, there is none");
    return *size_;
  }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return npy_data_bytes(record);
  }

  Status begin(ByteSink&) override { return {}; }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = npy_header_text(record, as_uint_);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_TRY(sink.write_at(0, std::as_bytes(std::span(header))));
    BTF_TRY(sink.begin_piece(data_bytes(record)));
    if (info(record.dtype).bits < 8)
      elements_ = spread_sink(sink, header.size(), data_bytes(record));
    return header.size();
  }

  ByteSink* elements() override { return elements_.get(); }

  Status end_record(ByteSink&) override { return {}; }

 private:
  bool as_uint_;
  Checked size_;  // of the file, once there is a tensor
  std::unique_ptr<ByteSink> elements_;
};

}  // namespace

std::unique_ptr<TensorWriter> npy_writer(const WriteRequest& request) {
  return std::make_unique<NpyWriter>(request.as_uint);
}

}  // namespace btf
