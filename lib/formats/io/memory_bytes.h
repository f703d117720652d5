// Bytes in memory as a source, for who works on files otherwise.
#pragma once

#include <cstring>

#include "core/checked_math.h"
#include "formats/io/byte_source.h"

namespace btf {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size())) return fail(ErrorCode::malformed, "past the end");
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }

  std::span<const std::byte> held() const override { return bytes_; }

  Status check_unchanged() const override { return {}; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace btf
