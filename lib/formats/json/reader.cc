#include "formats/json/reader.h"

#include <algorithm>
#include <charconv>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/utf8.h"

namespace btf {
namespace {

// More digits than any number needs; what is read otherwise is kept in memory.
constexpr std::size_t kLongestNumber = 4096;

constexpr std::array<std::string_view, 10> kKindNames{"an object", "the end of an object",
                                                      "an array",  "the end of an array",
                                                      "a name",    "a string",
                                                      "a number",  "a bool",
                                                      "null",      "the end"};

struct Word {
  std::string_view text;
  JsonKind kind{};
};

constexpr auto kWords = std::to_array<Word>(
    {{"true", JsonKind::boolean}, {"false", JsonKind::boolean}, {"null", JsonKind::null}});

constexpr std::array<std::string_view, 3> kPythonNumbers{"NaN", "Infinity", "-Infinity"};


bool digit(int c) { return c >= '0' && c <= '9'; }
bool letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// As it can be shown.
std::string byte_text(int byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (byte > 0x20 && byte < 0x7f) return {'\'', static_cast<char>(byte), '\''};
  const auto value = static_cast<std::size_t>(byte);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 0xf]};
}

template <typename Integer>
std::optional<Integer> exact(std::string_view number) {
  Integer value{};
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool whole = error == std::errc{} && end == number.data() + number.size();
  if (!whole || number == "-0") return std::nullopt;
  return value;
}

}  // namespace

