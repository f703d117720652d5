#include "inspect/image.h"

#include <fmt/format.h>

#include "btf/inspect/picture.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "btf/value.h"
#include "cli/arguments.h"
#include "io/exit_code.h"
#include "io/interrupt.h"
#include "io/picture.h"
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

// "10 x 10 tiles of [5, 7]; colours from -1 to 3.5; 2 NaN magenta, 1 Inf red, 1 -Inf cyan"
std::string facts_text(const btf::PictureFacts& facts, bool own) {
  std::string text;
  if (facts.tiles > 1)
    text += fmt::format("{} tiles, {} side by side, of ", facts.tiles, facts.across);
  text += fmt::format("{} x {} elements", facts.rows, facts.columns);
  text += own ? "; colours of each tile for itself"
              : fmt::format("; colours from {} to {}", short_number(facts.least),
                            short_number(facts.greatest));
  return text + specials_text(facts);
}

}  // namespace

btf::Result<int> inspect_image(const Context& context, const InspectOptions& options) {
  const PictureCommand& command = options.image;
  const PictureTarget target(command);
  BTF_TRY(target.check());
  BTF_ASSIGN(const btf::TensorSet set, btf::TensorSet::open(options.files, options.open));
  BTF_ASSIGN(const btf::SetTensor chosen, only_tensor(set, options));
  BTF_ASSIGN(const auto file, set.file(chosen.member));
  BTF_ASSIGN(const btf::TensorInfo tensor, file->tensor(chosen.index));
  BTF_TRY(file->check_overlap(tensor));
  btf::PictureOptions draw = target.draw();
  draw.execution = context.global.execution();
  draw.execution.cancel = &watch_interrupts();
  if (options.at) {
    BTF_ASSIGN(draw.part, parse_slice(*options.at));
  }
  BTF_ASSIGN(const btf::DrawnTensor drawn, btf::draw(*file, tensor, draw));
  BTF_TRY(file->check_unchanged());

  BTF_TRY(target.write(drawn.picture, context.out));
  if (context.global.quiet || target.takes_output()) return kSame;
  context.out.line(fmt::format("{}: tensor {}{}: {} of {}: {}", printable(file->path()),
                               tensor.index, tensor.named ? " " + quoted_name(tensor.name) : "",
                               drawn.facts.part, btf::dims_text(tensor.dims),
                               facts_text(drawn.facts, draw.scale == btf::PictureScale::own)));
  return kSame;
}

}  // namespace btftool
