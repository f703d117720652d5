#include "formats/npy_writer.h"

#include <algorithm>
#include <array>
#include <string>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/npy.h"

namespace btf {
namespace {

constexpr std::uint64_t kBlock = 4096;  // codes

std::string hex(std::byte byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = std::to_integer<std::size_t>(byte);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 0xf]};
}

class PackedSource final : public ByteSource {
 public:
  PackedSource(const ByteSource& source, std::uint64_t first, std::uint64_t count, DType dtype)
      : source_(source),
        first_(first),
        count_(count),
        row_(info(dtype)),
        extended_(row_.kind == NumberKind::signed_integer ? 0xf8 : 0x100) {}

  std::uint64_t size() const override { return first_ + ceil_div(count_, 2); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of the elements");
    if (offset < first_) {
      const std::uint64_t before = std::min<std::uint64_t>(out.size(), first_ - offset);
      BTF_TRY(source_.read_at(offset, out.first(before)));
      out = out.subspan(before);
      offset += before;
    }
    std::array<std::byte, kBlock> codes{};
    for (std::uint64_t code = (offset - first_) * 2; !out.empty(); code += kBlock) {
      const std::uint64_t bytes = std::min<std::uint64_t>(kBlock / 2, out.size());
      const std::uint64_t some = std::min(bytes * 2, count_ - code);
      BTF_TRY(source_.read_at(first_ + code, std::span(codes).first(some)));
      BTF_TRY(check(std::span(codes).first(some), first_ + code));
      if (some % 2 != 0) codes[some] = std::byte{};
      for (std::uint64_t i = 0; i < bytes; ++i)
        out[i] = (codes[2 * i] & std::byte{0xf}) | codes[2 * i + 1] << 4;
      out = out.subspan(bytes);
    }
    return {};
  }

 private:
  // True for bytes other than 0 to 15 and, for a signed type, sign-extended negative codes.
  bool odd(std::byte byte) const {
    const auto value = std::to_integer<unsigned>(byte);
    return value > 0xf && value < extended_;
  }

  Status check(std::span<const std::byte> codes, std::uint64_t offset) const {
    bool any = false;
    for (const std::byte byte : codes) any |= odd(byte);
    if (!any) return {};
    const auto found = std::ranges::find_if(codes, [this](std::byte b) { return odd(b); });
    const std::uint64_t at = offset + static_cast<std::uint64_t>(found - codes.begin());
    return malformed("nibble-byte", at, hex(*found), " at byte ", at, " is not ", row_.name,
                     ": each has a byte of its own here, 0x00 to 0x0f",
                     extended_ <= 0xff ? " or, with its sign, 0xf8 to 0xff" : "",
                     "; two in a byte are raw bytes, from byte ", first_,
                     " on, and need a spec such as ", row_.name, ":DIMS");
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t count_;
  const DTypeInfo& row_;
  unsigned extended_;  // bytes from here on are sign-extended codes
};

class SpreadSink final : public ByteSink {
 public:
  SpreadSink(ByteSink& sink, std::uint64_t first, std::uint64_t count)
      : sink_(sink), first_(first), count_(count) {}

  bool random_access() const override { return sink_.random_access(); }
  Status commit() override { return {}; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::array<std::byte, kBlock> codes{};
    for (std::uint64_t code = (offset - first_) * 2; !bytes.empty(); code += kBlock) {
      const std::uint64_t some = std::min<std::uint64_t>(kBlock / 2, bytes.size());
      for (std::uint64_t i = 0; i < some; ++i) {
        codes[2 * i] = bytes[i] & std::byte{0xf};
        codes[2 * i + 1] = bytes[i] >> 4;
      }
      // The last byte may hold a single code.
      BTF_TRY(
          sink_.write_at(first_ + code, std::span(codes).first(std::min(some * 2, count_ - code))));
      bytes = bytes.subspan(some);
    }
    return {};
  }

 private:
  ByteSink& sink_;
  std::uint64_t first_;
  std::uint64_t count_;
};

}  // namespace

std::unique_ptr<ByteSource> packed_source(const ByteSource& source, std::uint64_t first,
                                          std::uint64_t count, DType dtype) {
  return std::make_unique<PackedSource>(source, first, count, dtype);
}

std::unique_ptr<ByteSink> spread_sink(ByteSink& sink, std::uint64_t first, std::uint64_t count) {
  return std::make_unique<SpreadSink>(sink, first, count);
}

namespace {

constexpr std::uint64_t kAlignment = 64;  // of the data, as NumPy aligns it
constexpr std::uint64_t kGrowth = 21;     // digits reserved for the first dim to grow
constexpr std::uint64_t kBefore = 10;     // magic, version 1.0, the header's length

// dtypes that NumPy lacks get the names that ml_dtypes registers. numpy.save() writes such arrays
// as void, which could not be read back.
std::string descr_of(DType dtype, bool as_uint) {
  const DTypeInfo& row = info(dtype);
  if (row.npy.empty() && !as_uint) return std::string(row.name);
  const std::size_t width = row.buffer_bytes();
  const std::string type = !row.npy.empty() ? std::string(row.npy) : concat("u", width);
  return (width == 1 ? "|" : "<") + type;
}

}  // namespace

Status check_npy_record(const RecordShape& record) {
  if (record.layout_code == spec(Layout::linear).code()) return {};
  return fail(ErrorCode::unsupported,
              "a .npy file holds row-major arrays: kLINEAR, or the stored array as it is (plain)");
}

// Leaves room for the first dim to grow, and always has padding.
std::string npy_header_text(const RecordShape& record, bool as_uint) {
  std::string shape;
  for (const std::uint64_t dim : record.dims) shape += concat(shape.empty() ? "" : ", ", dim);
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

std::uint64_t npy_data_bytes(const RecordShape& record) {
  return info(record.dtype).half_byte() ? *element_count(record.dims) : record.payload;
}

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
    if (info(record.dtype).half_byte())
      elements_ = spread_sink(sink, header.size(), data_bytes(record));
    return header.size();
  }

  ByteSink* elements() override { return elements_.get(); }

  Status end_record(ByteSink&) override { return {}; }

 private:
  bool as_uint_;
  Checked size_;  // size of the file, once there is a tensor
  std::unique_ptr<ByteSink> elements_;
};

}  // namespace

std::unique_ptr<TensorWriter> npy_writer(const WriteRequest& request) {
  return std::make_unique<NpyWriter>(request.as_uint);
}

}  // namespace btf
