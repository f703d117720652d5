#include "diff/part_report.h"

#include <array>
#include <utility>

namespace btftool {

using btf::FileState;

PartReport::PartReport(const Context& context, const DiffCommand& command, bool directories,
                       std::vector<std::string> tensor_criteria)
    : command_(command),
      part_(context, *command.part,
            {.command = "diff",
             .operands = {command.actual, command.golden},
             .directories = directories,
             .tensor_criteria = std::move(tensor_criteria)}) {}

btf::Result<std::vector<std::uint64_t>> PartReport::pick(std::span<const btf::PlannedPair> pairs) {
  for (const btf::PlannedPair& pair : pairs)
    planned_.push_back({pair.actual_bytes, pair.golden_bytes});
  return part_.pick(pairs, "pair", {command_.map, command_.rules});
}

void PartReport::begin(const btf::FilePair& pair) {
  item_ = {};
  item_.pair.files = pair;
  item_.actual = FileState::of(pair.actual);
  item_.golden = FileState::of(pair.golden);
  began_ = std::chrono::steady_clock::now();
}

void PartReport::end(const btf::FilePair& pair, const btf::PairOutcome& outcome) {
  if (!part_.begun()) return;
  item_.pair.outcome = outcome;
  item_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  const Sizes& sizes = planned_[pair.number];
  btf::PartLine line = part_line(item_);
  line.files.clear();
  part_.add(std::move(line), std::array{ReadFile{pair.actual, item_.actual, sizes.actual},
                                        ReadFile{pair.golden, item_.golden, sizes.golden}});
}

}  // namespace btftool
