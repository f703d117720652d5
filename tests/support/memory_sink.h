// Memory that is written as a file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/numbers.h"
#include "formats/io/output.h"

class MemorySink final : public btf::ByteSink {
 public:
  explicit MemorySink(std::span<std::byte> bytes) : bytes_(bytes) {}

  bool random_access() const override { return true; }

  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (!btf::fits(offset, bytes.size(), bytes_.size()))
      return btf::fail(btf::ErrorCode::invalid_argument, "past the end");
    if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    return {};
  }

  btf::Status commit() override { return {}; }

 private:
  std::span<std::byte> bytes_;
};
