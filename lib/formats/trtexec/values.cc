#include "formats/trtexec/values.h"

#include <optional>
#include <string>
#include <string_view>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/decoded/kept_contents.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"
#include "formats/text/codes.h"
#include "formats/text/decimal.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

constexpr std::size_t kLongestValue = 64;

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Is the code exactly this integer? False: it has more than 64 bits, too.
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

// Decimals become the nearest number of a float. Integers are meant to the last digit. Nothing: the
// dtype does not hold it.
std::optional<std::uint64_t> code_in(std::string_view word, const DTypeInfo& row, ParseText parse) {
  const std::string_view text = usual_number(word);
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
  // Up to the next comma, without spaces around it. Of what is too long for a number, the beginning
  // with dots behind it, which make it none.
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
    const std::string value = "value " + std::to_string(index) + " of output '" +
                              json_shown(output_.name) + "', '" + json_shown(text) + "', is ";
    const std::string name(row.name);
    if (row.floating() && is_integer(text)) {
      const std::string type =
          parse_number<std::int64_t>(text) || !parse_number<std::uint64_t>(text) ? "int64"
                                                                                 : "uint64";
      return fail(ErrorCode::unsupported, value + "an integer that " + name +
                                              " cannot hold; `spec` " + type +
                                              " reads all outputs so, `named_specs` '" +
                                              json_shown(output_.name) + "=" + type + "' this one");
    }
    if (is_number(text))
      return malformed(
          "trtexec-value", at,
          value + "not a " +
              (row.dtype == DType::float32 ? "number of the type that it is read as" : name) +
              "; `spec` gives another dtype");
    if (const std::string reason = why_no_number(text); !reason.empty())
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

}  // namespace

Result<Spool> read_trtexec_values(const ByteSource& source, const TrtexecOutput& output,
                                  DType dtype) {
  return PrintedValueReader(source, output).read(info(dtype));
}

}  // namespace btf
