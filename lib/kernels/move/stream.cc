#include <algorithm>
#include <cstring>

#include "kernels/cpu/simd_targets.h"
#include "kernels/move/move.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/stream.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLineBytes = 64;

// `target` must be aligned to a line; `bytes` and `pitch` must be multiples of it.
void stream_lines(const std::byte* source, std::byte* target, std::size_t bytes, std::size_t pitch,
                  std::size_t count) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(target + i * pitch, source + i * bytes, bytes);
#else
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint8_t*>(source);
  for (std::size_t i = 0; i < count; ++i) {
    auto* to = reinterpret_cast<std::uint8_t*>(target + i * pitch);
    for (std::size_t line = 0; line < bytes; line += kLineBytes)
      for (std::size_t at = line; at < line + kLineBytes; at += lanes)
        hn::Stream(hn::LoadU(d, from + at), d, to + at);
    from += bytes;
  }
#endif
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

void stream_copy(const std::byte* source, std::byte* target, std::uint64_t bytes) {
  constexpr std::uint64_t kLineBytes = 64;
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(target) % kLineBytes;
  const std::uint64_t head = std::min(bytes, past == 0 ? 0 : kLineBytes - past);
  const std::uint64_t lines = (bytes - head) / kLineBytes * kLineBytes;
  const std::uint64_t tail = bytes - head - lines;
  if (head != 0) std::memcpy(target, source, head);
  if (lines != 0) BTF_SIMD_CALL(stream_lines)(source + head, target + head, lines, lines, 1);
  if (tail != 0) std::memcpy(target + head + lines, source + head + lines, tail);
}

void stream_pieces(const std::byte* source, std::byte* target, std::uint64_t bytes,
                   std::uint64_t pitch, std::uint64_t count) {
  if ((reinterpret_cast<std::uintptr_t>(target) | bytes | pitch) % 64 == 0)
    return BTF_SIMD_CALL(stream_lines)(source, target, bytes, pitch, count);
  for (std::uint64_t i = 0; i < count; ++i)
    stream_copy(source + i * bytes, target + i * pitch, bytes);
}

void stream_fence() { hwy::FlushStream(); }

}  // namespace btf
#endif
