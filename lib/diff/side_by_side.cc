#include <algorithm>
#include <optional>

#include "btf/diff.h"
#include "core/open_files.h"
#include "elements/parallel.h"

namespace btf {

std::size_t most_side_by_side(const Execution& execution) {
  constexpr std::size_t kForEach = 8;  // so that one that takes long keeps nobody waiting
  const unsigned workers = worker_count(execution, UINT64_MAX, UINT64_MAX);
  return workers == 1 ? 1 : open_files(kForEach * workers);
}

std::vector<FilesDiff> diff_side_by_side(std::span<const FilesToDiff> pairs,
                                         const Execution& execution) {
  std::vector<std::optional<FilesDiff>> found(pairs.size());
  const unsigned workers = std::max(1U, worker_count(execution, pairs.size(), UINT64_MAX));
  const auto compare = [&](std::uint64_t i) -> Status {
    DiffOptions options = pairs[i].options;
    options.execution = {
        .jobs = 1, .memory = execution.memory / workers, .cancel = execution.cancel};
    FilesDiff pair;
    pair.same = diff(*pairs[i].actual, *pairs[i].golden, options,
                     [&](const TensorDiff& diff) { pair.tensors.push_back(diff); });
    found[i] = std::move(pair);
    return {};
  };
  const Status all = for_each_slab(execution, workers, pairs.size(),
                                   [&](unsigned, std::uint64_t i) { return compare(i); });
  // Where one found no memory, the others are none of those that suffer for it.
  for (std::uint64_t i = 0; !all && i < found.size(); ++i) {
    if (found[i]) continue;
    const Status alone =
        for_each_slab(execution, 1, 1, [&](unsigned, std::uint64_t) { return compare(i); });
    if (!alone) found[i] = FilesDiff{.same = std::unexpected(alone.error())};
  }
  std::vector<FilesDiff> told;
  told.reserve(found.size());
  for (std::optional<FilesDiff>& pair : found) told.push_back(*std::move(pair));
  return told;
}

}  // namespace btf
