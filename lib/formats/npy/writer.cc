#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/npy/header.h"
#include "formats/npy/nibble_bytes.h"
#include "formats/npy/npy.h"

namespace btf {
namespace {

constexpr std::uint64_t kAlignment = 64;  // of the data, as NumPy has it
constexpr std::uint64_t kGrowth = 21;     // digits that the first dim may come to have
constexpr std::uint64_t kBefore = 10;     // magic, version 1.0, the header's length

// What NumPy has no name for is void of the same width: ml_dtypes' users view() it as what it is.
std::string descr_of(DType dtype, bool as_uint) {
  const DTypeInfo& row = info(dtype);
  const std::size_t width = row.buffer_bytes();
  const std::string type =
      !row.npy.empty() ? std::string(row.npy) : (as_uint ? "u" : "V") + std::to_string(width);
  return (width == 1 ? "|" : "<") + type;
}

// As NumPy writes it, to the byte: with room for the first dim to grow, and never without padding.
std::string header_of(const RecordShape& record, bool as_uint) {
  std::string shape;
  for (const std::uint64_t dim : record.dims)
    shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  if (record.dims.size() == 1) shape += ",";
  std::string text = "{'descr': '" + descr_of(record.dtype, as_uint) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  if (!record.dims.empty())
    text.resize(text.size() + kGrowth - std::to_string(record.dims.front()).size(), ' ');
  const std::uint64_t size = ((kBefore + text.size() + 1) / kAlignment + 1) * kAlignment;
  text.resize(size - kBefore - 1, ' ');
  text += '\n';
  std::string header(kNpyMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

class NpyWriter final : public TensorWriter {
 public:
  explicit NpyWriter(bool as_uint) : as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    if (size_)
      return fail(ErrorCode::unsupported,
                  "a .npy file holds one tensor, the result has more: select one");
    if (record.layout_code != spec(Layout::linear).code())
      return fail(
          ErrorCode::unsupported,
          "a .npy file holds row-major arrays: kLINEAR, or the stored array as it is (plain)");
    size_ = checked_add(header_of(record, as_uint_).size(), data_bytes(record));
    if (!size_) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!size_) return fail(ErrorCode::unsupported, "a .npy file holds one tensor, there is none");
    return *size_;
  }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return info(record.dtype).bits < 8 ? *element_count(record.dims) : record.payload;
  }

  Status begin(ByteSink&) override { return {}; }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = header_of(record, as_uint_);
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
