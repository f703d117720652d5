// What the account of losses costs: casts of float32 with and without it, in cache and from memory,
// by instruction set. "without" is the same body, compiled without everything that only the account
// needs. Data: normal numbers of the standard deviation in the name, none NaN.
//   build/tests/btf_bench_cast_account --benchmark_filter='float16' [--benchmark_repetitions=9]
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernels/cast/cast_runs.h"
#include "kernels/cpu/simd_targets.h"
#include "kernels/move/move.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cast_account.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "kernels/cast/cast_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#define BTF_WITHOUT(name, ...)                                   \
  void name(const CastRuns& work, LossAccount& account) {        \
    cast_without_account<InVectors<__VA_ARGS__>>(work, account); \
  }

BTF_WITHOUT(f16, ToFloat16)
BTF_WITHOUT(bf16, ToBfloat16)
BTF_WITHOUT(e4m3, ToFloat<DType::float8_e4m3fn>)
BTF_WITHOUT(e5m2, ToFloat<DType::float8_e5m2>)
BTF_WITHOUT(e2m1, ToFloat<DType::float4_e2m1fn>)
BTF_WITHOUT(i4, ToInteger<DType::int4>)
BTF_WITHOUT(i8, ToInteger<DType::int8>)
BTF_WITHOUT(u8, ToInteger<DType::uint8>)
BTF_WITHOUT(i32, ToInteger<DType::int32>)

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

struct Row {
  DType to;
  float deviation;
  std::array<CastRunsFn, kCpuLevels> without;
};

// Of int8 and e4m3fn also data that go beyond the range.
constexpr auto kRows = std::to_array<Row>({
    {DType::float16, 1, BTF_SIMD_TABLE(f16)},
    {DType::bfloat16, 1, BTF_SIMD_TABLE(bf16)},
    {DType::float8_e4m3fn, 1, BTF_SIMD_TABLE(e4m3)},
    {DType::float8_e4m3fn, 300, BTF_SIMD_TABLE(e4m3)},
    {DType::float8_e5m2, 1, BTF_SIMD_TABLE(e5m2)},
    {DType::float4_e2m1fn, 1, BTF_SIMD_TABLE(e2m1)},
    {DType::int4, 2, BTF_SIMD_TABLE(i4)},
    {DType::int8, 20, BTF_SIMD_TABLE(i8)},
    {DType::int8, 100, BTF_SIMD_TABLE(i8)},
    {DType::uint8, 50, BTF_SIMD_TABLE(u8)},
    {DType::int32, 1000, BTF_SIMD_TABLE(i32)},
});

struct alignas(64) Line : std::array<std::byte, 64> {};

void run(benchmark::State& state, CastRunsFn cast, std::size_t count, float deviation,
         bool stream) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> source(count);
  for (float& value : source) value = normal(random);
  std::vector<Line> target(count * sizeof(float) / sizeof(Line));
  LossAccount account;
  for (auto _ : state) {
    cast({.source = reinterpret_cast<const std::byte*>(source.data()),
          .target = target.front().data(),
          .count = count,
          .ahead = kByPages,
          .stream = stream},
         account);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

// 256 KiB of float32 stay in the second-level cache; 128 MiB stay in none, and as in convert() the
// target is written around them.
struct Size {
  const char* name;
  std::size_t count;
  bool stream;
};
constexpr Size kSizes[] = {{"cache", 1U << 16, false}, {"memory", 1U << 25, true}};

}  // namespace
}  // namespace btf

int main(int argc, char** argv) {
  using namespace btf;
  for (const Row& row : kRows)
    for (const auto& [place, count, stream] : kSizes)
      for (std::size_t level = 0; level <= best_cpu_level(); ++level) {
        force_cpu_level(static_cast<CpuLevel>(level));
        const std::string name = std::string(info(row.to).name) + "/" +
                                 std::to_string(static_cast<int>(row.deviation)) + "/" + place +
                                 "/" + cpu_level_name(static_cast<CpuLevel>(level));
        benchmark::RegisterBenchmark((name + "/with").c_str(), run,
                                     find_cast_runs(DType::float32, row.to), count, row.deviation,
                                     stream);
        benchmark::RegisterBenchmark((name + "/without").c_str(), run, row.without[level], count,
                                     row.deviation, stream);
      }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
#endif