std::string_view json_kind_name(JsonKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<std::uint64_t> exact_u64(std::string_view number) {
  return exact<std::uint64_t>(number);
}

std::optional<std::int64_t> exact_i64(std::string_view number) {
  return exact<std::int64_t>(number);
}

JsonReader::JsonReader(const ByteSource& source, JsonExtent extent, const JsonOptions& options)
    : source_(source),
      options_(options),
      bytes_(source, extent),
      name_(options.keep),
      string_(options.keep) {}

std::unexpected<Error> JsonReader::wrong(std::uint64_t offset, const std::string& what) const {
  // An error of reading is no error in the text.
  if (!bytes_.trouble()) return std::unexpected(bytes_.trouble().error());
  return malformed(
      options_.finding, offset,
      std::string(options_.whole) + ": " + what + ", at byte " + std::to_string(offset));
}

// Something else was expected than the byte that is next.
std::unexpected<Error> JsonReader::not_here(std::string_view wanted) {
  const int byte = bytes_.peek();
  if (byte == JsonBytes::kEnd)
    return wrong(bytes_.offset(), "it ends where " + std::string(wanted) + " was expected");
  return wrong(bytes_.offset(), "expected " + std::string(wanted) + ", found " + byte_text(byte));
}

int JsonReader::peek_behind_spaces() {
  for (;;) {
    const int byte = bytes_.peek();
    if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r') return byte;
    bytes_.take();
  }
}

Status JsonReader::begin_text() {
  begun_ = true;
  bytes_.peek();
  const std::string_view start = bytes_.held();
  const std::uint64_t at = bytes_.offset();
  if (start.starts_with(kByteOrderMark))
    return wrong(at, "it begins with a byte order mark, which JSON must not have");
  const std::string_view two = start.substr(0, 2);
  if (two.size() == 2 && (two == "\xff\xfe" || two == "\xfe\xff" || two[0] == 0 || two[1] == 0))
    return wrong(at, "it is UTF-16 or UTF-32, and JSON is UTF-8");
  return {};
}

Result<JsonToken> JsonReader::next() {
  if (!begun_) BTF_TRY(begin_text());
  const int byte = peek_behind_spaces();
  switch (place_) {
    case Place::nothing:
      BTF_TRY(bytes_.trouble());
      if (byte != JsonBytes::kEnd)
        return wrong(bytes_.offset(), "there is " + byte_text(byte) + " after its end");
      return JsonToken{.kind = JsonKind::end, .extent = {bytes_.offset(), 0}, .text = {}};
    case Place::value:
      return value();
    case Place::first_item:
      return byte == ']' ? close() : value();
    case Place::first_name:
      return byte == '}' ? close() : member_name();
    case Place::separator:
      break;
  }
  const bool object = levels_[depth_ - 1].object;
  if (byte == (object ? '}' : ']')) return close();
  if (byte != ',') return not_here(object ? "',' or '}'" : "',' or ']'");
  bytes_.take();
  peek_behind_spaces();
  return object ? member_name() : value();
}

Result<JsonToken> JsonReader::value() {
  const int byte = bytes_.peek();
  if (byte == '{' || byte == '[') return open(byte == '{');
  if (byte == '"') return string(JsonKind::string, string_);
  if (byte == '-' || digit(byte)) return number();
  if (letter(byte)) return word();
  return not_here("a value");
}

Result<JsonToken> JsonReader::open(bool object) {
  const std::uint64_t offset = bytes_.offset();
  if (depth_ == kMostDepth)
    return wrong(offset,
                 "objects and arrays are nested more than " + std::to_string(kMostDepth) + " deep");
  levels_[depth_++] = {object, names_.size()};
  place_ = object ? Place::first_name : Place::first_item;
  bytes_.take();
  return JsonToken{.kind = object ? JsonKind::object_begin : JsonKind::array_begin,
                   .extent = {offset, 1},
                   .text = {}};
}

Result<JsonToken> JsonReader::close() {
  const Level level = levels_[--depth_];
  const std::uint64_t offset = bytes_.offset();
  BTF_ASSIGN(const auto twice, names_.end_object(level.first_name, source_, offset));
  if (twice) {
    BTF_ASSIGN(const std::string name, json_string_at(source_, {*twice, offset - 1 - *twice}));
    return malformed(options_.finding, *twice,
                     "'" + json_shown(name) + "' is in " + (depth_ == 0 ? "" : "an object of ") +
                         std::string(options_.whole) + " twice, again at byte " +
                         std::to_string(*twice));
  }
  place_ = depth_ == 0 ? Place::nothing : Place::separator;
  bytes_.take();
  return JsonToken{.kind = level.object ? JsonKind::object_end : JsonKind::array_end,
                   .extent = {offset, 1},
                   .text = {}};
}

Result<JsonToken> JsonReader::string(JsonKind kind, JsonString& into) {
  bytes_.take();
  const std::uint64_t begin = bytes_.offset();
  if (const char* const fault = into.read(bytes_)) return wrong(bytes_.offset(), fault);
  if (kind == JsonKind::string) place_ = depth_ == 0 ? Place::nothing : Place::separator;
  return JsonToken{.kind = kind,
                   .extent = {begin, bytes_.offset() - 1 - begin},
                   .escaped = into.escaped(),
                   .kept = into.kept(),
                   .text = into.text()};
}

Result<JsonToken> JsonReader::member_name() {
  if (bytes_.peek() != '"')
    return not_here(place_ == Place::first_name ? "a name in quotes or '}'" : "a name in quotes");
  BTF_ASSIGN(const JsonToken token, string(JsonKind::name, name_));
  if (options_.check_names) names_.add({name_.hash(), token.extent.offset});
  if (peek_behind_spaces() != ':') return not_here("':'");
  bytes_.take();
  place_ = Place::value;
  return token;
}

JsonToken JsonReader::scalar(JsonKind kind, std::uint64_t offset) {
  place_ = depth_ == 0 ? Place::nothing : Place::separator;
  return {.kind = kind, .extent = {offset, scalar_.size()}, .text = scalar_};
}

bool JsonReader::take_digits() {
  const std::size_t before = scalar_.size();
  for (; digit(bytes_.peek()) && scalar_.size() <= kLongestNumber; bytes_.take())
    scalar_ += static_cast<char>(bytes_.peek());
  return scalar_.size() > before;
}

Result<JsonToken> JsonReader::number() {
  const std::uint64_t offset = bytes_.offset();
  const auto take = [&](std::string_view any_of) {
    const int byte = bytes_.peek();
    if (byte == JsonBytes::kEnd || !any_of.contains(static_cast<char>(byte))) return false;
    scalar_ += static_cast<char>(byte);
    bytes_.take();
    return true;
  };
  scalar_.clear();
  take("-");
  if (options_.python && bytes_.peek() == 'I') return word();
  const bool zero = take("0");
  if (!zero && !take_digits()) return not_here("a digit");
  if (zero && digit(bytes_.peek())) return wrong(offset, "a number has a leading 0");
  if (take(".") && !take_digits()) return not_here("a digit");
  if (take("eE")) {
    take("+-");
    if (!take_digits()) return not_here("a digit");
  }
  if (scalar_.size() > kLongestNumber)
    return wrong(offset, "a number has more than " + std::to_string(kLongestNumber) + " digits");
  return scalar(JsonKind::number, offset);
}

Result<JsonToken> JsonReader::word() {
  const std::uint64_t offset = bytes_.offset();
  constexpr std::size_t kLongestWord = 16;
  if (scalar_ != "-") scalar_.clear();
  for (; letter(bytes_.peek()) && scalar_.size() < kLongestWord; bytes_.take())
    scalar_ += static_cast<char>(bytes_.peek());
  if (options_.python && std::ranges::find(kPythonNumbers, scalar_) != kPythonNumbers.end())
    return scalar(JsonKind::number, offset);
  const auto* const known = std::ranges::find(kWords, scalar_, &Word::text);
  if (known == kWords.end()) return wrong(offset, "expected a value, found '" + scalar_ + "'");
  return scalar(known->kind, offset);
}

Status JsonReader::skip(const JsonToken& token) {
  if (token.kind != JsonKind::object_begin && token.kind != JsonKind::array_begin) return {};
  for (const std::size_t outside = depth_ - 1; depth_ > outside;) BTF_TRY(next());
  return {};
}

Result<JsonExtent> JsonReader::skip_value() {
  BTF_ASSIGN(const JsonToken token, next());
  // Quotes are no part of a string's extent, and brackets only begin one.
  const bool quoted = token.kind == JsonKind::string;
  const std::uint64_t begin = token.extent.offset - (quoted ? 1 : 0);
  BTF_TRY(skip(token));
  return JsonExtent{begin, bytes_.offset() - begin};
}

Status JsonReader::check_kind(const JsonToken& token, JsonKind kind, std::string_view what) const {
  if (token.kind == kind) return {};
  return wrong(token.extent.offset, std::string(what) + " is " +
                                        std::string(json_kind_name(token.kind)) + " and not " +
                                        std::string(json_kind_name(kind)));
}

Result<JsonToken> JsonReader::expect(JsonKind kind, std::string_view what) {
  BTF_ASSIGN(const JsonToken token, next());
  BTF_TRY(check_kind(token, kind, what));
  return token;
}

Result<std::uint64_t> JsonReader::expect_size(std::string_view what) {
  BTF_ASSIGN(const JsonToken token, next());
  return size_of(token, what);
}

Result<std::uint64_t> JsonReader::size_of(const JsonToken& token, std::string_view what) const {
  BTF_TRY(check_kind(token, JsonKind::number, what));
  if (const auto value = exact_u64(token.text)) return *value;
  return wrong(token.extent.offset, std::string(what) + " is " +
                                        std::string(token.text.substr(0, 40)) +
                                        ", not an integer from 0 to 2^64-1");
}

Status JsonReader::members(const std::function<Status(const JsonToken& name)>& take) {
  for (;;) {
    BTF_ASSIGN(const JsonToken name, next());
    if (name.kind == JsonKind::object_end) return {};
    BTF_TRY(take(name));
  }
}

}  // namespace btf
