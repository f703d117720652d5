#include "io/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace btftool {
namespace {

constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kInterval{200};

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace

bool Progress::shown(const GlobalOptions& options) {
  return options.progress == When::always ||
         (options.progress == When::automatic && !options.quiet && ::isatty(STDERR_FILENO) != 0);
}

Progress::Progress(const GlobalOptions& options, std::uint64_t total_bytes)
    : on_(shown(options)), total_(total_bytes) {}

void Progress::attach(btf::Execution& execution) {
  if (on_) execution.progress = [this](std::uint64_t bytes) { advance(bytes); };
}

void Progress::advance(std::uint64_t bytes) {
  if (!on_) return;
  done_ += bytes;
  const Clock::time_point now = Clock::now();
  if (now - begin_ >= kSilence && now - drawn_ >= kInterval) draw(now);
}

void Progress::draw(Clock::time_point now) {
  drawn_ = now;
  visible_ = true;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const auto done = static_cast<double>(done_);
  const auto total = static_cast<double>(total_);
  const double rate = done / seconds;
  std::string line = fmt::format("\r{}  {}/s", bytes_text(done), bytes_text(rate));
  if (done_ <= total_ && done_ > 0)
    line =
        fmt::format("\r{:3.0f}%  {} of {}  {}/s  {:.0f} s left", 100 * done / total,
                    bytes_text(done), bytes_text(total), bytes_text(rate), (total - done) / rate);
  std::fputs((line + "\x1b[K").c_str(), stderr);
}

void Progress::clear() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
  visible_ = false;
}

}  // namespace btftool
