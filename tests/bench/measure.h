// Time of a job over that of a reference, both in turn in one run: on a shared machine only such
// ratios mean something.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bench {

using Work = std::function<void()>;

enum class Clock : std::uint8_t {
  cpu,   // of the process: one thread, and what other processes do hardly counts
  wall,  // several threads
};

inline double now(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double time_of(const Work& work, Clock clock, unsigned times) {
  const double begin = now(clock);
  for (unsigned i = 0; i < times; ++i) work();
  return (now(clock) - begin) / times;
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Timing {
  double seconds = 0;         // of the first work
  std::vector<double> ratio;  // time of the first over that of each, medians over all turns
};

// Runs all works in turn. Each turn of a work lasts at least a millisecond or so.
inline Timing measure(const std::vector<Work>& works, Clock clock, unsigned turns) {
  std::vector<unsigned> times;
  for (const Work& work : works) {
    work();
    const double once = std::max(time_of(work, Clock::wall, 1), 1e-7);
    times.push_back(std::max(1U, static_cast<unsigned>(2e-3 / once)));
  }
  std::vector<double> first;
  std::vector<std::vector<double>> ratios(works.size());
  for (unsigned turn = 0; turn < turns; ++turn) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < works.size(); ++i)
      seconds.push_back(time_of(works[i], clock, times[i]));
    first.push_back(seconds[0]);
    for (std::size_t i = 0; i < works.size(); ++i) ratios[i].push_back(seconds[0] / seconds[i]);
  }
  Timing timing;
  timing.seconds = median(first);
  for (std::vector<double>& ratio : ratios) timing.ratio.push_back(median(std::move(ratio)));
  return timing;
}

// Calls part(begin, end) for equal parts of `bytes`, one a thread.
template <typename Part>
void in_parts(unsigned threads, std::uint64_t bytes, const Part& part) {
  std::vector<std::jthread> others;
  const std::uint64_t step = bytes / threads / 64 * 64;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back([&, t] { part(t * step, t + 1 == threads ? bytes : (t + 1) * step); });
  part(std::uint64_t{0}, threads == 1 ? bytes : step);
}

inline void plain_copy(const std::byte* from, std::byte* to, std::uint64_t bytes,
                       unsigned threads) {
  in_parts(threads, bytes, [=](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(to + begin, from + begin, end - begin);
  });
}

// Both aligned to 16 bytes.
inline void non_temporal_copy(const std::byte* from, std::byte* to, std::uint64_t bytes,
                              unsigned threads) {
  in_parts(threads, bytes, [=](std::uint64_t begin, std::uint64_t end) {
#if defined(__SSE2__)
    const std::uint64_t whole = begin + (end - begin) / 64 * 64;
    for (std::uint64_t at = begin; at < whole; at += 64)
      for (std::uint64_t i = 0; i < 64; i += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + i),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(from + at + i)));
    _mm_sfence();
    std::memcpy(to + whole, from + whole, end - whole);
#else
    std::memcpy(to + begin, from + begin, end - begin);
#endif
  });
}

}  // namespace bench
