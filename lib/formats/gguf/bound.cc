#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <string_view>

#include "btf/try.h"
#include "formats/gguf/gguf.h"
#include "formats/gguf/header.h"

namespace btf {
namespace {

class GgufBound final : public StreamBound {
 public:
  // Where the header ends shows at its end only: it is read when there is twice as much.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (next_ == kUnlimited || content.size() < next_) return {};
    const auto header = read_gguf_header(content);
    if (!header && header.error().finding.empty()) return std::unexpected(header.error());
    if (header) extent.need(header->data_end);
    if (header || header.error().finding != "data-past-end") {
      next_ = kUnlimited;
      return {};
    }
    const std::uint64_t enough = std::min(2 * content.size(), kLongestGgufHeader);
    extent.allow(enough + kContentSlack);
    next_ = enough > content.size() ? enough : kUnlimited;
    return {};
  }
  std::string_view whose() const override { return "its GGUF header"; }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

 private:
  std::uint64_t next_ = 0;  // so much is wanted before the header is read again
};

}  // namespace

// A BTF file with as many tensors has zeros behind them.
Result<bool> begins_as_gguf(const ByteSource& beginning) {
  std::array<char, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, std::as_writable_bytes(std::span(start))));
  return std::string_view(start.data(), start.size()).starts_with(kGgufMagic) &&
         std::ranges::any_of(start | std::views::drop(kGgufMagic.size()),
                             [](char c) { return c != 0; });
}

std::unique_ptr<StreamBound> gguf_bound() { return std::make_unique<GgufBound>(); }

}  // namespace btf
