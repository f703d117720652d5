#include "formats/gguf/block_source.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "btf/try.h"
#include "core/checked_math.h"

namespace btf {
namespace {

constexpr std::size_t kChunk = 16384;  // bytes of blocks that are read at once

class BlockSource final : public ByteSource {
 public:
  BlockSource(const ByteSource& source, std::uint64_t first, std::uint64_t elements,
              const GgmlType& type)
      : source_(source), first_(first), elements_(elements), type_(type) {}

  std::uint64_t size() const override { return elements_ * sizeof(float); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of the elements");
    const std::uint64_t width = type_.elements * sizeof(float);
    std::uint64_t skip = offset % width;
    std::array<std::byte, kChunk> blocks;
    for (std::uint64_t block = offset / width; !out.empty();) {
      const std::uint64_t count =
          std::min(kChunk / type_.bytes, ceil_div(skip + out.size(), width));
      const std::span wanted = std::span(blocks).first(count * type_.bytes);
      BTF_TRY(source_.read_at(first_ + block * type_.bytes, wanted));
      decode(wanted, skip, out);
      block += count;
    }
    return {};
  }

 private:
  // Without the first `skip` bytes of what they stand for; then there are none to be left out.
  void decode(std::span<const std::byte> blocks, std::uint64_t& skip,
              std::span<std::byte>& out) const {
    std::array<float, kMostBlockElements> numbers;
    const std::uint64_t width = type_.elements * sizeof(float);
    for (std::size_t at = 0; at < blocks.size(); at += type_.bytes) {
      type_.decode(blocks.data() + at, numbers.data());
      const std::uint64_t some = std::min<std::uint64_t>(width - skip, out.size());
      std::memcpy(out.data(), std::as_bytes(std::span(numbers)).data() + skip, some);
      out = out.subspan(some);
      skip = 0;
    }
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t elements_;
  const GgmlType& type_;
};

}  // namespace

std::unique_ptr<ByteSource> block_source(const ByteSource& source, std::uint64_t first,
                                         std::uint64_t elements, const GgmlType& type) {
  return std::make_unique<BlockSource>(source, first, elements, type);
}

}  // namespace btf
