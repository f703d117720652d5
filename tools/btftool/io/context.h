// What every command works with: standard output, the log, JSON, pictures, counts of findings.
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
  // The first error as it was written, or an empty string.
  const std::string& first_error() const { return first_error_; }
  void warning(const std::string& message);
  void alarm(const std::string& message);   // a warning that is printed even with --quiet
  void note(const std::string& message);    // not printed with --quiet
  void detail(const std::string& message);  // printed with --verbose only

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string first_error_;
};

// Lets the first few of many similar messages through and counts the others.
class MessageLimit {
 public:
  bool pass() { return ++count_ <= kMax; }
  std::uint64_t held_back() const { return count_ > kMax ? count_ - kMax : 0; }

 private:
  static constexpr std::uint64_t kMax = 20;
  std::uint64_t count_ = 0;
};

using namespace btf::report;

// `name` is that of the finding's tensor. If it is empty, the JSON has no name.
Json json_finding(const btf::Finding& finding, const std::string& name = {});
Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor);
Json json_loss(const btf::LossAccount& loss);
Json json_stats(const btf::TensorStats& stats, btf::DType dtype);

// Counts of the findings in one file.
struct FindingCounts {
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t hidden = 0;  // how many of them are not shown
  };

  std::map<std::string, Kind, std::less<>> kinds{};  // by code
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;

  bool any() const { return errors + warnings > 0; }
  std::uint64_t hidden() const;
  // Describes the findings that are not shown: "980 [data-past-end], 3 [padding-not-zero]".
  std::string hidden_text() const;
  // The number of findings of each kind.
  Json codes() const;
};

// Counts findings and decides which are shown. At least one of each kind is, so that many findings
// of one kind do not hide another kind.
class FindingTally {
 public:
  explicit FindingTally(bool all) : all_(all) {}

  // Counts the finding. Returns true if it is to be shown.
  bool take(const btf::Finding& finding);

  const FindingCounts& counts() const { return counts_; }

 private:
  bool all_;
  FindingCounts counts_;
  MessageLimit shown_errors_;
  MessageLimit shown_warnings_;
};

// Writes one JSON object member by member, by the rules of report/text/json.h. Faster than Json,
// for objects that come by the million.
class JsonText {
 public:
  // Names and texts are not escaped; a text that may need it must be passed as Json.
  JsonText& add(std::string_view name, std::uint64_t number);
  JsonText& add(std::string_view name, std::string_view text);
  JsonText& add(std::string_view name, const btf::Dims& dims);
  JsonText& add(std::string_view name, const Json& value);
  JsonText& add_bool(std::string_view name, bool value);
  JsonText& add_null(std::string_view name);

  // Returns the whole object, which is valid until begin().
  std::string_view end();
  void begin() { text_ = "{"; }

 private:
  void name(std::string_view name);
  void number(std::uint64_t number);

  std::string text_ = "{";
};

// Standard output. Write errors are kept for finish().
class Output {
 public:
  // If `json` is set, the output is one document, which is indented on a terminal.
  Output(When color, bool json);

  void text(std::string_view text);
  // Writes a line. On a terminal it is wrapped, and all lines but the first are indented.
  void line(std::string_view text, std::size_t indent = 4);

  bool colored() const { return paint_.on; }
  // These return `text` in a colour if colours are on.
  std::string red(std::string_view text) const { return paint_.red(text); }
  std::string green(std::string_view text) const { return paint_.green(text); }
  std::string yellow(std::string_view text) const { return paint_.yellow(text); }

  // Replaces an unfinished JSON document by this one. Does nothing if the document is complete, or
  // if a part of it is already written.
  void replace(std::string_view document);

  // Writes nothing more. Used if standard output is a file that the command reads.
  void abandon() { abandoned_ = true; }

  // Writes what is pending. Returns the first write error; a closed pipe is no error.
  btf::Status finish();

 private:
  void flush();

  std::string pending_;
  bool abandoned_ = false;
  bool begun_ = false;   // something is written
  std::size_t columns_;  // width of lines
  bool indented_;
  btf::report::Paint paint_;
  int failure_ = 0;
};

bool use_color(When when, int fd);

// Returns "; 2 NaN magenta; 1 Inf red", or an empty string.
std::string specials_text(const btf::PictureFacts& facts);

// Where a picture goes: a file, standard output as a PNG, or the terminal.
class PictureTarget {
 public:
  // `command.path` must be set, and `command` must outlive the target.
  explicit PictureTarget(const PictureCommand& command);

  // Fails if the picture could not be written, as far as can be seen before it is drawn.
  btf::Status check() const;
  // Returns true if a PNG goes to standard output, where nothing else may be printed then.
  bool takes_output() const { return to_stdout_ && !shown_; }
  bool in_terminal() const { return shown_; }
  btf::PictureOptions draw_options() const;
  btf::Status write(const btf::Picture& picture, Output& out) const;

 private:
  const PictureCommand& command_;
  bool to_stdout_;
  bool shown_;  // in the terminal
  btf::PictureForm form_;
};

struct Context {
  const GlobalOptions& global;
  Output& out;
  Log& log;
  const OptionNames& names;
  const std::vector<NamedFile>& files;  // that options name
};

}  // namespace btftool
