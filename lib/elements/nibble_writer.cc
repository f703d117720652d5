#include "elements/nibble_writer.h"

#include <algorithm>
#include <cstring>

#include "btf/try.h"
#include "core/checked_math.h"
#include "kernels/move/nibbles.h"
#include "kernels/move/stream.h"

namespace btf {
namespace {

// Adjacent bytes that one slab writes.
struct NibbleRun {
  std::uint64_t first = 0;        // byte of the tensor
  std::optional<std::byte> head;  // shared with the slab before it
  const std::byte* codes = nullptr;
  std::uint64_t count = 0;        // an odd one ends the tensor
  std::optional<std::byte> tail;  // shared with the slab behind it

  std::uint64_t packed_bytes() const { return ceil_div(count, 2); }
};

class NibbleWriter : public SlabWriter {
 public:
  NibbleWriter(StridedLayout storage, NibbleSeams& seams)
      : storage_(std::move(storage)), padded_(storage_.padded()), seams_(seams) {}

  Result<TargetSlab> begin(const Box& box) override {
    to_ = footprint(storage_, box);
    std::byte* codes = codes_.reserve(to_.elements);
    if (padded_) std::memset(codes, 0, to_.elements);
    return TargetSlab{{codes, to_.packed}};
  }

  Status finish() override {
    NibbleRun run{.first = to_.base / 2,
                  .head = {},
                  .codes = codes_.data(),
                  .count = to_.elements,
                  .tail = {}};
    if (run.count == 0) return {};
    const std::uint64_t end = to_.base + to_.elements;
    if (to_.base % 2 != 0) {
      run.head = seams_.join(run.first, *run.codes << 4);
      if (!run.head) ++run.first;
      ++run.codes;
      --run.count;
    }
    if (end % 2 != 0 && end != storage_.storage_elements) {
      --run.count;
      run.tail = seams_.join(end / 2, run.codes[run.count]);
    }
    return write(run);
  }

 protected:
  virtual Status write(const NibbleRun& run) = 0;

 private:
  StridedLayout storage_;
  bool padded_;
  NibbleSeams& seams_;
  Footprint to_;
  Buffer codes_;
};

class FileNibbleWriter final : public NibbleWriter {
 public:
  FileNibbleWriter(ByteSink& sink, std::uint64_t data_offset, StridedLayout storage,
                   NibbleSeams& seams)
      : NibbleWriter(std::move(storage), seams), sink_(sink), data_offset_(data_offset) {}

 private:
  Status write(const NibbleRun& run) override {
    std::byte* const packed = packed_.reserve(run.packed_bytes() + 2);
    std::byte* end = packed;
    if (run.head) *end++ = *run.head;
    pack_nibbles(run.codes, run.count, end);
    end += run.packed_bytes();
    if (run.tail) *end++ = *run.tail;
    return sink_.write_at(data_offset_ + run.first, std::span(packed, end));
  }

  ByteSink& sink_;
  std::uint64_t data_offset_;
  Buffer packed_;
};

class MemoryNibbleWriter final : public NibbleWriter {
 public:
  MemoryNibbleWriter(std::byte* data, StridedLayout storage, bool stream, NibbleSeams& seams)
      : NibbleWriter(std::move(storage), seams), data_(data), stream_(stream) {}

 private:
  Status write(const NibbleRun& run) override {
    std::byte* to = data_ + run.first;
    if (run.head) *to++ = *run.head;
    if (stream_)
      stream_nibbles(run.codes, run.count, to);
    else
      pack_nibbles(run.codes, run.count, to);
    if (run.tail) to[run.packed_bytes()] = *run.tail;
    return {};
  }

  void stream_nibbles(const std::byte* codes, std::uint64_t count, std::byte* to) {
    std::byte* const packed = packed_.reserve(kPiece);
    // Every piece but the last ends where a line of the caches does.
    std::uint64_t most = 2 * (kPiece - reinterpret_cast<std::uintptr_t>(to) % kLine);
    while (count != 0) {
      const std::uint64_t some = std::min(most, count);
      pack_nibbles(codes, some, packed);
      stream_copy(packed, to, ceil_div(some, 2));
      codes += some;
      count -= some;
      to += some / 2;
      most = 2 * kPiece;
    }
    stream_fence();
  }

  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kPiece = 16U << 10;  // bytes that stay in the nearest cache

  std::byte* data_;
  bool stream_;
  Buffer packed_;
};

}  // namespace

std::optional<std::byte> NibbleSeams::join(std::uint64_t byte, std::byte code) {
  const std::scoped_lock lock(mutex_);
  const auto [other, first] = waiting_.try_emplace(byte, code);
  if (first) return std::nullopt;
  const std::byte whole = other->second | code;
  waiting_.erase(other);
  return whole;
}

std::unique_ptr<SlabWriter> nibble_file_writer(ByteSink& sink, std::uint64_t data_offset,
                                               const StridedLayout& storage, NibbleSeams& seams) {
  return std::make_unique<FileNibbleWriter>(sink, data_offset, storage, seams);
}

std::unique_ptr<SlabWriter> nibble_memory_writer(std::byte* data, const StridedLayout& storage,
                                                 bool stream, NibbleSeams& seams) {
  return std::make_unique<MemoryNibbleWriter>(data, storage, stream, seams);
}

}  // namespace btf
