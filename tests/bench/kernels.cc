// Conversions in memory, through the public interface, against memcpy and a non-temporal copy of
// the same traffic: (bytes in + bytes out) / 2. Prints a row a job; 1 is as fast as memcpy, more is
// faster. `--help` tells the options.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/level.h"
#include "bench/measure.h"
#include "bench/peers.h"
#include "btf/convert.h"
#include "btf/diff.h"

namespace {

using bench::Work;
using btf::DType;
using btf::Layout;

struct Job {
  std::string_view name;
  DType from;
  Layout from_layout;
  DType to;
  Layout to_layout;
  double goal;        // tensors larger than the caches
  double cache_goal;  // 1x64x56x56; 0: none
};

constexpr Job kJobs[] = {
    {"NCHW -> NHWC float32", DType::float32, Layout::linear, DType::float32, Layout::hwc, .9, .64},
    {"NHWC -> NCHW float32", DType::float32, Layout::hwc, DType::float32, Layout::linear, .9, .64},
    {"NCHW -> NHWC 16-bit", DType::float16, Layout::linear, DType::float16, Layout::hwc, .9, .51},
    {"NCHW -> kHWC8 16-bit", DType::float16, Layout::linear, DType::float16, Layout::hwc8, .9, .51},
    {"kHWC8 -> NCHW 16-bit", DType::float16, Layout::hwc8, DType::float16, Layout::linear, .9, .51},
    {"float32 -> kHWC8 float16", DType::float32, Layout::linear, DType::float16, Layout::hwc8, .8,
     .54},
    {"kHWC8 float16 -> float32", DType::float16, Layout::hwc8, DType::float32, Layout::linear, .8,
     0},
    {"NCHW -> NHWC 8-bit", DType::int8, Layout::linear, DType::int8, Layout::hwc, .75, .38},
    {"-> kCHW4 float32", DType::float32, Layout::linear, DType::float32, Layout::chw4, 1.2, .82},
    {"kCHW4 float32 ->", DType::float32, Layout::chw4, DType::float32, Layout::linear, 1.2, .82},
    {"-> kCHW16 float32", DType::float32, Layout::linear, DType::float32, Layout::chw16, 1.2, 0},
    {"-> kCHW16 16-bit", DType::float16, Layout::linear, DType::float16, Layout::chw16, 1.15, .71},
    {"-> kCHW2 16-bit", DType::float16, Layout::linear, DType::float16, Layout::chw2, .9, 0},
    {"-> kCHW4 8-bit", DType::int8, Layout::linear, DType::int8, Layout::chw4, .9, .81},
    {"-> kCHW32 8-bit", DType::int8, Layout::linear, DType::int8, Layout::chw32, .8, 0},
    {"kCHW32 8-bit ->", DType::int8, Layout::chw32, DType::int8, Layout::linear, .8, 0},
    {"float32 -> kCHW4 int8", DType::float32, Layout::linear, DType::int8, Layout::chw4, .9, 0},
    {"float32 -> float16", DType::float32, Layout::linear, DType::float16, Layout::linear, 1.2,
     .68},
    {"float32 -> bfloat16", DType::float32, Layout::linear, DType::bfloat16, Layout::linear, 1.2,
     .68},
    {"float32 -> int8", DType::float32, Layout::linear, DType::int8, Layout::linear, 1.1, .68},
    {"float16 -> float32", DType::float16, Layout::linear, DType::float32, Layout::linear, 1.2,
     .68},
    {"float64 -> float32", DType::float64, Layout::linear, DType::float32, Layout::linear, 1.2,
     .68},
    {"int64 -> int32", DType::int64, Layout::linear, DType::int32, Layout::linear, 1.2, .68},
    {"float32 -> e4m3fn", DType::float32, Layout::linear, DType::float8_e4m3fn, Layout::linear, .9,
     .30},
    {"float32 -> int4", DType::float32, Layout::linear, DType::int4, Layout::linear, 1.1, 0},
    {"copy float32", DType::float32, Layout::linear, DType::float32, Layout::linear, 0, 0},
};

struct Shape {
  std::string_view name;
  btf::Dims dims;
};

const Shape kShapes[] = {
    {"32x256x56x56", {32, 256, 56, 56}},   {"64x3x224x224", {64, 3, 224, 224}},
    {"8x64x448x448", {8, 64, 448, 448}},   {"1x64x56x56", {1, 64, 56, 56}},
    {"32x255x56x56", {32, 255, 56, 56}},   {"32x257x56x56", {32, 257, 56, 56}},
    {"32x256x3137x1", {32, 256, 3137, 1}},
};

struct Options {
  std::string shapes = "32x256x56x56,64x3x224x224,1x64x56x56";
  std::string jobs;
  std::string threads = "1,2";
  std::string level;
  unsigned turns = 15;
  bool peers = false;
  bool unaligned = false;
};

// Memory that is there before it is measured: the first touch of a page costs many copies of it.
class Arena {
 public:
  // True if what was in it is lost.
  bool reserve(std::uint64_t bytes) {
    if (bytes <= size_) return false;
    size_ = (bytes + 4095) / 4096 * 4096;
    data_.reset();
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, size_)));
    if (!data_) std::abort();
    std::memset(data_.get(), 1, size_);
    return true;
  }
  std::byte* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::uint64_t size_ = 0;
};

