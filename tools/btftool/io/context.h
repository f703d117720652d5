// The context of every command: standard output, the log, JSON, pictures, and findings counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/inspect.h"
#include "btf/layout.h"
#include "btf/picture.h"
#include "btf/validate.h"
#include "cli/support.h"
#include "report/text/json.h"
#include "report/text/text.h"

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

// JSON that several commands write, by the rules of report/text/json.h.

using namespace btf::report;

// `name`: of its tensor; empty: it has none, or is not asked for.
Json json_finding(const btf::Finding& finding, const std::string& name = {});
Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor);
Json json_loss(const btf::LossAccount& loss);
Json json_stats(const btf::TensorStats& stats, btf::DType dtype);

// Counts of the findings in one file by kind, and the choice of those that are shown.

struct FindingCounts {
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t hidden = 0;  // of these, not shown
  };

  std::map<std::string, Kind, std::less<>> kinds{};  // by code
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;

  bool any() const { return errors + warnings > 0; }
  std::uint64_t hidden() const;
  // "980 [data-past-end], 3 [padding-not-zero]", what is not shown
  std::string hidden_text() const;
  // How many there are of each kind.
  Json codes() const;
};

// A kind is shown once at least, so that many of one hide none of another.
class FindingTally {
 public:
  explicit FindingTally(bool all) : all_(all) {}

  // Counts it. Is it shown?
  bool take(const btf::Finding& finding);

  const FindingCounts& counts() const { return counts_; }

 private:
  bool all_;
  FindingCounts counts_;
  Limited shown_errors_;
  Limited shown_warnings_;
};

// One flat JSON object, written member by member: for what comes by the million. By the same rules
// as json.h.

class JsonText {
 public:
  // Names, and texts unless they are given as Json, are written as they are: nothing to escape.
  JsonText& add(std::string_view name, std::uint64_t number);
  JsonText& add(std::string_view name, std::string_view text);
  JsonText& add(std::string_view name, const btf::Dims& dims);
  JsonText& add(std::string_view name, const Json& value);
  JsonText& add_bool(std::string_view name, bool value);
  JsonText& add_null(std::string_view name);

  // The whole object; valid until begin().
  std::string_view end();
  void begin() { text_ = "{"; }

 private:
  void name(std::string_view name);
  void number(std::uint64_t number);

  std::string text_ = "{";
};

// Standard output, checked: a result that could not be written is trouble.

class Output {
 public:
  // `json`: of documents, which a terminal shows indented.
  Output(When color, bool json);

  void text(std::string_view text);  // as it is
  // A line of a report: on a terminal in pieces that fit, all but the first behind `indent` blanks.
  void line(std::string_view text, std::size_t indent = 4);

  bool colored() const { return paint_.on; }
  // `text` in a colour when colours are on.
  std::string red(std::string_view text) const { return paint_.red(text); }
  std::string green(std::string_view text) const { return paint_.green(text); }
  std::string yellow(std::string_view text) const { return paint_.yellow(text); }

  // One JSON document, in place of what was begun and not ended. Nothing, where a whole one is
  // there, or the one that was begun is on its way.
  void instead(std::string_view document);

  // Nothing more is written: standard output is a file that must stay as it is.
  void abandon() { abandoned_ = true; }

  // Writes what is pending. An error names standard output; a pipe that nobody reads any more is
  // none.
  btf::Status finish();

 private:
  void flush();

  std::string pending_;
  bool abandoned_ = false;
  bool begun_ = false;   // some of it is written
  std::size_t columns_;  // of lines
  bool indented_;
  btf::report::Paint paint_;
  int failure_ = 0;
};

bool use_color(When when, int fd);

// Where a picture goes: a file, standard output as a PNG, or the terminal.

// "; 2 NaN magenta; 1 Inf red", or nothing.
std::string specials_text(const btf::PictureFacts& facts);

class PictureTarget {
 public:
  // `command.path` is set, and outlives it.
  explicit PictureTarget(const PictureCommand& command);

  // An error if it could not be written at the end, as far as that shows now.
  btf::Status check() const;
  // A PNG on standard output: nothing else may be printed there.
  bool takes_output() const { return to_stdout_ && !shown_; }
  bool in_terminal() const { return shown_; }
  // The options to draw with.
  btf::PictureOptions draw() const;
  btf::Status write(const btf::Picture& picture, Output& out) const;

 private:
  const PictureCommand& command_;
  bool to_stdout_;
  bool shown_;  // in the terminal
  btf::PictureForm form_;
};

// The context of every command.

// The context of every command.

struct Context {
  const GlobalOptions& global;
  Output& out;
  Log& log;
  const OptionNames& names;
};

}  // namespace btftool
