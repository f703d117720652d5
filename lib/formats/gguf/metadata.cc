#include "formats/gguf/metadata.h"

#include <array>
#include <bit>
#include <charconv>
#include <span>
#include <vector>

#include "btf/try.h"
#include "core/little_endian.h"
#include "core/utf8.h"

namespace btf {
namespace {

constexpr std::uint64_t kLongestText = 1U << 16;
constexpr std::uint64_t kMostMetadata = 1U << 24;
constexpr std::uint64_t kLongestList = 16;

template <typename Number>
std::string text_of(Number number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

// An integer has as many bits as its type, the lowest ones of the value.
std::string scalar_text(const GgufValueType& type, const std::byte* at, bool big_endian) {
  std::uint64_t code = 0;
  for (unsigned i = 0; i < type.bytes; ++i)
    code |= std::to_integer<std::uint64_t>(at[big_endian ? type.bytes - 1 - i : i]) << (8 * i);
  if (type.kind == GgufKind::boolean) return code != 0 ? "true" : "false";
  if (type.kind == GgufKind::real)
    return type.bytes == 4 ? text_of(std::bit_cast<float>(static_cast<std::uint32_t>(code)))
                           : text_of(std::bit_cast<double>(code));
  if (type.name.front() == 'u') return text_of(code);
  const unsigned spare = 64 - 8U * type.bytes;
  return text_of(static_cast<std::int64_t>(code << spare) >> spare);
}

class Metadata {
 public:
  Metadata(const ByteSource& source, bool big_endian) : source_(source), big_endian_(big_endian) {}

  Status take(const NamePlace& key, const GgufValue& value) {
    if (key.bytes > left_) return {};
    BTF_ASSIGN(const std::string name, name_at(source_, key));
    BTF_ASSIGN(const std::string text, text_of_value(value));
    if (!is_utf8(name) || !is_utf8(text) || name.size() + text.size() > left_) return {};
    left_ -= name.size() + text.size();
    pairs_.emplace(name, text);
    return {};
  }

  std::map<std::string, std::string> release() && { return std::move(pairs_); }

 private:
  Result<std::string> text_of_value(const GgufValue& value) const {
    if (value.type->kind == GgufKind::text) {
      if (value.bytes > std::min(kLongestText, left_))
        return "string of " + std::to_string(value.bytes) + " bytes";
      return name_at(source_, {value.at, value.bytes});
    }
    const bool list = value.type->kind == GgufKind::list;
    if (list && (value.nested || value.of->kind == GgufKind::text || value.count > kLongestList))
      return std::string(value.of->name) + "[" + std::to_string(value.count) + "]";
    const GgufValueType& type = list ? *value.of : *value.type;
    std::array<std::byte, kLongestList * 8> bytes;
    BTF_TRY(source_.read_at(value.at, std::span(bytes).first(value.count * type.bytes)));
    std::string text;
    for (std::uint64_t i = 0; i < value.count; ++i)
      text += (i == 0 ? "" : ",") + scalar_text(type, bytes.data() + i * type.bytes, big_endian_);
    return list ? "[" + text + "]" : text;
  }

  const ByteSource& source_;
  bool big_endian_;
  std::map<std::string, std::string> pairs_;
  std::uint64_t left_ = kMostMetadata;
};

}  // namespace

Result<std::map<std::string, std::string>> gguf_metadata(const ByteSource& source,
                                                         const GgufHeader& header) {
  Metadata metadata(source, header.big_endian);
  BTF_TRY(for_gguf_keys(source, header, [&](const NamePlace& key, const GgufValue& value) {
    return metadata.take(key, value);
  }));
  return std::move(metadata).release();
}

}  // namespace btf
