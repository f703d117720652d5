#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/move/move.h"
#include "support/forced_level.h"
#include "support/naive_layout.h"
#include "support/random_bytes.h"

namespace btf::test {
namespace {

struct Shape {
  std::size_t n0;
  std::size_t n1;
  bool turned;                 // the source runs along the outer axis
  std::size_t padding = 0;     // zeros behind n0
  std::size_t gap = 0;         // and what must not be touched
  std::size_t misaligned = 0;  // elements
  std::size_t odd = 0;         // bytes besides
};

std::string text(const Shape& s) {
  return std::to_string(s.n0) + " x " + std::to_string(s.n1) + (s.turned ? " turned" : "") +
         ", padding " + std::to_string(s.padding) + ", gap " + std::to_string(s.gap) +
         ", misaligned " + std::to_string(s.misaligned) + " and " + std::to_string(s.odd) +
         " bytes";
}

// A streamed tile is what the reference makes of its elements one by one, and zeros behind them.
bool streams(const CastJob& job, const Shape& s) {
  const std::size_t from = info(job.from).buffer_bytes();
  const std::size_t to = info(job.to).buffer_bytes();
  const Bytes source = random_bytes(s.misaligned + s.n0 * s.n1 * from);
  const std::size_t stride = s.n0 + s.padding + s.gap;
  // 64-byte lines begin at the vector's own memory, wherever that is, or not.
  const auto room = [&] { return Bytes(64 + s.misaligned + s.n1 * stride * to + 64, kSentinel); };
  Bytes target = room();
  const std::size_t at =
      64 - reinterpret_cast<std::uintptr_t>(target.data()) % 64 + s.misaligned * to + s.odd;
  Bytes expected = room();
  Tile tile{.source = source.data() + s.misaligned,
            .target = target.data() + at % 64,
            .n0 = s.n0,
            .source_stride0 = s.turned ? s.n1 : 1,
            .target_stride0 = 1,
            .n1 = s.n1,
            .source_stride1 = s.turned ? 1 : s.n0,
            .target_stride1 = stride,
            .width0 = s.padding == 0 ? 0 : s.n0 + s.padding};
  LossAccount account;
  stream_tile(pick_cast_kernel(job), job, tile, account);
  stream_fence();
  const CastKernel& reference = cast_kernels().back();
  LossAccount expected_account;
  for (std::size_t i1 = 0; i1 < s.n1; ++i1) {
    for (std::size_t i0 = 0; i0 < s.n0; ++i0) {
      const std::byte* element =
          tile.source + (i0 * tile.source_stride0 + i1 * tile.source_stride1) * from;
      std::byte* out = expected.data() + at % 64 + (i1 * stride + i0) * to;
      if (job.from == job.to)
        std::memcpy(out, element, to);
      else
        reference.run(job, {.source = element, .target = out, .n0 = 1}, expected_account);
    }
    std::memset(expected.data() + at % 64 + (i1 * stride + s.n0) * to, 0, s.padding * to);
  }
  return target == expected && account.elements == s.n0 * s.n1 &&
         (job.from == job.to || (account.overflowed == expected_account.overflowed &&
                                 account.inexact == expected_account.inexact &&
                                 account.max_abs == expected_account.max_abs &&
                                 account.max_rel == expected_account.max_rel));
}

}  // namespace

TEST_CASE("stream_copy: every length and alignment", "[stream]") {
  const Bytes source = random_bytes(600);
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    for (std::size_t misaligned = 0; misaligned < 64; ++misaligned)
      for (std::size_t bytes = 0; bytes < 400; bytes += 1 + bytes / 64) {
        Bytes target(64 + 400 + 64, kSentinel);
        Bytes expected = target;
        std::copy_n(source.begin() + 3, bytes, expected.begin() + static_cast<long>(misaligned));
        stream_copy(source.data() + 3, target.data() + misaligned, bytes);
        stream_fence();
        if (target != expected) FAIL(misaligned << " " << bytes);
      }
  }
}

