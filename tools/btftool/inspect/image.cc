#include "inspect/image.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "btf/inspect/picture.h"
#include "btf/output.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "btf/value.h"
#include "cli/arguments.h"
#include "io/exit_code.h"
#include "io/interrupt.h"
#include "io/text.h"

namespace btftool {
namespace {

btf::Result<btf::SetTensor> only_tensor(const btf::TensorSet& set, const InspectOptions& options) {
  if (set.member_count() == 0) return std::unexpected(btf::no_files(set));
  std::vector<std::uint64_t> chosen{0};
  std::uint64_t count = 0;
  if (options.tensors) {
    BTF_ASSIGN(chosen, set.select(*options.tensors));
    count = chosen.size();
  } else {
    BTF_ASSIGN(count, set.tensor_count());
  }
  if (count != 1)
    return btf::fail(
        btf::ErrorCode::invalid_argument,
        fmt::format("--image draws one tensor, and these are {}: --tensor selects", count));
  return set.tensor(chosen.front());
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

btf::PictureForm form_of_terminal() {
  return btf::terminal_form(variable("TERM"), variable("TERM_PROGRAM"),
                            !variable("KITTY_WINDOW_ID").empty(),
                            !variable("TMUX").empty() || !variable("STY").empty());
}

// "10 x 10 tiles of [5, 7]; colours from -1 to 3.5; 2 NaN magenta, 1 Inf red, 1 -Inf cyan"
std::string facts_text(const btf::PictureFacts& facts, bool own) {
  std::string text;
  if (facts.tiles > 1)
    text += fmt::format("{} tiles, {} side by side, of ", facts.tiles, facts.across);
  text += fmt::format("{} x {} elements", facts.rows, facts.columns);
  text += own ? "; colours of each tile for itself"
              : fmt::format("; colours from {} to {}", short_number(facts.least),
                            short_number(facts.greatest));
  if (facts.nan > 0) text += fmt::format("; {} NaN magenta", facts.nan);
  if (facts.positive_inf > 0) text += fmt::format("; {} Inf red", facts.positive_inf);
  if (facts.negative_inf > 0) text += fmt::format("; {} -Inf cyan", facts.negative_inf);
  return text;
}

}  // namespace

btf::Result<int> inspect_image(const Context& context, const InspectOptions& options) {
  const PictureCommand& command = options.image;
  const bool to_stdout = btf::is_standard_output(*command.path);
  if (!to_stdout) {
    BTF_TRY(btf::check_output(*command.path));
  }
  BTF_ASSIGN(const btf::TensorSet set, btf::TensorSet::open(options.files, options.open));
  BTF_ASSIGN(const btf::SetTensor chosen, only_tensor(set, options));
  BTF_ASSIGN(const auto file, set.file(chosen.member));
  BTF_ASSIGN(const btf::TensorInfo tensor, file->tensor(chosen.index));
  BTF_TRY(file->check_overlap(tensor));
  btf::PictureOptions draw = command.draw;
  draw.execution = context.global.execution();
  draw.execution.cancel = &watch_interrupts();
  if (options.at) {
    BTF_ASSIGN(draw.part, parse_slice(*options.at));
  }
  const bool terminal = to_stdout && ::isatty(STDOUT_FILENO) != 0;
  const bool shown = terminal || (to_stdout && command.form);
  const btf::PictureForm form = command.form.value_or(form_of_terminal());
  // A pixel of blocks is half a character already.
  if (shown && form == btf::PictureForm::blocks && draw.zoom == 0) draw.zoom = 1;
  BTF_ASSIGN(const btf::DrawnTensor drawn, btf::draw(*file, tensor, draw));
  BTF_TRY(file->check_unchanged());

  if (shown) {
    BTF_ASSIGN(
        const std::string text,
        btf::terminal_picture(drawn.picture, form, static_cast<std::uint32_t>(output_columns())));
    context.out.text(text);
  } else {
    BTF_ASSIGN(const std::string bytes, btf::png(drawn.picture));
    if (to_stdout) {
      context.out.text(bytes);
      return kSame;  // and nothing else
    }
    BTF_TRY(btf::write_text(*command.path, bytes));
  }
  if (context.global.quiet) return kSame;
  context.out.line(fmt::format("{}: tensor {}{}: {} of {}: {}", printable(file->path()),
                               tensor.index, tensor.named ? " " + quoted_name(tensor.name) : "",
                               drawn.facts.part, btf::dims_text(tensor.dims),
                               facts_text(drawn.facts, draw.scale == btf::PictureScale::own)));
  return kSame;
}

}  // namespace btftool
