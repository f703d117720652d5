#include "kernels/stream.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLineBytes = 64;

// `target` is aligned to a line, `bytes` a multiple of it.
void stream_lines(const std::uint8_t* source, std::uint8_t* target, std::size_t bytes) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(target, source, bytes);
#else
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t at = 0; at < bytes; at += kLineBytes)
    for (std::size_t i = at; i < at + kLineBytes; i += lanes)
      hn::Stream(hn::LoadU(d, source + i), d, target + i);
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
  if (lines != 0)
    BTF_SIMD_CALL(stream_lines)
    (reinterpret_cast<const std::uint8_t*>(source + head),
     reinterpret_cast<std::uint8_t*>(target + head), lines);
  if (tail != 0) std::memcpy(target + head + lines, source + head + lines, tail);
}

void stream_fence() { hwy::FlushStream(); }

}  // namespace btf
#endif
