// What a cast costs in memory, for every pair of dtypes, and a quantisation: nanoseconds of CPU
// time an element, one thread, the account of losses included. Buffers are used again and again.
//   btf_pairs_bench [ELEMENTS [SOURCE [TARGET [LEVEL]]]]
// SOURCE and TARGET: names of dtypes, or '' for all. LEVEL: as of btf_kernels_bench --cpu.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/level.h"
#include "bench/measure.h"
#include "btf/convert.h"
#include "kernels/scale/scale.h"

namespace {

using btf::DType;
using Bytes = std::vector<std::byte>;

constexpr unsigned kTurns = 5;

template <typename T>
T need(btf::Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "btf_pairs_bench: %s\n", result.error().message.c_str());
  std::exit(2);
}

// Of about the range that 8-bit integers have, some of them beyond it: sums of evenly spread ones.
std::vector<float> numbers(std::size_t count) {
  std::uint64_t state = 1;
  std::vector<float> all(count);
  for (float& x : all) {
    float sum = 0;
    for (int i = 0; i < 6; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      sum += static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31F;
    }
    x = sum * 35;
  }
  return all;
}

class Bench {
 public:
  explicit Bench(std::size_t count) : count_(count), numbers_(numbers(count)) {
    execution_.jobs = 1;
    codes_.resize(count * 8);
    result_.resize(count * 8);
  }

  // Of all dtypes where a name is empty.
  void pairs(std::string_view source, std::string_view target) {
    for (const btf::DTypeInfo& from : btf::dtypes()) {
      if (!source.empty() && from.name != source) continue;
      cast(DType::float32, reinterpret_cast<std::byte*>(numbers_.data()), from.dtype, codes_);
      for (const btf::DTypeInfo& to : btf::dtypes())
        if (from.dtype != to.dtype && (target.empty() || to.name == target))
          row(from.name, to.name, [&] { cast(from.dtype, codes_.data(), to.dtype, result_); });
    }
  }

  void quantisations() {
    using enum DType;
    quantise("quantise_0.02", int8, .02);
    quantise("quantise_float_scale", int8, static_cast<double>(.9F));
    quantise("quantise_float_scale", float8_e4m3fn, static_cast<double>(.9F));
  }

 private:
  btf::StridedLayout layout(DType dtype) const {
    return need(btf::resolve(btf::Layout::linear, btf::Dims{count_}, dtype));
  }

  void cast(DType from, const std::byte* source, DType to, Bytes& target) const {
    const btf::StridedLayout in = layout(from);
    const btf::StridedLayout out = layout(to);
    need(btf::convert({from, in, {source, btf::storage_bytes(in, from)}},
                      {to, out, {target.data(), btf::storage_bytes(out, to)}}, {}, execution_));
  }

  void quantise(std::string_view name, DType to, double scale) {
    const btf::ScaledRuns runs({DType::float32, to, {}, 0}, btf::ScaleDirection::quantize);
    row(name, btf::info(to).name, [&] {
      btf::LossAccount account;
      runs.run(scale, 0,
               {reinterpret_cast<const std::byte*>(numbers_.data()), result_.data(), count_},
               account);
    });
  }

  void row(std::string_view from, std::string_view to, const bench::Work& work) const {
    const bench::Timing timing = bench::measure({work}, bench::Clock::cpu, kTurns);
    std::printf("%s %s %.3f\n", std::string(from).c_str(), std::string(to).c_str(),
                timing.seconds / static_cast<double>(count_) * 1e9);
    std::fflush(stdout);
  }

  std::size_t count_;
  std::vector<float> numbers_;
  btf::Execution execution_;
  Bytes codes_;
  Bytes result_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && !bench::force_level(argv[4])) {
    std::fprintf(stderr, "btf_pairs_bench: no such level: %s\n", argv[4]);
    return 2;
  }
  Bench bench(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1U << 20);
  if (argc < 3 || *argv[2] == 0) bench.quantisations();
  bench.pairs(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
}
