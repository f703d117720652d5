#include "formats/decoded_cache.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/io/output.h"

namespace btf {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint32_t kNotBase64 = 0x80;  // not one of the values of a character

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotBase64);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

constexpr std::uint32_t value_of(std::byte c) { return kValues[std::to_integer<std::size_t>(c)]; }

constexpr std::uint64_t kBase64Block = 12U
                                       << 10;  // characters decoded at a time; whole groups of four

class Base64Source final : public ByteSource {
 public:
  Base64Source(const ByteSource& source, std::uint64_t offset, std::uint64_t bytes,
               FindingCode finding)
      : source_(source), offset_(offset), bytes_(bytes), finding_(finding) {}

  std::uint64_t size() const override { return bytes_; }
  Status check_unchanged() const override { return source_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of base64 text");
    std::array<std::byte, kBase64Block> text;
    std::array<std::byte, kBase64Block / 4 * 3> decoded;
    while (!out.empty()) {
      const std::uint64_t group = offset / 3;
      const std::uint64_t skip = offset % 3;
      const std::uint64_t groups =
          std::min<std::uint64_t>(ceil_div(skip + out.size(), 3), kBase64Block / 4);
      const auto chars = std::span(text).first(groups * 4);
      BTF_TRY(source_.read_at(offset_ + group * 4, chars));
      BTF_TRY(decode(chars, offset_ + group * 4, decoded.data()));
      const std::uint64_t some = std::min<std::uint64_t>(groups * 3 - skip, out.size());
      std::copy_n(decoded.begin() + static_cast<std::ptrdiff_t>(skip), some, out.begin());
      out = out.subspan(some);
      offset += some;
    }
    return {};
  }

