// Reads what trtexec --exportOutput writes. It is not quite JSON: names are not escaped, and NaN
// and Inf are written without quotes.
//
//   [
//     { "name" : "prob"
//     , "dimensions" : "1x3x2"
//     , "values" : [ 0.5, nan, -inf ]
//     }
//   , ..
//   ]
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/json.h"
#include "formats/readers.h"
#include "formats/text_codes.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

constexpr std::string_view kTrtexecSpaces = " \t\r\n";  // allowed between the parts of the text

struct TrtexecOutput {
  std::uint64_t begin = 0;  // of the brace
  std::uint64_t end = 0;    // after the closing brace
  std::string name;
  Dims dims;
  std::string open_dims{};       // as written, if some are unknown
  std::uint64_t values_at = 0;   // after the bracket and after a line with the final shape
  std::uint64_t values_end = 0;  // of the closing bracket
  std::uint64_t count = 0;       // number of values
};

// Reads the values of one output.

constexpr std::string_view kDimensions = "\"dimensions\"";
constexpr std::uint64_t kLongestTensorName = 65535;
constexpr std::uint64_t kLongestDims = 8192;

bool is_space(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kTrtexecSpaces), text.size()));
  return text;
}

struct TextDims {
  Dims dims;
  bool open = false;  // contains -1 for a dim that depends on data
};

// "1x3x2", empty for a scalar, or "(1, 3)", depending on the version.
std::optional<TextDims> dims_in(std::string_view text) {
  TextDims found;
  Dims& dims = found.dims;
  const bool listed = text.starts_with('(') && text.ends_with(')');
  if (listed) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    std::uint64_t dim = 0;
    const bool open = text.starts_with('-');
    if (open) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc{} || dims.size() == kMaxRank || (open && dim != 1)) return std::nullopt;
    found.open |= open;
    dims.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (!text.starts_with(listed ? ',' : 'x')) return std::nullopt;
    text = without_spaces(text.substr(1));
    if (text.empty()) return std::nullopt;
  }
  return found;
}

class OutputScanner {
 public:
  explicit OutputScanner(const ByteSource& source)
      : source_(source), bytes_(source, {0, source.size()}) {}

  Result<std::vector<TrtexecOutput>> run() {
    BTF_TRY(expect('['));
    for (;;) {
      BTF_ASSIGN(TrtexecOutput output, take_output());
      outputs_.push_back(std::move(output));
      skip_spaces();
      if (bytes_.peek() != ',') break;
      bytes_.take();
    }
    BTF_TRY(expect(']'));
    skip_spaces();
    if (bytes_.peek() != JsonBytes::kEnd)
      return malformed("bytes-after-data", bytes_.offset(), source_.size() - bytes_.offset(),
                       " bytes follow after the end of the list");
    BTF_TRY(bytes_.trouble());
    return std::move(outputs_);
  }

 private:
  Result<TrtexecOutput> take_output() {
    TrtexecOutput output;
    skip_spaces();
    output.begin = bytes_.offset();
    BTF_TRY(expect('{'));
    BTF_TRY(expect("\"name\""));
    BTF_TRY(expect(':'));
    BTF_TRY(expect('"'));
    BTF_TRY(take_name(output));
    BTF_TRY(expect(','));
    BTF_TRY(expect(kDimensions));
    BTF_TRY(expect(':'));
    BTF_TRY(take_dims(output));
    BTF_TRY(expect(','));
    BTF_TRY(expect("\"values\""));
    BTF_TRY(expect(':'));
    BTF_TRY(expect('['));
    BTF_TRY(take_final_shape(output));
    BTF_TRY(take_values(output));
    BTF_TRY(expect('}'));
    output.end = bytes_.offset();
    return output;
  }

