// Standard error: one line a message, "btftool: " in front, options by the names of the command
// line. The only file that knows the logger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "btf/error.h"
#include "cli/option_names.h"
#include "cli/options.h"

namespace btftool {

class Log {
 public:
  Log(const GlobalOptions& options, OptionNames names);
  ~Log();

  void error(const btf::Error& error);
  void error(const std::string& message);
  // The first of these, as it was written; empty: there was none.
  const std::string& first_error() const { return first_error_; }
  void warning(const std::string& message);
  void alarm(const std::string& message);   // a warning that --quiet does not hide
  void note(const std::string& message);    // what the user should know; not with --quiet
  void detail(const std::string& message);  // with --verbose only

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string first_error_;
};

// Lets the first few of many similar messages through and counts the others.
class Limited {
 public:
  bool pass() { return ++count_ <= kMost; }
  std::uint64_t held_back() const { return count_ > kMost ? count_ - kMost : 0; }

 private:
  static constexpr std::uint64_t kMost = 20;
  std::uint64_t count_ = 0;
};

}  // namespace btftool
