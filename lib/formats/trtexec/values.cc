#include "formats/trtexec/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/dtype_table.h"
#include "core/finding_table.h"
#include "formats/decoded/kept_contents.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"
#include "kernels/number/number.h"

namespace btf {
namespace {

constexpr std::size_t kLongestValue = 64;

template <typename T>
std::optional<T> whole(std::string_view text, std::errc allowed = {}) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ptr != end || (parsed.ec != std::errc{} && parsed.ec != allowed))
    return std::nullopt;
  return value;
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Nothing: it is none, or none of 64 bits.
std::optional<Number> integer_in(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto magnitude = whole<std::uint64_t>(text.substr(negative ? 1 : 0));
  if (!magnitude) return std::nullopt;
  return number::normalized(negative, *magnitude, 0);
}

// nan, -nan, inf and 1e-07 as well as what fits no float exactly; nothing: it is no such number.
template <typename T>
std::optional<T> real_in(std::string_view text) {
  if (const auto value = whole<T>(text)) return value;
  // Too small is 0, too large is no float.
  const auto wide = whole<long double>(text);
  if (wide && std::fabs(*wide) < 1) return static_cast<T>(*wide);
  return std::nullopt;
}

// The most digits of which every integer is one of the dtype's numbers.
template <DType T>
constexpr std::size_t exact_digits() {
  std::size_t digits = 0;
  std::uint64_t most = 9;
  for (; most >> (dtype_rows::kRows[row_of(T)].fp.mantissa_bits + 1) == 0; most = most * 10 + 9)
    ++digits;
  return digits;
}

constexpr CastPolicy kNearest{
    .overflow = Overflow::ieee, .rounding = Rounding::nearest, .lossless = false};

// Decimals become the nearest number of a float. Integers are meant to the last digit. Nothing: the
// dtype does not hold it.
template <DType T>
std::optional<std::uint64_t> code_in(std::string_view text) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  const bool meant =
      !kRow.floating() || (text.size() > exact_digits<T>() && is_integer(text));
  if (meant) {
    const auto integer = integer_in(text);
    if (!integer) return std::nullopt;
    const number::Encoded encoded = number::encode<T>(*integer, kNearest);
    return encoded.outcome == Outcome::exact ? std::optional(encoded.code) : std::nullopt;
  }
  if constexpr (T == DType::float32) {
    const auto value = real_in<float>(text);
    if (!value) return std::nullopt;
    return std::bit_cast<std::uint32_t>(*value);
  }
  const auto value = real_in<double>(text);
  if (!value) return std::nullopt;
  const Number real = number::decode<DType::float64>(std::bit_cast<std::uint64_t>(*value));
  // A power of two alone has neither sign nor 0.
  if (kRow.fp.power_of_two && (real.negative || real.kind == Number::Class::zero))
    return std::nullopt;
  const number::Encoded encoded = number::encode<T>(real, kNearest);
  const bool lost =
      encoded.outcome == Outcome::overflowed || encoded.outcome == Outcome::nan_lost;
  return lost ? std::nullopt : std::optional(encoded.code);
}

class ValueReader {
 public:
  ValueReader(const ByteSource& source, const TrtexecOutput& output)
      : output_(output), bytes_(source, {output.values_at, output.values_end - output.values_at}) {}

  template <DType T>
  Result<Spool> read() {
    constexpr unsigned kBits = dtype_rows::kRows[row_of(T)].bits;
    BTF_TRY(check_room_for(*stream_bytes(output_.count, kBits)));
    Spool spool = Spool::in_memory();
    std::vector<std::byte> block;
    for (std::uint64_t i = 0; i < output_.count; ++i) {
      const std::uint64_t at = bytes_.offset();
      BTF_ASSIGN(const std::string_view text, next());
      const auto code = code_in<T>(text);
      if (!code) return no_number(T, i, at, text);
      if (kBits < 8 && i % 2 != 0)
        block.back() |= static_cast<std::byte>(*code << 4);
      else
        for (unsigned bit = 0; bit < kBits; bit += 8)
          block.push_back(static_cast<std::byte>(*code >> bit));
      // An even number of elements, of which two may share a byte.
      if (block.size() < kBlock || i % 2 == 0) continue;
      BTF_TRY(spool.append(block));
      block.clear();
    }
    BTF_TRY(spool.append(block));
    return spool;
  }

 private:
  static constexpr std::size_t kBlock = 64U << 10;

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

  std::unexpected<Error> no_number(DType dtype, std::uint64_t index, std::uint64_t at,
                                   std::string_view text) const {
    const std::string value = "value " + std::to_string(index) + " of output '" +
                              json_shown(output_.name) + "', '" + json_shown(text) + "', is ";
    const std::string name(info(dtype).name);
    if (info(dtype).floating() && is_integer(text)) {
      const std::string type =
          whole<std::int64_t>(text) || !whole<std::uint64_t>(text) ? "int64" : "uint64";
      return fail(ErrorCode::unsupported,
                  value + "an integer that " + name + " cannot hold; `spec` " + type + " says that all are, `named_specs` '" +
                      json_shown(output_.name) + "=" + type + "' that only this output is");
    }
    if (whole<long double>(text, std::errc::result_out_of_range))
      return malformed("trtexec-value", at,
                       value + "no " +
                           (dtype == DType::float32 ? "number of the type that it is read as"
                                                    : name) +
                           "; `spec` says another");
    return malformed("trtexec-value", at,
                     value +
                         "no number; trtexec up to 8.4 wrote int8 as characters, which cannot be "
                         "read back");
  }

  const TrtexecOutput& output_;
  JsonBytes bytes_;
  std::string text_;
};

using ReadFn = Result<Spool> (ValueReader::*)();

template <std::size_t... Row>
constexpr auto make_readers(std::index_sequence<Row...>) {
  return std::array<ReadFn, sizeof...(Row)>{&ValueReader::read<dtype_rows::kRows[Row].dtype>...};
}

constexpr auto kReaders = make_readers(std::make_index_sequence<kDTypeCount>{});

}  // namespace

Result<Spool> read_trtexec_values(const ByteSource& source, const TrtexecOutput& output,
                                  DType dtype) {
  ValueReader reader(source, output);
  return (reader.*kReaders[row_of(dtype)])();
}

}  // namespace btf
