// A text format that only this test knows: one folder and one row. The library with it stands in
// for libbtf (run.sh).
//
//   FILE = "toy " TYPE:LAYOUT:DIMS "\n", two hexadecimal digits for each byte of the elements, "\n"
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "formats/decoded_cache.h"
#include "formats/format.h"
#include "formats/format_table.h"

namespace btf {
namespace {

constexpr std::string_view kMagic = "toy ";
constexpr std::string_view kDigits = "0123456789abcdef";

Result<std::string> text_at(const ByteSource& source, std::uint64_t begin, std::uint64_t most) {
  std::string text(std::min(most, source.size() - begin), '\0');
  BTF_TRY(source.read_at(begin, std::as_writable_bytes(std::span(text))));
  return text;
}

class ToyReader final : public TensorReader {
 public:
  ToyReader(const ByteSource& source, std::uint64_t text_at, TensorInfo info)
      : info_(std::move(info)),
        elements_(contents_.source(0, info_.data_bytes, source,
                                   [&source, text_at, bytes = info_.data_bytes] {
                                     return decode(source, text_at, bytes);
                                   })) {}

  std::uint64_t tensor_count() const override { return 1; }
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }
  Result<const ByteSource*> elements(std::uint64_t) const override { return elements_.get(); }

 private:
  static Result<Spool> decode(const ByteSource& source, std::uint64_t begin, std::uint64_t bytes) {
    BTF_ASSIGN(const std::string text, text_at(source, begin, 2 * bytes));
    std::vector<std::byte> found;
    for (std::size_t i = 0; i < text.size(); i += 2) {
      const std::size_t high = kDigits.find(text[i]);
      const std::size_t low = kDigits.find(text[i + 1]);
      if (high == kDigits.npos || low == kDigits.npos)
        return malformed("text-value", begin + i, "'" + text.substr(i, 2) + "' is no byte");
      found.push_back(static_cast<std::byte>(high << 4 | low));
    }
    Spool spool = Spool::in_memory();
    BTF_TRY(spool.append(found));
    return spool;
  }

  TensorInfo info_;
  DecodedCache contents_;
  std::unique_ptr<ByteSource> elements_;
};

Result<bool> recognizes_toy(const ByteSource& source, const OpenRequest&) {
  BTF_ASSIGN(const std::string start, text_at(source, 0, kMagic.size()));
  return start == kMagic;
}

Result<std::unique_ptr<TensorReader>> open_toy(const ByteSource& source, const OpenRequest&) {
  constexpr std::uint64_t kLongestLine = 256;
  BTF_ASSIGN(const std::string start, text_at(source, 0, kLongestLine));
  const std::size_t line = start.find('\n');
  if (line == start.npos) return malformed("text-count", 0, "its first line has no end");
  BTF_ASSIGN(const TensorSpec spec,
             parse_tensor_spec(start.substr(kMagic.size(), line - kMagic.size())));
  if (!spec.storage) return malformed("text-count", 0, "its first line says no dims");
  TensorInfo info;
  info.dtype = spec.dtype;
  info.dtype_code = btf::info(spec.dtype).code();
  info.layout = spec.layout;
  info.layout_code = btf::spec(spec.layout).code();
  info.dims = spec.storage->dims;
  info.storage = spec.storage;
  info.data_bytes = storage_bytes(*info.storage, spec.dtype);
  if (source.size() - line - 1 < 2 * info.data_bytes)
    return malformed("data-past-end", line + 1,
                     std::to_string(2 * info.data_bytes) + " digits are needed, there are " +
                         std::to_string(source.size() - line - 1));
  return std::make_unique<ToyReader>(source, line + 1, std::move(info));
}

Status check_toy(const TensorFile& file, const FindingSink& report) {
  return check_elements(file, report);
}

class HexSink final : public ByteSink {
 public:
  HexSink(ByteSink& sink, std::uint64_t begin) : sink_(sink), begin_(begin) {}
  bool random_access() const override { return sink_.random_access(); }
  Status commit() override { return {}; }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::string text;
    for (const std::byte byte : bytes) {
      text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
      text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return sink_.write_at(begin_ + 2 * (offset - begin_), std::as_bytes(std::span(text)));
  }

 private:
  ByteSink& sink_;
  std::uint64_t begin_;
};

class ToyWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    if (!line_.empty()) return fail(ErrorCode::unsupported, "a toy holds one tensor");
    line_ = std::string(kMagic) + spec_text(info(record.dtype).dtype, Layout::linear, record.dims) +
            "\n";
    bytes_ = record.payload;
    return {};
  }
  Result<std::uint64_t> total_bytes() const override { return line_.size() + 2 * bytes_ + 1; }
  std::uint64_t data_bytes(const RecordShape& record) const override { return 2 * record.payload; }
  Status begin(ByteSink&) override { return {}; }
  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape&) override {
    BTF_TRY(sink.write_at(0, std::as_bytes(std::span(line_))));
    elements_ = std::make_unique<HexSink>(sink, line_.size());
    return line_.size();
  }
  ByteSink* elements() override { return elements_.get(); }
  Status end_record(ByteSink& sink) override {
    return sink.write_at(line_.size() + 2 * bytes_, std::as_bytes(std::span("\n", 1)));
  }

 private:
  std::string line_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<ByteSink> elements_;
};

std::unique_ptr<TensorWriter> toy_writer(const WriteRequest&) {
  return std::make_unique<ToyWriter>();
}

constexpr FormatRow kToy{.name = "toy",
                         .title = "toy text",
                         .traits = kSingle | kRowMajorOnly,
                         .endings = {{{".toy", "a toy"}}},
                         .recognizes = recognizes_toy,
                         .open = open_toy,
                         .check = check_toy,
                         .writer = toy_writer};

// Before the others, of which the last takes whatever is left.
struct WithToy {
  WithToy() {
    rows.insert(rows.end(), formats().begin(), formats().end());
    replace_formats(rows);
  }
  std::vector<FormatRow> rows{kToy};
};

const WithToy with_toy;

}  // namespace
}  // namespace btf
