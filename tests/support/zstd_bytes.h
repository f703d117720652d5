// Compressed files in memory, made with the library's own sink.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "formats/zstd_sink.h"
#include "support/btf_bytes.h"

namespace bytes {

// Keeps what is written to it.
class GrowingSink final : public btf::ByteSink {
 public:
  bool random_access() const override { return false; }
  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != content.size()) return btf::fail(btf::ErrorCode::io, "not the next byte");
    content.insert(content.end(), bytes.begin(), bytes.end());
    return {};
  }
  btf::Status commit() override { return {}; }

  Bytes content;
};

// Half of the bits are noise.
inline Bytes noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes all(size);
  for (std::byte& byte : all) byte = static_cast<std::byte>(random() & 0xf);
  return all;
}

// Handed over in odd portions, on which frames must not depend. `pieces` are where pieces end.
inline btf::Status compress_to(btf::ByteSink& file, const Bytes& content, unsigned threads,
                               const std::vector<std::size_t>& pieces = {}, int level = 1) {
  const auto sink = btf::zstd::compressing_sink(file, {.level = level}, threads);
  std::size_t at = 0;
  const auto write_to = [&](std::size_t end) -> btf::Status {
    for (std::size_t portion = 1; at < end; portion = portion * 3 + 1) {
      const std::size_t some = std::min(portion, end - at);
      if (auto status = sink->write_at(at, std::span(content).subspan(at, some)); !status)
        return status;
      at += some;
    }
    return {};
  };
  for (const std::size_t piece : pieces) {
    if (auto status = write_to(piece); !status) return status;
    // None of them is small.
    if (auto status = sink->begin_piece(1U << 20); !status) return status;
  }
  if (auto status = write_to(content.size()); !status) return status;
  return sink->commit();
}

inline Bytes compress(const Bytes& content, unsigned threads,
                      const std::vector<std::size_t>& pieces = {}, int level = 1) {
  GrowingSink file;
  if (const auto status = compress_to(file, content, threads, pieces, level); !status)
    throw std::runtime_error(status.error().text());
  return std::move(file.content);
}

}  // namespace bytes
