// Decoded contents: base64, and a cache of decoded data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {

// Bytes as base64 text (RFC 4648, section 4: '+' and '/', padded with '=').

constexpr std::uint64_t base64_chars(std::uint64_t bytes) {
  return bytes / 3 * 4 + (bytes % 3 == 0 ? 0 : 4);
}

// The bytes encoded by the text in [offset, offset + length). Its length and end are checked at
// once, every other character when it is read: an error with `finding` gives its byte in the text.
// The source must outlive the result.
Result<std::unique_ptr<ByteSource>> base64_source(const ByteSource& source, std::uint64_t offset,
                                                  std::uint64_t length, FindingCode finding);

// Writes base64 text from front to back.
class Base64Sink final : public ByteSink {
 public:
  // The text begins at `offset` of the sink, which must outlive this object and is not committed by
  // it.
  Base64Sink(ByteSink& sink, std::uint64_t offset) : sink_(sink), at_(offset) {}

  bool random_access() const override { return false; }
  // `offset` counts decoded bytes from 0 on; calls must be consecutive.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  // Writes the rest with padding.
  Status commit() override;

 private:
  Status put(std::span<const std::byte> triples);

  ByteSink& sink_;
  std::uint64_t at_;             // offset of the next text
  std::vector<std::byte> held_;  // bytes of an incomplete triple
};

// Contents that are made from other bytes by inflating, decoding or parsing.

// They are made when they are first read. The most recent ones are kept; others are made again when
// they are needed.
class DecodedCache {
 public:
  using Make = std::function<Result<Spool>()>;

  // A source for contents of this size, made from `from` when it is read. This object must outlive
  // it. Each content has its own key.
  std::unique_ptr<ByteSource> source(std::uint64_t key, std::uint64_t size, const ByteSource& from,
                                     Make make);

  Result<std::shared_ptr<const Spool>> of(std::uint64_t key, const Make& make);

 private:
  // One operation reads at most this many in parallel: a tensor, its scales and its zero points.
  static constexpr std::size_t kKept = 4;
  struct Kept {
    std::uint64_t key = 0;
    std::shared_ptr<const Spool> content;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // the most recently read is the last
};

// An error if there is not enough temporary space for the bytes.
Status check_room_for(std::uint64_t bytes);

}  // namespace btf
