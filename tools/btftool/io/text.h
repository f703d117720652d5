// Text in and out: standard output and its width, files that are read as text, progress, Ctrl-C,
// exit codes.
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
  kSame = 0,       // fine, or the same
  kDifferent = 1,  // diff: they differ; validate: not well-formed
  kTrouble = 2,    // usage, I/O, malformed input, unsupported, nothing compared
};

// Ctrl-C and its like ask the work to stop, so that it can clean up behind itself.

// Set once SIGINT, SIGTERM or SIGHUP has come. A second signal ends the program at once.
const std::atomic<bool>& watch_interrupts();

// Ends the program by the signal that came, as its parent expects; returns if none did.
void die_of_interrupt();

// Contradictions between an index and the files that it names, as far as the files can be used.

void add_warnings_of_index(const btf::TensorSet& set, std::uint64_t member,
                           std::vector<std::string>& warnings);

// Files beside the tensors of a directory, which are not read.

// "dir: 7 other files"; each of them with --verbose.
void note_others(const Context& context, const btf::TensorSet& set);

// Those of these paths that are in the directory.
void note_others(const Context& context, std::string root, const std::vector<std::string>& paths);

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths);

// How the pages of this run came to be.

// A command as it is typed into a shell.
std::string command_line(std::string_view command, std::span<const std::string> options,
                         std::span<const std::string> operands);

// The origin of what a command line makes. add_inputs() comes next, then take_given_date().
btf::PageOrigin page_origin(std::string command);

// $SOURCE_DATE_EPOCH
void take_given_date(btf::PageOrigin& origin);

// A line on stderr for work that takes more than a second: how far, how fast, how long still.

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

// Small files as text.

// All of a file; "-" is stdin.
btf::Result<std::string> read_text(const std::string& path);

// Text for standard output: pieces that reports have too, and its width.

using namespace btf::report;

// Text for standard output: pieces that reports have too, and its width.

// How wide standard output, or another descriptor, is: $COLUMNS, else what its terminal says, else
// 80.
std::size_t output_columns(int fd = 1);

// Is no line to be longer than that? On a terminal, where people read it.
bool fits_columns(int fd = 1);

}  // namespace btftool
