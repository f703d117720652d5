#include "formats/json/json_string.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "btf/try.h"

namespace btf {
namespace {

constexpr std::uint64_t kSeed = 0;

// Neither a control character nor '"', '\' or a part of what is no ASCII.
constexpr bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

struct Utf8Lead {
  int first = 0;  // of the lead bytes
  int last = 0;
  int more = 0;    // bytes that follow
  int lowest = 0;  // of the byte that comes next: neither overlong nor half of a pair nor too large
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

// From behind the backslash.
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
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return std::string(text);
  // Not in the midst of a character.
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace btf