  // Names may contain quotes, so a name ends where the next member begins.
  Status take_name(TrtexecOutput& output) {
    const std::uint64_t begin = bytes_.offset();
    for (std::uint64_t length = 512;; length *= 2) {
      std::string text(std::min({length, source_.size() - begin, kLongestTensorName + 64}), '\0');
      BTF_TRY(source_.read_at(begin, std::as_writable_bytes(std::span(text))));
      for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
        const std::string_view behind = without_spaces(std::string_view(text).substr(at + 1));
        if (!behind.starts_with(',')) continue;
        if (!without_spaces(behind.substr(1)).starts_with(kDimensions)) continue;
        output.name = text.substr(0, at);
        skip_bytes(at + 1);
        return {};
      }
      if (text.size() < length)
        return wrong(begin, concat("the name of ", which(), " has no end: '", kDimensions,
                                   "' does not follow within ", text.size(), " bytes"));
    }
  }

  Status take_dims(TrtexecOutput& output) {
    BTF_TRY(expect('"'));
    const std::uint64_t begin = bytes_.offset();
    std::string text;
    for (int c = bytes_.peek(); c != '"'; c = bytes_.peek()) {
      if (c == JsonBytes::kEnd || text.size() == kLongestDims) return unexpected_byte("'\"'");
      text += static_cast<char>(c);
      bytes_.take();
    }
    bytes_.take();
    return set_dims(output, text, begin);
  }

  Status set_dims(TrtexecOutput& output, const std::string& text, std::uint64_t at) const {
    const auto dims = dims_in(text);
    if (!dims)
      return wrong(at, "output '" + json_shown(output.name) + "' has the dims '" +
                           json_shown(text) + "', which no result has");
    output.dims = dims->dims;
    output.open_dims = dims->open ? text : "";
    return {};
  }

  // If the shape depends on data, trtexec writes the final one among the values.
  Status take_final_shape(TrtexecOutput& output) {
    constexpr std::string_view kBefore = "Final shape is";
    constexpr std::string_view kBehind = "reported by the output allocator.";
    skip_spaces();
    if (bytes_.peek() != kBefore.front()) return {};
    BTF_TRY(expect(kBefore));
    skip_spaces();
    const std::uint64_t begin = bytes_.offset();
    std::string text;
    for (int c = bytes_.peek(); c != kBehind.front(); c = bytes_.peek()) {
      if (c == JsonBytes::kEnd || text.size() == kLongestDims)
        return unexpected_byte("the final shape");
      text += static_cast<char>(c);
      bytes_.take();
    }
    BTF_TRY(expect(kBehind));
    text.resize(text.find_last_not_of(kTrtexecSpaces) + 1);
    return set_dims(output, text, begin);
  }

  Status take_values(TrtexecOutput& output) {
    skip_spaces();
    output.values_at = bytes_.offset();
    bool any = bytes_.peek() != ']';
    std::uint64_t commas = 0;
    for (;;) {
      if (bytes_.peek() == JsonBytes::kEnd) {
        BTF_TRY(bytes_.trouble());
        return cut_off("the values of output '" + json_shown(output.name) + "' have no end");
      }
      const std::string_view held = bytes_.held();
      const std::size_t end = held.find(']');
      const std::string_view values = held.substr(0, end);
      commas += static_cast<std::uint64_t>(std::ranges::count(values, ','));
      bytes_.take(values.size());
      if (end != held.npos) break;
    }
    output.values_end = bytes_.offset();
    output.count = any ? commas + 1 : 0;
    bytes_.take();
    return {};
  }

  void skip_spaces() {
    while (is_space(bytes_.peek())) bytes_.take();
  }

  void skip_bytes(std::size_t count) {
    while (count > 0 && bytes_.peek() != JsonBytes::kEnd) {
      const std::size_t some = std::min(count, bytes_.held().size());
      bytes_.take(some);
      count -= some;
    }
  }

  Status expect(char c) { return expect(std::string_view(&c, 1)); }

  Status expect(std::string_view text) {
    skip_spaces();
    for (const char c : text) {
      if (bytes_.peek() != static_cast<unsigned char>(c))
        return unexpected_byte("'" + std::string(text) + "'");
      bytes_.take();
    }
    return {};
  }

  std::string which() const { return concat("output ", outputs_.size()); }

  Status unexpected_byte(const std::string& wanted) {
    const int found = bytes_.peek();
    BTF_TRY(bytes_.trouble());
    if (found == JsonBytes::kEnd) return cut_off(wanted + " was expected");
    return wrong(bytes_.offset(), wanted + " was expected in " + which());
  }

  Status cut_off(const std::string& what) const {
    return malformed("data-past-end", source_.size(),
                     "the file is cut off in " + which() + ": " + what);
  }

  static Status wrong(std::uint64_t at, const std::string& what) {
    return malformed("trtexec-outputs", at,
                     "this is not what trtexec --exportOutput writes: ", what, ", at byte ", at);
  }

  const ByteSource& source_;
  JsonBytes bytes_;
  std::vector<TrtexecOutput> outputs_;
};

}  // namespace

bool begins_as_trtexec_outputs(std::string_view start) {
  for (const std::string_view word : {"[", "{", "\"name\"", ":", "\""}) {
    start = without_spaces(start);
    if (!start.starts_with(word)) return false;
    start.remove_prefix(word.size());
  }
  // A profile of layers also has names.
  return !start.contains("\"timeMs\"");
}

