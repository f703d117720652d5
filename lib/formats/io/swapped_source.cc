#include "formats/io/swapped_source.h"

#include <algorithm>
#include <array>
#include <vector>

#include "btf/try.h"

namespace btf {
namespace {

class SwappedSource final : public ByteSource {
 public:
  SwappedSource(const ByteSource& source, std::uint64_t first, std::uint64_t width)
      : source_(source), first_(first), width_(width) {}

  std::uint64_t size() const override { return source_.size(); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset < first_) {
      const std::uint64_t before = std::min<std::uint64_t>(out.size(), first_ - offset);
      BTF_TRY(source_.read_at(offset, out.first(before)));
      return before == out.size() ? Status{} : read_at(first_, out.subspan(before));
    }
    const std::uint64_t lead = (offset - first_) % width_;
    if (lead == 0 && out.size() % width_ == 0) {
      BTF_TRY(source_.read_at(offset, out));
      for (std::uint64_t at = 0; at < out.size(); at += width_)
        std::ranges::reverse(out.subspan(at, width_));
      return {};
    }
    return read_parts(offset, lead, out);
  }

 private:
  // Elements that are wanted in part, at either end.
  Status read_parts(std::uint64_t offset, std::uint64_t lead, std::span<std::byte> out) const {
    std::array<std::byte, 8> element{};
    while (!out.empty()) {
      const std::uint64_t part = std::min<std::uint64_t>(width_ - lead, out.size());
      if (lead == 0 && out.size() >= width_) {
        const std::uint64_t whole = out.size() - out.size() % width_;
        BTF_TRY(read_at(offset, out.first(whole)));
        offset += whole;
        out = out.subspan(whole);
        continue;
      }
      BTF_TRY(read_at(offset - lead, std::span(element).first(width_)));
      std::copy_n(element.begin() + static_cast<std::ptrdiff_t>(lead), part, out.begin());
      offset += part;
      out = out.subspan(part);
      lead = 0;
    }
    return {};
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t width_;
};

}  // namespace

std::unique_ptr<ByteSource> swapped_source(const ByteSource& source, std::uint64_t first,
                                           std::uint64_t width) {
  return std::make_unique<SwappedSource>(source, first, width);
}

}  // namespace btf