 private:
  Status decode(std::span<std::byte> text, std::uint64_t at, std::byte* out) const {
    // The padding at the end represents nothing; 'A' represents zeros.
    const std::uint64_t end = offset_ + base64_chars(bytes_);
    if (at + text.size() == end)
      for (std::uint64_t i = 0; i < (3 - bytes_ % 3) % 3; ++i)
        text[text.size() - 1 - i] = std::byte{'A'};
    std::uint32_t wrong = 0;
    for (std::size_t i = 0; i < text.size(); i += 4, out += 3) {
      const std::uint32_t a = value_of(text[i]);
      const std::uint32_t b = value_of(text[i + 1]);
      const std::uint32_t c = value_of(text[i + 2]);
      const std::uint32_t d = value_of(text[i + 3]);
      wrong |= a | b | c | d;
      const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
      out[0] = static_cast<std::byte>(bits >> 16 & 0xff);
      out[1] = static_cast<std::byte>(bits >> 8 & 0xff);
      out[2] = static_cast<std::byte>(bits & 0xff);
    }
    if ((wrong & kNotBase64) == 0) return {};
    const auto first =
        std::ranges::find_if(text, [](std::byte c) { return value_of(c) == kNotBase64; });
    const std::uint64_t place = at + static_cast<std::uint64_t>(first - text.begin());
    return malformed(finding_, place, "the character at byte ", place, " is not base64");
  }

  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
  FindingCode finding_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> base64_source(const ByteSource& source, std::uint64_t offset,
                                                  std::uint64_t length, FindingCode finding) {
  if (length % 4 != 0)
    return malformed(finding, offset, "base64 text has a multiple of 4 characters, this has ",
                     length);
  std::uint64_t padding = 0;
  if (length > 0) {
    std::array<std::byte, 4> last;
    BTF_TRY(source.read_at(offset + length - 4, last));
    if (last[3] == std::byte{'='}) padding = last[2] == std::byte{'='} ? 2 : 1;
    // Nonzero bits after the last byte show that something was cut off.
    const std::uint32_t rest = padding == 2   ? value_of(last[1]) & 0xf
                               : padding == 1 ? value_of(last[2]) & 0x3
                                              : 0;
    if (rest != 0) return malformed(finding, offset + length - 4, "base64 text ends within a byte");
  }
  return std::make_unique<Base64Source>(source, offset, length / 4 * 3 - padding, finding);
}

Status Base64Sink::write_at(std::uint64_t, std::span<const std::byte> bytes) {
  if (!held_.empty()) {
    const std::size_t some = std::min<std::size_t>(3 - held_.size(), bytes.size());
    held_.insert(held_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(some));
    bytes = bytes.subspan(some);
    if (held_.size() < 3) return {};
    BTF_TRY(put(held_));
    held_.clear();
  }
  const std::size_t whole = bytes.size() / 3 * 3;
  BTF_TRY(put(bytes.first(whole)));
  held_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
  return {};
}

Status Base64Sink::put(std::span<const std::byte> triples) {
  std::array<std::byte, kBase64Block> text;
  while (!triples.empty()) {
    const std::size_t some = std::min<std::size_t>(triples.size(), kBase64Block / 4 * 3);
    for (std::size_t i = 0; i < some; i += 3) {
      const auto byte = [&](std::size_t k) {
        return std::to_integer<std::uint32_t>(triples[i + k]);
      };
      const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
      for (std::size_t k = 0; k < 4; ++k)
        text[i / 3 * 4 + k] = static_cast<std::byte>(kAlphabet[bits >> (18 - 6 * k) & 0x3f]);
    }
    BTF_TRY(sink_.write_at(at_, std::span(text).first(some / 3 * 4)));
    at_ += some / 3 * 4;
    triples = triples.subspan(some);
  }
  return {};
}

Status Base64Sink::commit() {
  if (held_.empty()) return {};
  const std::size_t padding = 3 - held_.size();
  held_.resize(3);
  std::array<std::byte, 4> last;
  const auto byte = [&](std::size_t k) { return std::to_integer<std::uint32_t>(held_[k]); };
  const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
  for (std::size_t k = 0; k < 4; ++k)
    last[k] = k + padding > 3 ? std::byte{'='}
                              : static_cast<std::byte>(kAlphabet[bits >> (18 - 6 * k) & 0x3f]);
  held_.clear();
  BTF_TRY(sink_.write_at(at_, last));
  at_ += last.size();
  return {};
}

namespace {

class CachedSource final : public ByteSource {
 public:
  CachedSource(DecodedCache& contents, std::uint64_t key, std::uint64_t size,
               const ByteSource& from, DecodedCache::Make make)
      : contents_(contents), key_(key), size_(size), from_(from), make_(std::move(make)) {}

  std::uint64_t size() const override { return size_; }
  Status check_unchanged() const override { return from_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of what was unpacked");
    BTF_ASSIGN(const auto content, contents_.of(key_, make_));
    return content->read_at(offset, out);
  }

 private:
  DecodedCache& contents_;
  std::uint64_t key_;
  std::uint64_t size_;
  const ByteSource& from_;
  DecodedCache::Make make_;
};

}  // namespace

std::unique_ptr<ByteSource> DecodedCache::source(std::uint64_t key, std::uint64_t size,
                                                 const ByteSource& from, Make make) {
  return std::make_unique<CachedSource>(*this, key, size, from, std::move(make));
}

Result<std::shared_ptr<const Spool>> DecodedCache::of(std::uint64_t key, const Make& make) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().content;
  }
  // Make room first, so that contents no longer needed do not take it from others.
  if (kept_.size() == kKept) kept_.erase(kept_.begin());
  BTF_ASSIGN(Spool content, make());
  kept_.push_back({key, std::make_shared<const Spool>(std::move(content))});
  return kept_.back().content;
}

Status check_room_for(std::uint64_t bytes) {
  const std::uint64_t room = Spool::room();
  if (bytes <= room) return {};
  return fail(ErrorCode::no_space, "its content takes ", bytes,
              " bytes of temporary space, at most ", room, " are available in ",
              temporary_directory());
}

}  // namespace btf