TEST_CASE("stream_tile: every shape gives what the reference gives", "[stream]") {
  const CastJob jobs[] = {
      {DType::int8, DType::int8, {}},       {DType::float16, DType::float16, {}},
      {DType::float32, DType::float32, {}}, {DType::float64, DType::float64, {}},
      {DType::float32, DType::float16, {}}, {DType::float32, DType::int8, {}},
      {DType::float16, DType::float32, {}}, {DType::float64, DType::int16, {}},
  };
  const Shape shapes[] = {
      {0, 1, false},
      {1, 1, false},
      {5, 7, false},
      {9000, 1, false},
      {9001, 3, false, 0, 5},
      {9001, 3, false, 5, 0, 1},
      {9001, 3, false, 0, 5, 0, 1},
      {300, 9, false, 0, 0, 1, 3},
      {300, 9, false, 0, 1},
      {1, 1, true},
      {3, 2000, true},
      {3, 2000, true, 1},
      {3, 2001, true, 5, 0},
      {3, 999, true, 5, 2, 1},
      {4, 5000, true},
      {4, 5000, true, 0, 3},
      {16, 1001, true},
      {64, 300, true},
      {128, 130, true},
      {128, 130, true, 0, 64},
      {255, 140, true},
      {255, 140, true, 1},
      {257, 140, true, 0, 63},
      {300, 131, true, 20},
      {300, 131, true, 20, 0, 1},
      {1537, 33, true},
      {1537, 33, true, 0, 63},
      {9000, 3, true},
      {3137, 20, true},
      {9000, 20, true, 0, 56},
  };
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    INFO(cpu_level_name(level));
    for (const CastJob& job : jobs)
      for (const Shape& shape : shapes)
        if (!streams(job, shape))
          FAIL(info(job.from).name << " to " << info(job.to).name << ", " << text(shape));
  }
}

TEST_CASE("convert: a target larger than the caches", "[stream]") {
  // Odd everywhere, so that every layout that can has padding; DLA's images take 3 channels.
  const auto dims_of = [](std::string_view name) {
    return name.starts_with("kDLA_HWC")                 ? Dims{1, 3, 1021, 1431}
           : name.find("DHW") != std::string_view::npos ? Dims{1, 35, 7, 131, 139}
                                                        : Dims{2, 35, 251, 243};
  };
  const auto code_of = [](std::string_view name) {
    for (const naive::Name& row : naive::names())
      if (row.name == name) return static_cast<Layout>(row.code);
    return Layout::coo;
  };
  const auto stored = [](std::string_view name, const Dims& dims, const Bytes& row_major) {
    return name == "kLINEAR" ? row_major : naive::store(naive::layout(name, dims, 2), row_major, 2);
  };
  const auto check = [&](std::string_view from, std::string_view to, const Dims& dims,
                         unsigned jobs) {
    const StridedLayout source = *resolve(code_of(from), dims, DType::float16);
    const StridedLayout target = *resolve(code_of(to), dims, DType::float16);
    const Bytes row_major = random_bytes(source.elements() * 2);
    const Bytes input = stored(from, dims, row_major);
    const Bytes expected = stored(to, dims, row_major);
    REQUIRE(expected.size() >= 8U << 20);
    Bytes result(expected.size() + 64, kSentinel);
    Execution execution;
    execution.jobs = jobs;
    REQUIRE(convert({DType::float16, source, input},
                    {DType::float16, target, std::span(result).first(expected.size())}, {},
                    execution));
    CHECK((result.back() == kSentinel));
    result.resize(expected.size());
    CHECK((result == expected));
  };
  for (const naive::Name& name : naive::names()) {
    INFO(name.name);
    const Dims dims = dims_of(name.name);
    check("kLINEAR", name.name, dims, 2);
    check(name.name, "kLINEAR", dims, 1);
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"kCHW4", "kHWC8"}, {"kHWC8", "kCHW32"}, {"kCHW32", "kCHW2"}, {"kHWC", "kHWC16"}}) {
    INFO(from << " to " << to);
    check(from, to, dims_of(from), 2);
  }
}

}  // namespace btf::test
