// A line on stderr for work that takes more than a second: how far, how fast, how long still.
#pragma once

#include <chrono>
#include <cstdint>

#include "btf/execution.h"
#include "cli/options.h"

namespace btftool {

class Progress {
 public:
  static bool shown(const GlobalOptions& options);

  // The total may turn out to be too low, as that of a compressed file: it is not shown then.
  Progress(const GlobalOptions& options, std::uint64_t total_bytes);

  // Must outlive the work.
  void attach(btf::Execution& execution);
  // So many bytes more are done, of work that it is not attached to.
  void advance(std::uint64_t bytes);

  // Wipes the line, if there is one.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);

  bool on_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool visible_ = false;
};

}  // namespace btftool
