// Where a picture goes: a file, standard output as a PNG, or the terminal.
#pragma once

#include <string>

#include "btf/error.h"
#include "btf/inspect/picture.h"
#include "cli/options.h"
#include "io/output.h"

namespace btftool {

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

}  // namespace btftool
