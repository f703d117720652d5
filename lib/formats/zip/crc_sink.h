// The crc of what is written, in whatever order it comes.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "btf/error.h"
#include "formats/io/byte_sink.h"

namespace btf {

// Passes everything on. The crc of a whole is a sum of what its parts add to it, by where they
// stand, so nothing has to be kept of them. Threads may write at once where the sink lets them.
class CrcSink final : public ByteSink {
 public:
  // The crc of bytes [begin, end) of the sink, which outlives this and is not committed by it.
  CrcSink(ByteSink& sink, std::uint64_t begin, std::uint64_t end)
      : sink_(sink), end_(end), missing_(end - begin) {}

  bool random_access() const override { return sink_.random_access(); }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Status begin_piece(std::uint64_t bytes) override { return sink_.begin_piece(bytes); }
  Status commit() override { return {}; }

  // When every byte was written once.
  Result<std::uint32_t> crc() const;

 private:
  ByteSink& sink_;
  std::uint64_t end_;
  std::atomic<std::uint64_t> missing_;
  std::atomic<std::uint32_t> sum_ = 0;
};

}  // namespace btf
