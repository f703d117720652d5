#include "io/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace btftool {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> signal_number{0};

extern "C" void on_signal(int number) {
  signal_number = number;
  interrupted = true;
}

}  // namespace

const std::atomic<bool>& watch_interrupts() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
  return interrupted;
}

void die_of_interrupt() {
  if (!interrupted) return;
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// Errors are ignored here: opening the file reports them.
void add_warnings_of_index(const btf::TensorSet& set, std::uint64_t member,
                           std::vector<std::string>& warnings) {
  const btf::Status checked = set.check_index(member, [&](const btf::Finding& finding) {
    if (finding.severity == btf::Severity::warning)
      warnings.push_back(set.member(member).path + ": " + finding.message);
  });
  static_cast<void>(checked);
}

namespace {

void note_count(const Context& context, const std::string& root, std::uint64_t count) {
  context.log.note(root + ": " + counted(count, "other file"));
}

}  // namespace

void note_others(const Context& context, const btf::TensorSet& set) {
  // An empty set is an error, which has the number of other files.
  if (set.member_count() == 0) return;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (const btf::SetMember& other : set.others()) {
    std::string root = other.path.substr(0, other.path.size() - other.place.size());
    if (root.size() > 1) root.pop_back();
    if (counts.empty() || counts.back().first != root) counts.emplace_back(std::move(root), 0);
    ++counts.back().second;
  }
  for (const auto& [root, count] : counts) note_count(context, root, count);
  for (const btf::SetMember& other : set.others()) context.log.detail(other.path + ": not read");
  const std::vector<btf::SetMember>& unfinished = set.unfinished();
  if (unfinished.empty()) return;
  context.log.note(set.path() + ": " + counted(unfinished.size(), "unfinished output") +
                   " of btftool (.btf-...) not read; a run was killed, or is still writing");
  for (const btf::SetMember& file : unfinished) context.log.detail(file.path + ": not read");
}

void note_others(const Context& context, std::string root, const std::vector<std::string>& paths) {
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  std::uint64_t count = 0;
  for (const std::string& path : paths) count += path.starts_with(root + "/") ? 1 : 0;
  if (count > 0) note_count(context, root, count);
}

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths) {
  for (const auto* files : {&set.others(), &set.unfinished()})
    for (const btf::SetMember& file : *files) paths.push_back(file.path);
}

std::string command_line(std::string_view command, std::span<const std::string> options,
                         std::span<const std::string> operands) {
  std::string text = "btftool " + std::string(command);
  for (const std::string& option : options) text += " " + shell_word(option);
  for (const std::string& operand : operands)
    text += " " + (operand == "-" ? operand : shell_path(operand));
  return text;
}

btf::PageOrigin page_origin(std::string command) {
  return {.program = "btftool " BTFTOOL_VERSION, .command = std::move(command)};
}

void set_date_from_environment(btf::PageOrigin& origin) {
  if (const char* const seconds = std::getenv("SOURCE_DATE_EPOCH")) origin.take_date(seconds);
}

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

namespace {

constexpr std::size_t kMaxBytes = 256U << 20;  // parsed JSON takes ten times as much memory

btf::Result<std::string> read_all(int fd) {
  std::string text;
  constexpr std::size_t kPiece = 1U << 20;
  while (text.size() <= kMaxBytes) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(fd, text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR)
      return btf::fail(btf::ErrorCode::io, std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) return text;
  }
  return btf::fail(btf::ErrorCode::unsupported,
                   "the file is larger than " + std::to_string(kMaxBytes >> 20) + " MiB");
}

}  // namespace

btf::Result<std::string> read_text(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return btf::fail(btf::ErrorCode::io, std::string("cannot open: ") + std::strerror(errno));
  auto text = read_all(fd);
  ::close(fd);
  return text;
}

namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kMinColumns = 56;  // narrower terminals get longer lines
constexpr std::size_t kMaxColumns = 1000;

// Returns $COLUMNS, or 0 if it is no number.
std::size_t columns_from_environment() {
  std::size_t columns = 0;
  const char* const variable = std::getenv("COLUMNS");
  const std::string_view text = variable == nullptr ? "" : variable;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && stop == text.data() + text.size() ? columns : 0;
}

}  // namespace

std::size_t output_columns(int fd) {
  std::size_t columns = columns_from_environment();
  winsize size{};
  if (columns == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? kUsualColumns : std::clamp(columns, kMinColumns, kMaxColumns);
}

bool fits_columns(int fd) { return ::isatty(fd) != 0; }

}  // namespace btftool