namespace {

// Reads all outputs; counts their values without parsing them.
Result<std::vector<TrtexecOutput>> read_trtexec_outputs(const ByteSource& source) {
  return OutputScanner(source).run();
}

constexpr std::size_t kLongestValue = 64;

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Returns true if the code is exactly this integer. False for integers of more than 64 bits.
bool is_code_of(std::string_view integer, DType dtype, std::uint64_t code) {
  const bool negative = integer.starts_with('-');
  const auto magnitude = parse_number<std::uint64_t>(integer.substr(negative ? 1 : 0));
  if (!magnitude) return false;
  const Number meant = number::normalized(negative, *magnitude, 0);
  const Number found = decode_one(dtype, code);
  return found.kind == meant.kind && found.significand == meant.significand &&
         (meant.kind != Number::Class::finite ||
          (found.exponent == meant.exponent && found.negative == meant.negative));
}

// Decimals are rounded to the nearest float; integers must be exact. Unset if the dtype cannot
// represent the value.
std::optional<std::uint64_t> code_in(std::string_view word, const DTypeInfo& row, ParseText parse) {
  const std::string_view text = normalised_number(word);
  const bool integer = is_integer(text);
  std::uint64_t code = 0;
  if ((!integer && !row.floating()) || parse(text, row, code) != TextFault::nothing)
    return std::nullopt;
  if (integer && row.floating() && !is_code_of(text, row.dtype, code)) return std::nullopt;
  return code;
}

class PrintedValueReader {
 public:
  PrintedValueReader(const ByteSource& source, const TrtexecOutput& output)
      : output_(output), bytes_(source, {output.values_at, output.values_end - output.values_at}) {}

  Result<Spool> read(const DTypeInfo& row) {
    BTF_TRY(check_room_for(*stream_bytes(output_.count, row.bits)));
    const ParseText parse = text_parser(row);
    CodeSpool codes(row.bits);
    for (std::uint64_t i = 0; i < output_.count; ++i) {
      const std::uint64_t at = bytes_.offset();
      BTF_ASSIGN(const std::string_view text, next());
      const auto code = code_in(text, row, parse);
      if (!code) return no_number(row, i, at, text);
      BTF_TRY(codes.add(*code));
    }
    return codes.finish();
  }

 private:
  // Reads up to the next comma, without spaces around it. A text that is too long is cut and gets
  // dots, so that it is not a number.
  Result<std::string_view> next() {
    text_.clear();
    for (int c = bytes_.peek(); c != ',' && c != JsonBytes::kEnd; c = bytes_.peek()) {
      const bool leading = text_.empty() && kTrtexecSpaces.contains(static_cast<char>(c));
      if (!leading && text_.size() <= kLongestValue) text_ += static_cast<char>(c);
      bytes_.take();
    }
    BTF_TRY(bytes_.trouble());
    bytes_.take(bytes_.peek() == ',' ? 1 : 0);
    const bool cut = text_.size() > kLongestValue;
    text_.resize(text_.find_last_not_of(kTrtexecSpaces) + 1);
    if (cut) text_ += "...";
    return text_;
  }

  std::unexpected<Error> no_number(const DTypeInfo& row, std::uint64_t index, std::uint64_t at,
                                   std::string_view text) const {
    const std::string value = concat("value ", index, " of output '", json_shown(output_.name),
                                     "', '", json_shown(text), "', is ");
    const std::string name(row.name);
    if (row.floating() && is_integer(text)) {
      const std::string type =
          parse_number<std::int64_t>(text) || !parse_number<std::uint64_t>(text) ? "int64"
                                                                                 : "uint64";
      return fail(ErrorCode::unsupported,
                  value + "an integer that " + name + " cannot hold; `spec` " + type +
                      " reads all outputs as that type, `named_specs` '" +
                      json_shown(output_.name) + "=" + type + "' only this one");
    }
    if (is_number(text))
      return malformed(
          "trtexec-value", at,
          value + "not a " +
              (row.dtype == DType::float32 ? "number of the type that it is read as" : name) +
              "; `spec` gives another dtype");
    if (const std::string reason = why_not_number(text); !reason.empty())
      return malformed("trtexec-value", at, value + reason.substr(std::string_view("is ").size()));
    return malformed(
        "trtexec-value", at,
        value +
            "not a number; trtexec up to 8.4 wrote int8 as characters, which cannot be "
            "read back");
  }

