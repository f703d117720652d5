#include "formats/trtexec/values.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/little_endian.h"
#include "formats/decoded/kept_contents.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"

namespace btf {
namespace {

constexpr std::size_t kLongestValue = 64;

// nan, -nan, inf and 1e-07 as well as what fits no float exactly; nothing: it is no such number.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ptr != end || text.empty()) return std::nullopt;
  if (parsed.ec == std::errc{}) return value;
  if constexpr (std::is_same_v<T, float>) {
    // Too small for a float is 0, too large is no float.
    const auto wide = number_in<double>(text);
    if (wide && std::fabs(*wide) < 1) return static_cast<float>(*wide);
  }
  return std::nullopt;
}

class ValueReader {
 public:
  ValueReader(const ByteSource& source, const TrtexecOutput& output)
      : output_(output), bytes_(source, {output.values_at, output.values_end - output.values_at}) {}

  template <typename T>
  Result<Spool> read() {
    BTF_TRY(check_room_for(output_.count * sizeof(T)));
    Spool spool = Spool::in_memory();
    std::vector<std::byte> block;
    for (std::uint64_t i = 0; i < output_.count; ++i) {
      const std::uint64_t at = bytes_.offset();
      BTF_ASSIGN(const std::string_view text, next());
      const auto value = number_in<T>(text);
      if (!value) return no_number<T>(i, at, text);
      block.resize(block.size() + sizeof(T));
      store(*value, block.data() + block.size() - sizeof(T));
      if (block.size() < kBlock) continue;
      BTF_TRY(spool.append(block));
      block.clear();
    }
    BTF_TRY(spool.append(block));
    return spool;
  }

 private:
  static constexpr std::size_t kBlock = 64U << 10;

  template <typename T>
  static void store(T value, std::byte* to) {
    if constexpr (std::is_same_v<T, float>)
      store_little(to, std::bit_cast<std::uint32_t>(value));
    else if constexpr (std::is_same_v<T, double>)
      store_little(to, std::bit_cast<std::uint64_t>(value));
    else
      store_little(to, static_cast<std::make_unsigned_t<T>>(value));
  }

  // Up to the next comma, without spaces around it.
  Result<std::string_view> next() {
    text_.clear();
    for (int c = bytes_.peek(); c != ',' && c != JsonBytes::kEnd; c = bytes_.peek()) {
      if (text_.size() < kLongestValue) text_ += static_cast<char>(c);
      bytes_.take();
    }
    BTF_TRY(bytes_.trouble());
    bytes_.take(bytes_.peek() == ',' ? 1 : 0);
    const std::size_t begin = text_.find_first_not_of(kTrtexecSpaces);
    if (begin == text_.npos) return std::string_view();
    return std::string_view(text_).substr(begin,
                                          text_.find_last_not_of(kTrtexecSpaces) + 1 - begin);
  }

  template <typename T>
  std::unexpected<Error> no_number(std::uint64_t index, std::uint64_t at,
                                   std::string_view text) const {
    const std::string value = "value " + std::to_string(index) + " of output '" +
                              json_shown(output_.name) + "', '" + json_shown(text) + "', is no ";
    double wide = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), wide);
    if (!text.empty() && parsed.ptr == text.data() + text.size())
      return malformed("trtexec-value", at,
                       value + "number of the type that it is read as; --input-spec says another");
    return malformed("trtexec-value", at,
                     value +
                         "number; trtexec up to 8.4 wrote int8 as characters, which cannot be "
                         "read back");
  }

  const TrtexecOutput& output_;
  JsonBytes bytes_;
  std::string text_;
};

struct TextType {
  DType dtype;
  Result<Spool> (ValueReader::*read)();
};

// A byte of a bool is 0 or 1 in the text too.
constexpr auto kTextTypes = std::to_array<TextType>({
    {DType::float32, &ValueReader::read<float>},
    {DType::float64, &ValueReader::read<double>},
    {DType::int8, &ValueReader::read<std::int8_t>},
    {DType::int16, &ValueReader::read<std::int16_t>},
    {DType::int32, &ValueReader::read<std::int32_t>},
    {DType::int64, &ValueReader::read<std::int64_t>},
    {DType::uint8, &ValueReader::read<std::uint8_t>},
    {DType::uint16, &ValueReader::read<std::uint16_t>},
    {DType::uint32, &ValueReader::read<std::uint32_t>},
    {DType::uint64, &ValueReader::read<std::uint64_t>},
    {DType::boolean, &ValueReader::read<std::uint8_t>},
});

const TextType* find_type(DType dtype) {
  for (const TextType& row : kTextTypes)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

}  // namespace

Status check_trtexec_dtype(DType dtype) {
  if (find_type(dtype) != nullptr) return {};
  return fail(ErrorCode::invalid_argument,
              "is text of trtexec --exportOutput, which is not read as " +
                  std::string(info(dtype).name) +
                  "; it is read as float32, and convert --dtype makes another of that");
}

Result<Spool> read_trtexec_values(const ByteSource& source, const TrtexecOutput& output,
                                  DType dtype) {
  ValueReader reader(source, output);
  return (reader.*find_type(dtype)->read)();
}

}  // namespace btf
