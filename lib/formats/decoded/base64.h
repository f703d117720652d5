// Bytes as base64 text (RFC 4648, section 4: '+' and '/', padded with '=').
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_sink.h"
#include "formats/io/byte_source.h"

namespace btf {

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

}  // namespace btf
