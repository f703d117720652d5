#include "elements/shuffling_sink.h"

#include <algorithm>
#include <string>

#include "btf/try.h"
#include "core/buffer.h"
#include "kernels/move/byte_planes.h"

namespace btf {
namespace {

class ShufflingSink final : public ByteSink {
 public:
  ShufflingSink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes, std::uint64_t width,
                std::uint64_t block)
      : sink_(sink), next_(first), end_(first + bytes), width_(width), block_(block * width) {}

  bool random_access() const override { return false; }
  Status commit() override { return {}; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != next_ + gathered_ || bytes.size() > end_ - offset)
      return fail(ErrorCode::unsupported, "shuffled elements are written front to back and byte " +
                                              std::to_string(offset) + " is not the next one");
    while (!bytes.empty()) {
      const std::uint64_t block = std::min(block_, end_ - next_);
      const auto some = bytes.first(std::min<std::uint64_t>(bytes.size(), block - gathered_));
      bytes = bytes.subspan(some.size());
      if (some.size() == block) {
        BTF_TRY(write_block(some));
        continue;
      }
      std::byte* const gathered = elements_.reserve(block_);
      std::ranges::copy(some, gathered + gathered_);
      gathered_ += some.size();
      if (gathered_ == block) BTF_TRY(write_block({gathered, block}));
    }
    return {};
  }

 private:
  Status write_block(std::span<const std::byte> elements) {
    std::byte* const planes = planes_.reserve(elements.size());
    split_planes(elements.data(), elements.size() / width_, width_, planes);
    BTF_TRY(sink_.write_at(next_, std::span(planes, elements.size())));
    next_ += elements.size();
    gathered_ = 0;
    return {};
  }

  ByteSink& sink_;
  std::uint64_t next_;  // where the next block goes
  std::uint64_t end_;
  std::uint64_t width_;
  std::uint64_t block_;         // bytes
  std::uint64_t gathered_ = 0;  // bytes of the next block
  Buffer elements_;
  Buffer planes_;
};

}  // namespace

std::unique_ptr<ByteSink> shuffling_sink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes,
                                         Layout layout, DType dtype) {
  const std::uint64_t block = spec(layout).shuffle_block;
  if (block == 0) return nullptr;
  const std::uint64_t width = info(dtype).buffer_bytes();
  return std::make_unique<ShufflingSink>(sink, first, bytes, width, block);
}

}  // namespace btf
