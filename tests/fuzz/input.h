// Numbers taken from the front of an input; zeros where it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

inline BytesView view(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline std::string_view text(BytesView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Input {
 public:
  explicit Input(BytesView bytes) : left_(bytes) {}

  std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes && !left_.empty(); ++i, left_ = left_.subspan(1))
      value |= std::to_integer<std::uint64_t>(left_.front()) << (8 * i);
    return value;
  }
  std::uint64_t byte() { return number(1); }
  // One byte decides: at most 256 choices.
  std::uint64_t below(std::uint64_t bound) { return byte() % bound; }
  bool flag() { return byte() % 2 != 0; }
  // About one in `in`, and not where the input has ended.
  bool rarely(std::uint64_t in) { return byte() % in == in - 1; }

  BytesView take(std::size_t count) {
    const BytesView taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  BytesView rest() { return take(left_.size()); }
  std::size_t size() const { return left_.size(); }

  template <typename Rows>
  auto& row(Rows&& rows) {
    return rows[below(rows.size())];
  }

 private:
  BytesView left_;
};

// What must hold whatever the input is, does not: the fuzzer keeps the input.
[[noreturn]] inline void broken(std::string_view what) {
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

inline void require(bool holds, std::string_view what) {
  if (!holds) broken(what);
}

}  // namespace fuzz

// The entry point of every target; replay.cc calls it where libFuzzer does not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