  const TrtexecOutput& output_;
  JsonBytes bytes_;
  std::string text_;
};

// The values as elements of a row-major tensor of this dtype, 4-bit ones two to a byte. Their
// number must be that of the output.
Result<Spool> read_trtexec_values(const ByteSource& source, const TrtexecOutput& output,
                                  DType dtype) {
  return PrintedValueReader(source, output).read(info(dtype));
}

// The dtype given by a spec for its name or for all outputs, or by the layer list of the engine.
std::optional<DType> dtype_from_spec(const OpenOptions& options, const std::string& output) {
  if (const TensorSpec* const own = spec_by_name(options.named_specs, output)) return own->dtype;
  if (options.spec) return options.spec->dtype;
  const EngineTensor* const tensor = options.engine ? options.engine->list.find(output) : nullptr;
  return tensor != nullptr ? tensor->dtype : std::nullopt;
}

class TrtexecReader final : public TensorReader {
 public:
  TrtexecReader(const ByteSource& source, std::vector<TrtexecOutput> outputs,
                const OpenRequest& request)
      : source_(source), outputs_(std::move(outputs)) {
    for (const TrtexecOutput& output : outputs_)
      dtypes_.push_back(dtype_from_spec(request.options, output.name).value_or(DType::float32));
  }

  std::uint64_t tensor_count() const override { return outputs_.size(); }
  bool overlap_is_settled() const override { return true; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return outputs_[index].begin;
  }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return outputs_[index].name;
  }

  // Sizes and dtypes are those of the parsed numbers, not of the text.
  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const TrtexecOutput& output = outputs_[index];
    const DType dtype = dtypes_[index];
    if (!output.open_dims.empty())
      return malformed("trtexec-outputs", output.begin,
                       "output '" + json_shown(output.name) + "' has the dims '" +
                           json_shown(output.open_dims) +
                           "', of which -1 depends on data, and there is no final shape among its "
                           "values");
    TensorInfo tensor;
    tensor.index = index;
    tensor.record_offset = output.begin;
    tensor.dims = output.dims;
    tensor.dtype = dtype;
    tensor.text_digits = 6;  // the default precision of C++ streams
    tensor.dtype_code = info(dtype).code();
    tensor.layout = Layout::linear;
    tensor.layout_code = spec(Layout::linear).code();
    BTF_ASSIGN(tensor.storage, resolve(Layout::linear, tensor.dims, dtype));
    tensor.data_bytes = storage_bytes(*tensor.storage, dtype);
    if (element_count(output.dims) == output.count) return tensor;
    return malformed("trtexec-outputs", output.values_at, "output '", json_shown(output.name),
                     "' is ", dims_text(output.dims), " and should have ",
                     *element_count(output.dims), " values, it has ", output.count);
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = sources_.find(index);
    if (known != sources_.end()) return known->second.get();
    BTF_ASSIGN(const TensorInfo tensor, tensor(index));
    auto source = contents_.source(index, tensor.data_bytes, source_, [this, index] {
      return read_trtexec_values(source_, outputs_[index], dtypes_[index]);
    });
    return sources_.emplace(index, std::move(source)).first->second.get();
  }

 private:
  const ByteSource& source_;
  std::vector<TrtexecOutput> outputs_;
  std::vector<DType> dtypes_;
  mutable DecodedCache contents_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> sources_;
};

}  // namespace

Result<bool> recognizes_trtexec(const ByteSource& source, const OpenRequest&) {
  BTF_ASSIGN(const bool json, begins_as_json(source));
  if (!json) return false;
  constexpr std::uint64_t kStart = 4096;
  std::string start(std::min({kStart, source.size(), source.read_ahead_end(0)}), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return begins_as_trtexec_outputs(start);
}

Result<std::unique_ptr<TensorReader>> open_trtexec(const ByteSource& source,
                                                   const OpenRequest& request) {
  const OpenOptions& options = request.options;
  BTF_ASSIGN(std::vector<TrtexecOutput> outputs, read_trtexec_outputs(source));
  bool dims_said = options.spec && options.spec->storage;
  for (const TrtexecOutput& output : outputs) {
    const TensorSpec* const own = spec_by_name(options.named_specs, output.name);
    dims_said = dims_said || (own != nullptr && own->storage);
  }
  if (dims_said)
    return fail(ErrorCode::invalid_argument,
                "is text of trtexec --exportOutput and has its own dims; a spec may give the "
                "dtype only");
  return std::make_unique<TrtexecReader>(source, std::move(outputs), request);
}

Status check_trtexec(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

}  // namespace btf
