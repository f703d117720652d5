// Decoded contents: base64, and a cache of what was decoded.
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

// The bytes encoded by the text in [offset, offset + length). Its length and its end are checked,
// every other character when it is read: an error names the byte of the text with `finding`. The
// source outlives it.
Result<std::unique_ptr<ByteSource>> base64_source(const ByteSource& source, std::uint64_t offset,
                                                  std::uint64_t length, FindingCode finding);

// Writes text in order, from front to back.
class Base64Sink final : public ByteSink {
 public:
  // The text begins at `offset` of the sink, which outlives this and is not committed by it.
  Base64Sink(ByteSink& sink, std::uint64_t offset) : sink_(sink), at_(offset) {}

  bool random_access() const override { return false; }
  // `offset` counts bytes from 0 on; each must follow on the last.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  // Writes what is left, padded.
  Status commit() override;

 private:
  Status put(std::span<const std::byte> triples);

  ByteSink& sink_;
  std::uint64_t at_;             // of the text that comes next
  std::vector<std::byte> held_;  // of a triple that is not whole
};

// Contents that are made of other bytes: inflated, decoded, parsed.

// They are made when they are read for the first time. Those read last are kept; others are made
// anew when they are wanted again.
class DecodedCache {
 public:
  using Make = std::function<Result<Spool>()>;

  // Contents of this size as a source, made from `from`. This outlives it. Each
  // has a key of its own.
  std::unique_ptr<ByteSource> source(std::uint64_t key, std::uint64_t size, const ByteSource& from,
                                     Make make);

  Result<std::shared_ptr<const Spool>> of(std::uint64_t key, const Make& make);

 private:
  // As many as one operation reads side by side: a tensor, its scales and its zero points.
  static constexpr std::size_t kKept = 4;
  struct Kept {
    std::uint64_t key = 0;
    std::shared_ptr<const Spool> content;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // what was read last is the last
};

// An error if there is no room for the bytes.
Status check_room_for(std::uint64_t bytes);

}  // namespace btf
