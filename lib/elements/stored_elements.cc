#include "elements/stored_elements.h"

#include <algorithm>
#include <array>
#include <span>

#include "btf/try.h"
#include "core/checked_math.h"
#include "kernels/move/byte_planes.h"

namespace btf {

StoredElements::StoredElements(const ByteSource& source, std::uint64_t offset, DType dtype)
    : source_(source), offset_(offset), width_(info(dtype).buffer_bytes()) {}

StoredElements::StoredElements(const ByteSource& source, const TensorInfo& record)
    : StoredElements(source, record.data_offset, *record.dtype) {
  block_ = spec(*record.layout).shuffle_block;
  elements_ = record.storage->storage_elements;
}

StoredElements::Block StoredElements::block_of(std::uint64_t element) const {
  const std::uint64_t first = element - element % block_;
  return {first, std::min(block_, elements_ - first)};
}

Status StoredElements::read(std::uint64_t first, std::uint64_t count, std::byte* out) {
  if (block_ == 0) return source_.read_at(offset_ + first * width_, std::span(out, count * width_));
  while (count > 0) {
    const Block block = block_of(first);
    const std::uint64_t some = std::min(count, block.first + block.count - first);
    BTF_TRY(read_shuffled(block, first, some, out));
    first += some;
    count -= some;
    out += some * width_;
  }
  return {};
}

const std::byte* StoredElements::held(std::uint64_t first, std::uint64_t count) const {
  const std::span<const std::byte> bytes = source_.held();
  const std::uint64_t begin = offset_ + first * width_;
  if (block_ != 0 || !fits(begin, count * width_, bytes.size())) return nullptr;
  const std::byte* const found = bytes.data() + begin;
  return reinterpret_cast<std::uintptr_t>(found) % width_ == 0 ? found : nullptr;
}

Status StoredElements::read_shuffled(const Block& block, std::uint64_t first, std::uint64_t count,
                                     std::byte* out) {
  std::byte* bytes = planes_.reserve(count * width_);
  std::array<const std::byte*, sizeof(std::uint64_t)> planes{};
  for (std::uint64_t k = 0; k < width_; ++k) planes[k] = bytes + k * count;
  const std::uint64_t block_at = offset_ + block.first * width_;
  // The planes of a block that is wanted whole are contiguous in the file too.
  if (count == block.count) {
    BTF_TRY(source_.read_at(block_at, std::span(bytes, count * width_)));
  } else {
    for (std::uint64_t k = 0; k < width_; ++k)
      BTF_TRY(source_.read_at(block_at + k * block.count + (first - block.first),
                              std::span(bytes + k * count, count)));
  }
  join_planes(planes.data(), count, width_, out);
  return {};
}

std::uint64_t StoredElements::place(std::uint64_t element) const {
  if (block_ == 0) return offset_ + element * width_;
  const Block block = block_of(element);
  return offset_ + block.first * width_ + (element - block.first);
}

}  // namespace btf
