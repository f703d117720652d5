#include "diff/picture.h"

#include <fmt/format.h>

#include <memory>

#include "btf/inspect/picture.h"
#include "btf/output.h"
#include "btf/try.h"
#include "cli/arguments.h"
#include "io/interrupt.h"
#include "io/text.h"

namespace btftool {
namespace {

btf::Result<std::shared_ptr<const btf::TensorFile>> file_of(const btf::TensorSet& set,
                                                            const std::string& path) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (set.member_count() == 1 || set.path(i) == path || set.member(i).path == path)
      return set.file(i);
  return btf::fail(btf::ErrorCode::invalid_argument, path + " is not in " + set.path());
}

}  // namespace

void DifferencePicture::note(const btf::FilePair& files, const btf::TensorDiff& diff) {
  if (!command_.image.path || (chosen_ && chosen_->different)) return;
  const bool different = diff.result == btf::DiffResult::different;
  if (!different && (chosen_ || diff.result != btf::DiffResult::same)) return;
  if (!diff.actual || !diff.golden) return;
  chosen_ = {files.actual, files.golden, diff.actual->index, diff.golden->index, different};
}

btf::Status DifferencePicture::write(const Context& context, const btf::TwoSets& sets) const {
  if (!command_.image.path) return {};
  if (!chosen_)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     *command_.image.path + ": no picture: no two tensors were compared");
  BTF_ASSIGN(const auto actual, file_of(sets.actual, chosen_->actual));
  BTF_ASSIGN(const auto golden, file_of(sets.golden, chosen_->golden));
  BTF_ASSIGN(const btf::TensorInfo left, actual->tensor(chosen_->actual_tensor));
  BTF_ASSIGN(const btf::TensorInfo right, golden->tensor(chosen_->golden_tensor));
  btf::PictureOptions draw = command_.image.draw;
  draw.execution = context.global.execution();
  draw.execution.cancel = &watch_interrupts();
  if (command_.image.part) {
    BTF_ASSIGN(draw.part, parse_slice(*command_.image.part));
  }
  BTF_ASSIGN(const btf::DrawnTensor drawn,
             btf::draw_difference(*actual, left, *golden, right, draw));
  BTF_ASSIGN(const std::string bytes, btf::png(drawn.picture));
  BTF_TRY(btf::write_text(*command_.image.path, bytes));
  if (context.global.quiet || command_.json) return {};
  context.out.line(fmt::format(
      "{}: tensor {}{}: {}: actual, golden, error from {} to {}", printable(*command_.image.path),
      left.index, left.named ? " " + quoted_name(left.name) : "", drawn.facts.part,
      short_number(drawn.facts.least), short_number(drawn.facts.greatest)));
  return {};
}

}  // namespace btftool
