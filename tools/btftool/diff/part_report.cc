#include "diff/part_report.h"

#include <utility>

#include "btf/try.h"
#include "io/read_text.h"
#include "io/text.h"

namespace btftool {

using btf::FileState;

PartReport::PartReport(const Context& context, const DiffCommand& command, bool directories,
                       std::vector<std::string> tensor_criteria)
    : context_(context),
      command_(command),
      directories_(directories),
      tensor_criteria_(std::move(tensor_criteria)) {}

// Options, and what is in the files that they name.
btf::Result<std::vector<std::string>> PartReport::deciding() const {
  std::vector<std::string> words = command_.part->options;
  for (const std::optional<std::string>& path : {command_.map, command_.rules}) {
    if (!path) continue;
    const auto text = read_text(*path);
    if (!text) return std::unexpected(text.error().in_file(*path));
    words.push_back(*text);
  }
  return words;
}

btf::Result<std::vector<std::uint64_t>> PartReport::pick(std::span<const btf::PlannedPair> pairs) {
  const PartOptions& part = *command_.part;
  BTF_ASSIGN(const std::vector<std::string> words, deciding());
  btf::PartHead head{.shard = part.shard,
                     .plan = btf::plan_digest("diff", words, part.shard.of, pairs),
                     .version = BTFTOOL_VERSION,
                     .command = "diff",
                     .options = part.options,
                     .actual = command_.actual,
                     .golden = command_.golden,
                     .directories = directories_,
                     .pairs = pairs.size(),
                     .tensor_criteria = tensor_criteria_};
  if (part.shard.number == 1) head.others = others_;
  BTF_ASSIGN(writer_, btf::PartWriter::create(part.path, head, part.resume));
  if (!writer_->note().empty()) context_.log.warning(writer_->note());
  const std::vector<std::uint64_t> shards = btf::shards_of_pairs(pairs, part.shard.of);
  std::vector<std::uint64_t> open;
  for (std::uint64_t i = 0; i < shards.size(); ++i) {
    planned_.push_back({pairs[i].actual_bytes, pairs[i].golden_bytes});
    if (shards[i] != part.shard.number) continue;
    ++own_;
    writer_->has(i) ? void(++kept_) : open.push_back(i);
  }
  return open;
}

void PartReport::begin(const btf::FilePair& pair) {
  item_ = {.pair = {.files = pair},
           .actual = FileState::of(pair.actual),
           .golden = FileState::of(pair.golden)};
  began_ = std::chrono::steady_clock::now();
}

// While it was compared, or since all pairs were planned.
bool PartReport::was_changed(const std::string& path, const std::optional<FileState>& before,
                             std::uint64_t planned) {
  if (FileState::of(path) == before && (!before || before->bytes == planned)) return false;
  if (status_)
    status_ = std::unexpected(btf::Error{
        btf::ErrorCode::io, "the file was changed since the shard began; it is to be run again"}
                                  .in_file(path));
  return true;
}

void PartReport::end(const btf::FilePair& pair, const btf::PairOutcome& outcome) {
  if (!writer_) return;
  const Sizes& sizes = planned_[pair.number];
  if (was_changed(pair.actual, item_.actual, sizes.actual) ||
      was_changed(pair.golden, item_.golden, sizes.golden))
    return;
  item_.pair.outcome = outcome;
  item_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  if (btf::Status added = writer_->add(item_); status_ && !added) status_ = std::move(added);
}

btf::Status PartReport::finish(const btf::DiffTotals&) {
  if (!writer_) return {};
  BTF_TRY(status_);
  BTF_TRY(writer_->finish());
  if (context_.global.quiet) return {};
  const PartOptions& part = *command_.part;
  std::string line = "shard " + std::to_string(part.shard.number) + " of " +
                     std::to_string(part.shard.of) + ": " + std::to_string(own_) +
                     (own_ == 1 ? " pair" : " pairs");
  if (kept_ > 0) line += ", " + std::to_string(kept_) + " from before";
  context_.out.text(line + ", " + printable(part.path) + "\n");
  return {};
}

}  // namespace btftool