// Numbers below 8, the range of int4, evenly spread.
void fill(DType dtype, std::byte* out, std::uint64_t elements) {
  std::uint64_t state = 1;
  const auto random = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int32_t>(state >> 40) - (1 << 23);
  };
  const auto put = [&](auto convert) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      const auto value = convert(random());
      std::memcpy(out + i * sizeof(value), &value, sizeof(value));
    }
  };
  switch (dtype) {
    case DType::float32:
      return put([](std::int32_t r) { return static_cast<float>(r) * 9e-7F; });
    case DType::float64:
      return put([](std::int32_t r) { return static_cast<double>(r) * 9e-7; });
    case DType::int64:
      return put([](std::int32_t r) { return static_cast<std::int64_t>(r); });
    case DType::float16:  // of the same sizes
      return put([](std::int32_t r) {
        return static_cast<std::uint16_t>((r & 0x83ff) | (11 + (r >> 16 & 7)) << 10);
      });
    default:
      return put([](std::int32_t r) { return static_cast<std::uint8_t>(r); });
  }
}

template <typename T>
T need(btf::Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "btf_kernels_bench: %s\n", result.error().message.c_str());
  std::exit(2);
}

bool listed(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == item) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool wanted(const Options& options, std::string_view job) {
  return options.jobs.empty() || job.find(options.jobs) != std::string_view::npos;
}

class Bench {
 public:
  Bench(const Options& options, const Shape& shape) : options_(options), shape_(shape) {
    elements_ = 1;
    for (const std::uint64_t d : shape.dims) elements_ *= d;
  }

  void run() {
    for (const Job& job : kJobs)
      if (wanted(options_, job.name)) convert(job);
    if (wanted(options_, "compare float32")) compare();
  }

 private:
  bool in_cache() const { return elements_ < 1'000'000; }

  const std::byte* source(DType dtype, std::uint64_t bytes) {
    if (source_.reserve(bytes) || source_dtype_ != dtype)
      fill(dtype, source_.data(), bytes * 8 / btf::info(dtype).bits);
    source_dtype_ = dtype;
    return source_.data();
  }

  static std::byte* room(Arena& arena, std::uint64_t bytes) {
    arena.reserve(bytes);
    return arena.data();
  }

  void convert(const Job& job) {
    const btf::StridedLayout from = need(btf::resolve(job.from_layout, shape_.dims, job.from));
    const btf::StridedLayout to = need(btf::resolve(job.to_layout, shape_.dims, job.to));
    const std::uint64_t in = btf::storage_bytes(from, job.from);
    const std::uint64_t out = btf::storage_bytes(to, job.to);
    const std::uint64_t shift = options_.unaligned ? 16 : 0;
    const std::byte* input = source(job.from, in);
    std::byte* output = room(target_, out + shift) + shift;
    const std::uint64_t traffic = (in + out) / 2;
    std::byte* copied = room(copy_, traffic);
    // What is copied need not be what is converted.
    const std::byte* original = in >= traffic ? input : target_.data();
    for (const unsigned threads : {1U, 2U}) {
      if (!listed(options_.threads, std::to_string(threads))) continue;
      btf::Execution execution;
      execution.jobs = threads;
      const btf::TensorView source_view{job.from, from, {input, in}};
      const btf::MutableTensorView target_view{job.to, to, {output, out}};
      std::vector<Work> works{
          [&] { need(btf::convert(source_view, target_view, {}, execution)); },
          [&] { bench::plain_copy(original, copied, traffic, threads); },
          [&] { bench::non_temporal_copy(original, copied, traffic, threads); },
      };
      const std::optional<Work> peer =
          options_.peers ? bench::onednn_reorder({job.from, job.from_layout, job.to, job.to_layout},
                                                 shape_.dims, input, output, threads)
                         : std::nullopt;
      if (peer) works.push_back(*peer);
      row(job.name, threads, works, traffic, in_cache() ? job.cache_goal : job.goal);
    }
  }

