#include "diff/picture.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "btf/diff/picture.h"
#include "btf/try.h"
#include "io/interrupt.h"
#include "io/text.h"

namespace btftool {
namespace {

// "tensor 0 'fc'", "tensor 3 'fc' against 0 'fc.weight'"
std::string both_tensors(const btf::DiffTensor& actual, const btf::DiffTensor& golden) {
  const auto name = [](const btf::DiffTensor& tensor) {
    return tensor.named ? " " + quoted_name(tensor.name) : std::string();
  };
  std::string text = fmt::format("tensor {}{}", actual.index, name(actual));
  const bool other_name = (actual.named || golden.named) && actual.name != golden.name;
  if (actual.index != golden.index || other_name)
    text += fmt::format(" against {}{}", golden.index, name(golden));
  return text;
}

// The last three dims where all others have the place's indices.
btf::Slice around(const btf::Dims& place) {
  btf::Slice slice;
  for (std::size_t d = 0; d + btf::kMostPictureDims < place.size(); ++d)
    slice.parts.emplace_back(static_cast<std::int64_t>(place[d]));
  return slice;
}

}  // namespace

bool picture_takes_output(const DiffCommand& command) {
  return command.image.path && PictureTarget(command.image).takes_output();
}

DifferencePicture::DifferencePicture(const DiffCommand& command, bool several)
    : command_(command), several_(several) {
  if (command.image.path) target_.emplace(command.image);
}

void DifferencePicture::note(const btf::FilePair& files, const btf::TensorDiff& diff) {
  if (!target_ || !diff.actual || !diff.golden) return;
  const bool different = diff.result == btf::DiffResult::different;
  if (!different && diff.result != btf::DiffResult::same) return;
  different_ += different ? 1 : 0;
  if (chosen_ && (!different || (chosen_->different && diff.worst_error() <= chosen_->error)))
    return;
  chosen_ = {.files = files,
             .actual = *diff.actual,
             .golden = *diff.golden,
             .error = diff.worst_error(),
             .different = different};
  if (diff.worst_abs) chosen_->place = diff.worst_abs->index;
}

std::optional<std::uint64_t> DifferencePicture::pair() const {
  return chosen_ ? std::optional(chosen_->files.number) : std::nullopt;
}

void DifferencePicture::draw(const Context& context, const btf::Result<btf::ComparedFiles>& files) {
  if (!files) {
    drawn_ = std::unexpected(files.error());
    return;
  }
  btf::PictureOptions options = target_->draw();
  if (!options.part && chosen_->place) options.part = around(*chosen_->place);
  options.execution = context.global.execution();
  options.execution.cancel = &watch_interrupts();
  drawn_ = btf::draw_difference(*files->actual, *files->golden,
                                {.actual = chosen_->actual.index, .golden = chosen_->golden.index},
                                files->options, options);
}

btf::Status DifferencePicture::write(const Context& context) const {
  if (!target_) return {};
  if (!drawn_)
    return btf::fail(
        btf::ErrorCode::invalid_argument,
        *command_.image.path + ": no picture: no two tensors of equal dims were compared");
  if (!*drawn_) return std::unexpected(drawn_->error());
  const btf::DrawnTensor& drawn = **drawn_;
  BTF_TRY(target_->write(drawn.picture, context.out));
  if (context.global.quiet || command_.json || target_->takes_output()) return {};
  std::string line = target_->in_terminal() ? "" : printable(*command_.image.path) + ": ";
  if (several_) line += printable(chosen_->files.actual) + ": ";
  line += both_tensors(chosen_->actual, chosen_->golden);
  if (different_ > 1) line += fmt::format(", the worst of {} that differ", different_);
  line += fmt::format(": {}: actual, golden, error from {} to {}", drawn.facts.part,
                      short_number(drawn.facts.least), short_number(drawn.facts.greatest));
  context.out.line(line + specials_text(drawn.facts));
  return {};
}

}  // namespace btftool
