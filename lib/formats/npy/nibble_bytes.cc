#include "formats/npy/nibble_bytes.h"

#include <algorithm>
#include <array>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"

namespace btf {
namespace {

constexpr std::uint64_t kBlock = 4096;  // codes

std::string hex(std::byte byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = std::to_integer<std::size_t>(byte);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 0xf]};
}

class PackedSource final : public ByteSource {
 public:
  PackedSource(const ByteSource& source, std::uint64_t first, std::uint64_t count, DType dtype)
      : source_(source),
        first_(first),
        count_(count),
        row_(info(dtype)),
        extended_(row_.kind == NumberKind::signed_integer ? 0xf8 : 0x100) {}

  std::uint64_t size() const override { return first_ + ceil_div(count_, 2); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of the elements");
    if (offset < first_) {
      const std::uint64_t before = std::min<std::uint64_t>(out.size(), first_ - offset);
      BTF_TRY(source_.read_at(offset, out.first(before)));
      out = out.subspan(before);
      offset += before;
    }
    std::array<std::byte, kBlock> codes{};
    for (std::uint64_t code = (offset - first_) * 2; !out.empty(); code += kBlock) {
      const std::uint64_t bytes = std::min<std::uint64_t>(kBlock / 2, out.size());
      const std::uint64_t some = std::min(bytes * 2, count_ - code);
      BTF_TRY(source_.read_at(first_ + code, std::span(codes).first(some)));
      BTF_TRY(check(std::span(codes).first(some), first_ + code));
      if (some % 2 != 0) codes[some] = std::byte{};
      for (std::uint64_t i = 0; i < bytes; ++i)
        out[i] = (codes[2 * i] & std::byte{0xf}) | codes[2 * i + 1] << 4;
      out = out.subspan(bytes);
    }
    return {};
  }

 private:
  // Neither 0 to 15 nor, of a signed type, a negative code with its sign in the high nibble too.
  bool odd(std::byte byte) const {
    const auto value = std::to_integer<unsigned>(byte);
    return value > 0xf && value < extended_;
  }

  Status check(std::span<const std::byte> codes, std::uint64_t offset) const {
    bool any = false;
    for (const std::byte byte : codes) any |= odd(byte);
    if (!any) return {};
    const auto found = std::ranges::find_if(codes, [this](std::byte b) { return odd(b); });
    const std::uint64_t at = offset + static_cast<std::uint64_t>(found - codes.begin());
    return malformed("nibble-byte", at,
                     hex(*found) + " at byte " + std::to_string(at) + " is not " +
                         std::string(row_.name) +
                         ": each has a byte of its own here, 0x00 to 0x0f" +
                         (extended_ <= 0xff ? " or, with its sign, 0xf8 to 0xff" : "") +
                         "; two in a byte are raw bytes, from byte " + std::to_string(first_) +
                         " on, and need a spec such as " + std::string(row_.name) + ":DIMS");
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t count_;
  const DTypeInfo& row_;
  unsigned extended_;  // bytes from here on are codes with their sign
};

class SpreadSink final : public ByteSink {
 public:
  SpreadSink(ByteSink& sink, std::uint64_t first, std::uint64_t count)
      : sink_(sink), first_(first), count_(count) {}

  bool random_access() const override { return sink_.random_access(); }
  Status commit() override { return {}; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::array<std::byte, kBlock> codes{};
    for (std::uint64_t code = (offset - first_) * 2; !bytes.empty(); code += kBlock) {
      const std::uint64_t some = std::min<std::uint64_t>(kBlock / 2, bytes.size());
      for (std::uint64_t i = 0; i < some; ++i) {
        codes[2 * i] = bytes[i] & std::byte{0xf};
        codes[2 * i + 1] = bytes[i] >> 4;
      }
      // The last byte may hold one code only.
      BTF_TRY(
          sink_.write_at(first_ + code, std::span(codes).first(std::min(some * 2, count_ - code))));
      bytes = bytes.subspan(some);
    }
    return {};
  }

 private:
  ByteSink& sink_;
  std::uint64_t first_;
  std::uint64_t count_;
};

}  // namespace

std::unique_ptr<ByteSource> packed_source(const ByteSource& source, std::uint64_t first,
                                          std::uint64_t count, DType dtype) {
  return std::make_unique<PackedSource>(source, first, count, dtype);
}

std::unique_ptr<ByteSink> spread_sink(ByteSink& sink, std::uint64_t first, std::uint64_t count) {
  return std::make_unique<SpreadSink>(sink, first, count);
}

}  // namespace btf
