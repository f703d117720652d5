#include "formats/json.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <tuple>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"

namespace btf {
namespace {

constexpr std::uint64_t kSeed = 0;

// True for ASCII other than control characters, '"' and '\'.
constexpr bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

struct Utf8Lead {
  int first = 0;  // range of lead bytes
  int last = 0;
  int more = 0;  // number of following bytes
  // Range of the next byte, which excludes overlong forms, surrogates and too large values.
  int lowest = 0;
  int highest = 0;
};

constexpr auto kUtf8 = std::to_array<Utf8Lead>({
    {0xc2, 0xdf, 1, 0x80, 0xbf},
    {0xe0, 0xe0, 2, 0xa0, 0xbf},
    {0xe1, 0xec, 2, 0x80, 0xbf},
    {0xed, 0xed, 2, 0x80, 0x9f},
    {0xee, 0xef, 2, 0x80, 0xbf},
    {0xf0, 0xf0, 3, 0x90, 0xbf},
    {0xf1, 0xf3, 3, 0x80, 0xbf},
    {0xf4, 0xf4, 3, 0x80, 0x8f},
});

struct Escape {
  char sign = 0;
  char meaning = 0;
};

constexpr auto kEscapes = std::to_array<Escape>({{'"', '"'},
                                                 {'\\', '\\'},
                                                 {'/', '/'},
                                                 {'b', '\b'},
                                                 {'f', '\f'},
                                                 {'n', '\n'},
                                                 {'r', '\r'},
                                                 {'t', '\t'}});

constexpr const char* kNoEnd = "a string has no end";
constexpr const char* kHalfPair = "unpaired surrogate";

int hex_value(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr bool high_half(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
constexpr bool low_half(std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

struct JsonString::Hash {
  XXH64_state_t state;
};

JsonString::JsonString(std::uint64_t keep) : keep_(keep) {}
JsonString::~JsonString() = default;

std::uint64_t JsonString::hash() const {
  return hash_ ? XXH64_digest(&hash_->state) : XXH64(text_.data(), text_.size(), kSeed);
}

void JsonString::append(std::string_view text) {
  if (!hash_ && text.size() <= keep_ - text_.size()) {
    text_ += text;
    return;
  }
  if (!hash_) {
    hash_ = std::make_unique<Hash>();
    XXH64_reset(&hash_->state, kSeed);
    XXH64_update(&hash_->state, text_.data(), text_.size());
    text_.clear();
  }
  XXH64_update(&hash_->state, text.data(), text.size());
}

void JsonString::append_code_point(std::uint32_t code) {
  std::string text;
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
  }
  if (code >= 0x800) add(0x80 | (code >> 6 & 0x3f));
  if (code >= 0x80) add(0x80 | (code & 0x3f));
  append(text);
}

void JsonString::take_plain(JsonBytes& bytes) {
  const std::string_view held = bytes.held();
  const auto end = std::ranges::find_if_not(held, plain);
  const auto count = static_cast<std::size_t>(end - held.begin());
  append(held.substr(0, count));
  bytes.take(count);
}

const char* JsonString::take_code_unit(JsonBytes& bytes, std::uint32_t& unit) {
  unit = 0;
  for (int digit = 0; digit < 4; ++digit) {
    const int value = hex_value(bytes.peek());
    if (value < 0) return "expected four hexadecimal digits after \\u";
    unit = unit << 4 | static_cast<std::uint32_t>(value);
    bytes.take();
  }
  return nullptr;
}

// Starts after the backslash.
const char* JsonString::take_escape(JsonBytes& bytes) {
  const int sign = bytes.peek();
  const auto* const known = std::ranges::find(kEscapes, sign, &Escape::sign);
  if (known != kEscapes.end()) {
    bytes.take();
    append({&known->meaning, 1});
    return nullptr;
  }
  if (sign != 'u') return "unknown escape";
  bytes.take();
  std::uint32_t code = 0;
  if (const char* const wrong = take_code_unit(bytes, code)) return wrong;
  if (low_half(code)) return kHalfPair;
  if (high_half(code)) {
    for (const char c : {'\\', 'u'}) {
      if (bytes.peek() != c) return kHalfPair;
      bytes.take();
    }
    std::uint32_t low = 0;
    if (const char* const wrong = take_code_unit(bytes, low)) return wrong;
    if (!low_half(low)) return kHalfPair;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_code_point(code);
  return nullptr;
}

const char* JsonString::take_utf8(JsonBytes& bytes) {
  constexpr const char* kWrong = "a string is not UTF-8";
  const int lead = bytes.peek();
  const auto* const row = std::ranges::find_if(
      kUtf8, [&](const Utf8Lead& r) { return lead >= r.first && lead <= r.last; });
  if (row == kUtf8.end()) return kWrong;
  std::string text(1, static_cast<char>(lead));
  bytes.take();
  for (int i = 0; i < row->more; ++i) {
    const int next = bytes.peek();
    if (next < (i == 0 ? row->lowest : 0x80) || next > (i == 0 ? row->highest : 0xbf))
      return kWrong;
    text += static_cast<char>(next);
    bytes.take();
  }
  append(text);
  return nullptr;
}

const char* JsonString::read(JsonBytes& bytes) {
  text_.clear();
  hash_.reset();
  escaped_ = false;
  for (;;) {
    take_plain(bytes);
    const int next = bytes.peek();
    if (next == JsonBytes::kEnd) return kNoEnd;
    const char* wrong = nullptr;
    if (next == '"') {
      bytes.take();
      return nullptr;
    }
    if (next == '\\') {
      escaped_ = true;
      bytes.take();
      wrong = take_escape(bytes);
    } else if (next < 0x20) {
      return "a control character in a string must be escaped";
    } else if (next >= 0x80) {
      wrong = take_utf8(bytes);
    }
    if (wrong != nullptr) return bytes.peek() == JsonBytes::kEnd ? kNoEnd : wrong;
  }
}

Result<std::string> json_string_at(const ByteSource& source, JsonExtent extent) {
  JsonBytes bytes(source, {extent.offset, extent.length + 1});
  JsonString string(extent.length);
  const bool read = string.read(bytes) == nullptr;
  BTF_TRY(bytes.trouble());
  if (!read) return file_changed();
  return std::string(string.text());
}

std::string json_shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 200;
  if (text.size() <= kMaxShown) return std::string(text);
  // Do not cut within a character.
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

namespace {

// Returns the first name, in order, that equals an earlier one with the same hash. Different names
// with equal hashes only occur in practice if someone constructed them.
Result<std::optional<std::uint64_t>> find_same(std::span<const JsonNameRecord> names,
                                               const ByteSource& source, std::uint64_t end) {
  std::set<std::string> texts;
  for (const JsonNameRecord& name : names) {
    BTF_ASSIGN(std::string text, json_string_at(source, {name.offset, end - 1 - name.offset}));
    if (!texts.insert(std::move(text)).second) return name.offset;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::uint64_t>> JsonNames::end_object(std::size_t first,
                                                           const ByteSource& source,
                                                           std::uint64_t end) {
  const auto names = std::span(seen_).subspan(first);
  std::ranges::sort(names, {},
                    [](const JsonNameRecord& name) { return std::tuple(name.hash, name.offset); });
  std::optional<std::uint64_t> twice;
  for (auto run = names.begin(); run != names.end();) {
    const auto run_end = std::find_if(
        run, names.end(), [&](const JsonNameRecord& name) { return name.hash != run->hash; });
    if (run_end - run > 1) {
      BTF_ASSIGN(const auto found, find_same({run, run_end}, source, end));
      if (found && (!twice || *found < *twice)) twice = found;
    }
    run = run_end;
  }
  seen_.resize(first);
  return twice;
}

namespace {

constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;

}  // namespace

JsonBytes::JsonBytes(const ByteSource& source, JsonExtent extent)
    : source_(source), end_(extent.end()), window_offset_(extent.offset) {}

int JsonBytes::refill() {
  window_offset_ += window_.size();
  at_ = 0;
  window_.resize(trouble_ ? std::min(kWindow, end_ - window_offset_) : 0);
  if (window_.empty()) return kEnd;
  trouble_ = source_.read_at(window_offset_, window_);
  if (trouble_) return byte(0);
  window_.clear();
  return kEnd;
}

Result<bool> begins_as_json(const ByteSource& source) {
  std::array<char, 16> start{};
  const auto some = std::span(start).first(std::min<std::uint64_t>(start.size(), source.size()));
  BTF_TRY(source.read_at(0, std::as_writable_bytes(some)));
  const auto first = std::ranges::find_if(
      some, [](char c) { return c != ' ' && c != '\n' && c != '\r' && c != '\t'; });
  return first != some.end() && (*first == '{' || *first == '[');
}

Result<bool> stream_of_json(const ByteSource& beginning) {
  std::array<char, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, std::as_writable_bytes(std::span(start))));
  const bool zeros = std::string_view(start.data(), start.size()).contains('\0');
  return zeros ? false : begins_as_json(beginning);
}

namespace {

// Integers of 64 bits stay unchanged; other numbers become the shortest text that reads back as the
// same double.
std::string shortest_number(std::string_view text) {
  if (exact_u64(text) || exact_i64(text)) return std::string(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::string(text);
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), written.ptr};
}

}  // namespace

std::optional<std::string> json_quoted(std::string_view text) {
  if (!is_utf8(text)) return std::nullopt;
  static constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  static constexpr std::string_view kLetters = "bfnrt\"\\";
  std::string quoted = "\"";
  for (const char c : text) {
    const std::size_t at = kShort.find(c);
    if (at != kShort.npos) {
      quoted += '\\';
      quoted += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += "\\u00";
      quoted += static_cast<char>('0' + (c >> 4));
      quoted += "0123456789abcdef"[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string JsonObject::take() const {
  std::string text = "{";
  for (const auto& [name, value] : members_)
    text += (text.size() > 1 ? "," : "") + *json_quoted(name) + ":" + value;
  return text + "}";
}

Result<std::string> canonical_json(JsonReader& reader, const JsonToken& token, unsigned depth) {
  if (token.kind == JsonKind::string) {
    if (!token.complete) return reader.wrong(token.extent.offset, "a string is too long");
    return *json_quoted(token.text);
  }
  if (token.kind == JsonKind::number) return shortest_number(token.text);
  const bool object = token.kind == JsonKind::object_begin;
  if (!object && token.kind != JsonKind::array_begin) return std::string(token.text);
  if (depth == 0) return reader.wrong(token.extent.offset, "it is nested too deep");
  if (object) {
    JsonObject members;
    BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
      if (!name.complete) return reader.wrong(name.extent.offset, "a name is too long");
      const std::string key(name.text);
      BTF_ASSIGN(const JsonToken first, reader.next());
      BTF_ASSIGN(std::string value, canonical_json(reader, first, depth - 1));
      members.json(key, std::move(value));
      return {};
    }));
    return members.take();
  }
  std::string text = "[";
  for (;;) {
    BTF_ASSIGN(const JsonToken item, reader.next());
    if (item.kind == JsonKind::array_end) return text + "]";
    BTF_ASSIGN(const std::string value, canonical_json(reader, item, depth - 1));
    text += (text.size() > 1 ? "," : "") + value;
  }
}

namespace {

// More digits than any number needs; the limit bounds the memory for a number.
constexpr std::size_t kLongestNumber = 4096;

constexpr std::array<std::string_view, 10> kKindNames{"an object", "the end of an object",
                                                      "an array",  "the end of an array",
                                                      "a name",    "a string",
                                                      "a number",  "a bool",
                                                      "null",      "the end"};

struct Literal {
  std::string_view text;
  JsonKind kind{};
};

constexpr auto kWords = std::to_array<Literal>(
    {{"true", JsonKind::boolean}, {"false", JsonKind::boolean}, {"null", JsonKind::null}});

constexpr std::array<std::string_view, 3> kPythonNumbers{"NaN", "Infinity", "-Infinity"};

bool digit(int c) { return c >= '0' && c <= '9'; }
bool letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The byte in printable form.
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
  // A read error is not an error in the text.
  if (!bytes_.trouble()) return std::unexpected(bytes_.trouble().error());
  return malformed(options_.finding, offset, options_.whole, ": ", what, ", at byte ", offset);
}

// The error for a byte other than the expected one.
std::unexpected<Error> JsonReader::unexpected_byte(std::string_view wanted) {
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
  if (byte != ',') return unexpected_byte(object ? "',' or '}'" : "',' or ']'");
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
  return unexpected_byte("a value");
}

Result<JsonToken> JsonReader::open(bool object) {
  const std::uint64_t offset = bytes_.offset();
  if (depth_ == kMaxDepth)
    return wrong(offset, concat("objects and arrays are nested more than ", kMaxDepth, " deep"));
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
    return malformed(options_.finding, *twice, "'", json_shown(name), "' is in ",
                     depth_ == 0 ? "" : "an object of ", options_.whole, " twice, again at byte ",
                     *twice);
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
                   .complete = into.kept(),
                   .text = into.text()};
}

Result<JsonToken> JsonReader::member_name() {
  if (bytes_.peek() != '"')
    return unexpected_byte(place_ == Place::first_name ? "a name in quotes or '}'"
                                                       : "a name in quotes");
  BTF_ASSIGN(const JsonToken token, string(JsonKind::name, name_));
  if (options_.check_names) names_.add({name_.hash(), token.extent.offset});
  if (peek_behind_spaces() != ':') return unexpected_byte("':'");
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
  if (!zero && !take_digits()) return unexpected_byte("a digit");
  if (zero && digit(bytes_.peek())) return wrong(offset, "a number has a leading 0");
  if (take(".") && !take_digits()) return unexpected_byte("a digit");
  if (take("eE")) {
    take("+-");
    if (!take_digits()) return unexpected_byte("a digit");
  }
  if (scalar_.size() > kLongestNumber)
    return wrong(offset, concat("a number has more than ", kLongestNumber, " digits"));
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
  const auto* const known = std::ranges::find(kWords, scalar_, &Literal::text);
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
  // The extent of a string excludes the quotes, and that of an object or array is only its opening
  // bracket.
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

Result<Dims> JsonReader::expect_dims(std::string_view what) {
  BTF_TRY(expect(JsonKind::array_begin, what));
  return dims(what);
}

Result<Dims> JsonReader::dims(std::string_view what) {
  Dims dims;
  for (;;) {
    BTF_ASSIGN(const JsonToken token, next());
    if (token.kind == JsonKind::array_end) return dims;
    BTF_ASSIGN(const std::uint64_t dim, size_of(token, "a dim in " + std::string(what)));
    if (dims.size() == kMaxRank)
      return wrong(token.extent.offset, concat(what, " has more than ", kMaxRank, " dims"));
    dims.push_back(dim);
  }
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
