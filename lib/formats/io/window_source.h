// A source of which small parts are read, one near the other: one read of the system for many.
#pragma once

#include <algorithm>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/byte_source.h"
#include "formats/io/window.h"

namespace btf {

// Not for several threads at once. The source outlives it.
class WindowSource final : public ByteSource {
 public:
  explicit WindowSource(const ByteSource& source)
      : source_(source), window_(source, source.size()) {}

  std::uint64_t size() const override { return source_.size(); }
  Status check_unchanged() const override { return source_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (out.size() > Window::kBytes || !fits(offset, out.size(), size()))
      return source_.read_at(offset, out);
    BTF_ASSIGN(const std::byte* const from, window_.at(offset, out.size()));
    std::copy_n(from, out.size(), out.begin());
    return {};
  }

 private:
  const ByteSource& source_;
  mutable Window window_;
};

}  // namespace btf
