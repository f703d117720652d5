#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/decoded/base64.h"
#include "formats/json/canonical_json.h"
#include "formats/json/json_string.h"
#include "formats/npy/nibble_bytes.h"
#include "formats/npy/written.h"
#include "formats/polygraphy/polygraphy.h"

namespace btf {
namespace {

// The text around arrays, as Python's json writes it with an indent of 4. '@' is the name.
struct Frame {
  std::string_view before;
  std::string_view before_array;
  std::string_view behind_array;
  std::string_view between;
  std::string_view behind;
};

constexpr Frame kOutputs{
    R"({
    "lst": [
        [
            "btftool",
            [
                {
                    "outputs": {)",
    R"(
                        @: {
                            "values": {
                                "array": ")",
    R"(",
                                "polygraphy_class": "ndarray"
                            },
                            "polygraphy_class": "LazyNumpyArray"
                        })",
    ",",
    R"(
                    },
                    "runtime": null,
                    "runner_name": "btftool",
                    "polygraphy_class": "IterationResult"
                }
            ]
        ]
    ],
    "polygraphy_class": "RunResults"
})"};

constexpr Frame kInputs{
    R"([
    {)",
    R"(
        @: {
            "array": ")",
    R"(",
            "polygraphy_class": "ndarray"
        })",
    ",",
    R"(
    }
])"};

class PolygraphyWriter final : public TensorWriter {
 public:
  PolygraphyWriter(const Frame& frame, bool as_uint) : frame_(frame), as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    BTF_TRY(check_npy_record(record));
    if (info(record.dtype).npy.empty() && !as_uint_)
      return fail(ErrorCode::unsupported,
                  "JSON of Polygraphy cannot hold " + std::string(info(record.dtype).name) +
                      ", which NumPy lacks; `dtype` float32 works, `as_uint` keeps the bits");
    const std::string& name = record.name;
    const auto quoted = json_quoted(name);
    if (!quoted)
      return fail(ErrorCode::unsupported,
                  "the name '" + json_shown(name) + "' is not UTF-8, as JSON demands");
    if (!names_.insert(name).second)
      return fail(ErrorCode::unsupported, "two tensors have the name '" + json_shown(name) +
                                              "', of which JSON can hold one");
    const Checked bytes = checked_add(npy_header_text(record, as_uint_).size(), data_bytes(record));
    if (!bytes || *bytes > kMostBytes) return too_large();
    const std::string before = before_array(*quoted, names_.size() == 1);
    total_ = checked_add(total_, before.size() + base64_chars(*bytes) + frame_.behind_array.size());
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    const Checked total = checked_add(total_, frame_.before.size() + frame_.behind.size());
    if (!total) return too_large();
    return *total;
  }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return npy_data_bytes(record);
  }

  Status begin(ByteSink& sink) override { return put(sink, frame_.before); }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(put(sink, before_array(*json_quoted(record.name), written_ == 0)));
    ++written_;
    const std::string header = npy_header_text(record, as_uint_);
    bytes_ = header.size() + data_bytes(record);
    text_.emplace(sink, offset_);
    BTF_TRY(text_->write_at(0, std::as_bytes(std::span(header))));
    spread_ = info(record.dtype).bits < 8 ? spread_sink(*text_, header.size(), data_bytes(record))
                                          : nullptr;
    return header.size();
  }

  ByteSink* elements() override { return spread_ ? spread_.get() : &*text_; }

  Status end_record(ByteSink& sink) override {
    BTF_TRY(text_->commit());
    offset_ += base64_chars(bytes_);
    return put(sink, frame_.behind_array);
  }

  Status end(ByteSink& sink) override { return put(sink, frame_.behind); }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

  static std::unexpected<Error> too_large() {
    return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
  }

  std::string before_array(const std::string& quoted, bool first) const {
    std::string text(first ? "" : frame_.between);
    text += frame_.before_array;
    text.replace(text.find('@'), 1, quoted);
    return text;
  }

  Status put(ByteSink& sink, std::string_view text) {
    BTF_TRY(sink.begin_piece(text.size()));
    BTF_TRY(sink.write_at(offset_, std::as_bytes(std::span(text))));
    offset_ += text.size();
    return {};
  }

  const Frame& frame_;
  bool as_uint_;
  std::set<std::string> names_;
  Checked total_ = 0;
  std::uint64_t written_ = 0;  // records
  std::uint64_t offset_ = 0;   // of what comes next
  std::uint64_t bytes_ = 0;    // of the .npy that is written
  std::optional<Base64Sink> text_;
  std::unique_ptr<ByteSink> spread_;  // 4-bit codes, a byte each
};

}  // namespace

std::unique_ptr<TensorWriter> polygraphy_outputs_writer(const WriteRequest& request) {
  return std::make_unique<PolygraphyWriter>(kOutputs, request.as_uint);
}

std::unique_ptr<TensorWriter> polygraphy_inputs_writer(const WriteRequest& request) {
  return std::make_unique<PolygraphyWriter>(kInputs, request.as_uint);
}

}  // namespace btf
