#include "formats/zip/writer.h"

#include <memory>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/npy/nibble_bytes.h"
#include "formats/npy/written.h"
#include "formats/npz/members.h"
#include "formats/npz/npz.h"

namespace btf {
namespace {

class NpzWriter final : public TensorWriter {
 public:
  explicit NpzWriter(bool as_uint) : as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    BTF_TRY(check_npy_record(record));
    const Checked size = checked_add(npy_header_text(record, as_uint_).size(), data_bytes(record));
    if (!size) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    // As NumPy calls what was given without a name.
    const std::string name = record.name.empty() ? "arr_" + std::to_string(count_) : record.name;
    ++count_;
    return zip_.announce(name + std::string(kNpyEnding), *size);
  }

  Result<std::uint64_t> total_bytes() const override { return zip_.total_bytes(); }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return npy_data_bytes(record);
  }

  Status begin(ByteSink& sink) override {
    zip_.begin(sink);
    return {};
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = npy_header_text(record, as_uint_);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_ASSIGN(const std::uint64_t begin, zip_.begin_member(sink));
    BTF_TRY(zip_.content().write_at(begin, std::as_bytes(std::span(header))));
    BTF_TRY(sink.begin_piece(data_bytes(record)));
    const std::uint64_t data = begin + header.size();
    spread_ = info(record.dtype).bits < 8 ? spread_sink(zip_.content(), data, data_bytes(record))
                                          : nullptr;
    return data;
  }

  ByteSink* elements() override { return spread_ ? spread_.get() : &zip_.content(); }

  Status end_record(ByteSink& sink) override { return zip_.end_member(sink); }

  Status end(ByteSink& sink) override { return zip_.end(sink); }

 private:
  bool as_uint_;
  std::uint64_t count_ = 0;
  ZipWriter zip_;
  std::unique_ptr<ByteSink> spread_;  // 4-bit codes, a byte each
};

}  // namespace

std::unique_ptr<TensorWriter> npz_writer(const WriteRequest& request) {
  return std::make_unique<NpzWriter>(request.as_uint);
}

}  // namespace btf
