// Standard output, checked: a result that could not be written is trouble.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "cli/options.h"
#include "report/text/paint.h"

namespace btftool {

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

}  // namespace btftool
