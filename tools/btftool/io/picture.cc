#include "io/picture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "btf/output.h"
#include "btf/try.h"
#include "io/text.h"

namespace btftool {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

btf::PictureForm form_of_terminal() {
  return btf::terminal_form(variable("TERM"), variable("TERM_PROGRAM"),
                            !variable("KITTY_WINDOW_ID").empty(),
                            !variable("TMUX").empty() || !variable("STY").empty());
}

}  // namespace

std::string specials_text(const btf::PictureFacts& facts) {
  std::string text;
  if (facts.nan > 0) text += fmt::format("; {} NaN magenta", facts.nan);
  if (facts.positive_inf > 0) text += fmt::format("; {} Inf red", facts.positive_inf);
  if (facts.negative_inf > 0) text += fmt::format("; {} -Inf cyan", facts.negative_inf);
  return text;
}

PictureTarget::PictureTarget(const PictureCommand& command)
    : command_(command),
      to_stdout_(btf::is_standard_output(*command.path)),
      shown_(to_stdout_ && (command.form || ::isatty(STDOUT_FILENO) != 0)),
      form_(command.form.value_or(form_of_terminal())) {}

btf::Status PictureTarget::check() const {
  return to_stdout_ ? btf::Status() : btf::check_output(*command_.path);
}

btf::PictureOptions PictureTarget::draw() const {
  btf::PictureOptions draw = command_.draw;
  // A pixel of blocks is half a character already.
  if (shown_ && form_ == btf::PictureForm::blocks && draw.zoom == 0) draw.zoom = 1;
  return draw;
}

btf::Status PictureTarget::write(const btf::Picture& picture, Output& out) const {
  if (shown_) {
    BTF_ASSIGN(const std::string text,
               btf::terminal_picture(picture, form_, static_cast<std::uint32_t>(output_columns())));
    out.text(text);
    return {};
  }
  BTF_ASSIGN(const std::string bytes, btf::png(picture));
  if (!to_stdout_) return btf::write_text(*command_.path, bytes);
  out.text(bytes);
  return {};
}

}  // namespace btftool
