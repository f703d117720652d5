// Helpers that several commands need: exit codes, Ctrl-C, progress, text files, widths of
// terminals.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/report.h"
#include "btf/tensor_set.h"
#include "cli/support.h"
#include "io/context.h"
#include "report/text/text.h"

namespace btftool {

enum ExitCode : int {
  kSame = 0,       // success, or the files are the same
  kDifferent = 1,  // diff: they differ; validate: not well-formed
  kTrouble = 2,    // wrong usage, I/O error, malformed or unsupported input, nothing compared
};

// Installs signal handlers, so that work can stop and clean up. The flag is set once SIGINT,
// SIGTERM or SIGHUP arrives; a second signal ends the program at once.
const std::atomic<bool>& watch_interrupts();

// Ends the program by the signal that arrived, as its parent expects. Returns if there was none.
void die_of_interrupt();

// Appends contradictions between an index and a file that it names, if the file can still be used.
void add_warnings_of_index(const btf::TensorSet& set, std::uint64_t member,
                           std::vector<std::string>& warnings);

// Logs the number of files in the directories of the set that are not read: "dir: 7 other files".
// With --verbose, also their paths.
void note_others(const Context& context, const btf::TensorSet& set);

// The same for those of `paths` that are in the directory `root`.
void note_others(const Context& context, std::string root, const std::vector<std::string>& paths);

// Appends the paths of files in the set that are not read.
void add_others(const btf::TensorSet& set, std::vector<std::string>& paths);

// Returns a command as it is typed into a shell.
std::string command_line(std::string_view command, std::span<const std::string> options,
                         std::span<const std::string> operands);

// The origin that an HTML page states. Call add_inputs() next, then set_date_from_environment().
btf::PageOrigin page_origin(std::string command);

// Sets the date of the page to $SOURCE_DATE_EPOCH, if it is set.
void set_date_from_environment(btf::PageOrigin& origin);

// A line on stderr for work that takes more than a second: what is done, speed, time left.
class Progress {
 public:
  static bool shown(const GlobalOptions& options);

  // If the total turns out to be too low, as with a compressed file, it is no longer shown.
  Progress(const GlobalOptions& options, std::uint64_t total_bytes);

  // Makes the work report to this object, which must outlive it.
  void attach(btf::Execution& execution);
  // Adds bytes of work that it is not attached to.
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

// Reads a small text file; "-" is stdin.
btf::Result<std::string> read_text(const std::string& path);

using namespace btf::report;

// Returns the width of a descriptor: $COLUMNS, else that of its terminal, else 80.
std::size_t output_columns(int fd = 1);

// Returns true if lines must not be longer than that, which holds on a terminal.
bool fits_columns(int fd = 1);

}  // namespace btftool