  void compare() {
    const btf::StridedLayout layout =
        need(btf::resolve(Layout::linear, shape_.dims, DType::float32));
    const std::uint64_t bytes = btf::storage_bytes(layout, DType::float32);
    const std::byte* a = source(DType::float32, bytes);
    std::byte* b = room(target_, bytes);
    std::byte* copied = room(copy_, bytes);
    std::memcpy(b, a, bytes);
    for (const unsigned threads : {1U, 2U}) {
      if (!listed(options_.threads, std::to_string(threads))) continue;
      btf::DiffOptions diff;
      diff.execution.jobs = threads;
      const btf::TensorView left{DType::float32, layout, {a, bytes}};
      const btf::TensorView right{DType::float32, layout, {b, bytes}};
      const std::vector<Work> works{
          [&] { need(btf::diff(left, right, diff)); },
          [&] {
            bench::in_parts(threads, bytes, [=](std::uint64_t begin, std::uint64_t end) {
              if (std::memcmp(a + begin, b + begin, end - begin) != 0) std::abort();
            });
          },
          [&] { bench::non_temporal_copy(a, copied, bytes, threads); },
      };
      row("compare float32 (memcmp)", threads, works, bytes, .9);
    }
  }

  void row(std::string_view name, unsigned threads, const std::vector<Work>& works,
           std::uint64_t traffic, double goal) {
    const bench::Timing timing = bench::measure(
        works, threads == 1 ? bench::Clock::cpu : bench::Clock::wall, options_.turns);
    // Speed of ours over that of the reference is the reference's time over ours.
    const auto gigabytes = [&](std::size_t i) {
      return static_cast<double>(traffic) / timing.seconds * timing.ratio[i] * 1e-9;
    };
    std::printf("| %-14.*s | %-24.*s | %u | %5.2f | %5.1f | %5.1f | %5.1f |",
                static_cast<int>(shape_.name.size()), shape_.name.data(),
                static_cast<int>(name.size()), name.data(), threads, 1 / timing.ratio[1],
                gigabytes(0), gigabytes(1), gigabytes(2));
    if (goal > 0)
      std::printf(" %4.2f |", goal);
    else
      std::printf("      |");
    if (options_.peers) {
      if (works.size() > 3)
        std::printf(" %4.2f |", timing.ratio[3] / timing.ratio[1]);
      else
        std::printf("      |");
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  const Options& options_;
  const Shape& shape_;
  std::uint64_t elements_;
  Arena source_;
  DType source_dtype_{};
  Arena target_;
  Arena copy_;
};

constexpr std::string_view kUsage =
    "btf_kernels_bench [--shapes A,B] [--job PART] [--threads 1,2] [--turns N] [--cpu LEVEL]\n"
    "                  [--peers] [--unaligned]\n"
    "--shapes     of 32x256x56x56 64x3x224x224 8x64x448x448 (larger than the caches), 1x64x56x56\n"
    "             (in cache), 32x255x56x56 32x257x56x56 32x256x3137x1 (tails); or all\n"
    "--job        jobs whose names have PART in them\n"
    "--turns      of which the median is taken (15)\n"
    "--cpu        plain, SSE4, AVX2, AVX-512: kernels for these vectors and not the widest there "
    "are\n"
    "--peers      oneDNN too, where it was found: one more column\n"
    "--unaligned  the target begins 16 bytes behind a cache line\n"
    "One thread is measured by CPU time, two by the clock.\n";

[[noreturn]] void usage(int code) {
  std::fputs(kUsage.data(), code == 0 ? stdout : stderr);
  std::exit(code);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) usage(2);
      return argv[i];
    };
    if (name == "--shapes")
      options.shapes = value();
    else if (name == "--job")
      options.jobs = value();
    else if (name == "--threads")
      options.threads = value();
    else if (name == "--turns")
      options.turns = static_cast<unsigned>(std::max(1, std::atoi(value().c_str())));
    else if (name == "--cpu")
      options.level = value();
    else if (name == "--peers")
      options.peers = true;
    else if (name == "--unaligned")
      options.unaligned = true;
    else if (name != "--table")
      usage(name == "--help" ? 0 : 2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!options.level.empty() && !bench::force_level(options.level)) usage(2);
  std::printf("| shape | job | threads | ratio | GB/s | memcpy | NT copy | goal |%s\n",
              options.peers ? " oneDNN |" : "");
  std::printf("|---|---|---|---|---|---|---|---|%s\n", options.peers ? "---|" : "");
  for (const Shape& shape : kShapes)
    if (options.shapes == "all" || listed(options.shapes, shape.name)) Bench(options, shape).run();
}
