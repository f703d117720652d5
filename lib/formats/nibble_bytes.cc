#include "formats/nibble_bytes.h"

#include <algorithm>
#include <array>

#include "core/checked_math.h"
#include "core/try.h"

namespace btf {
namespace {

constexpr std::uint64_t kBlock = 4096;  // codes

class PackedSource final : public ByteSource {
 public:
  PackedSource(const ByteSource& source, std::uint64_t first, std::uint64_t count)
      : source_(source), first_(first), count_(count) {}

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
      if (some % 2 != 0) codes[some] = std::byte{};
      for (std::uint64_t i = 0; i < bytes; ++i)
        out[i] = (codes[2 * i] & std::byte{0xf}) | codes[2 * i + 1] << 4;
      out = out.subspan(bytes);
    }
    return {};
  }

 private:
  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t count_;
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
                                          std::uint64_t count) {
  return std::make_unique<PackedSource>(source, first, count);
}

std::unique_ptr<ByteSink> spread_sink(ByteSink& sink, std::uint64_t first, std::uint64_t count) {
  return std::make_unique<SpreadSink>(sink, first, count);
}

}  // namespace btf
