#include "parts/shard.h"

#include <utility>

#include "btf/try.h"
#include "io/text.h"

namespace btftool {

btf::Result<std::vector<std::string>> result_options(
    const std::vector<std::string>& options, const std::vector<std::optional<std::string>>& files) {
  std::vector<std::string> words = options;
  for (const std::optional<std::string>& path : files) {
    if (!path) continue;
    const auto text = read_text(*path);
    if (!text) return std::unexpected(text.error().in_file(*path));
    words.push_back(*text);
  }
  return words;
}

ShardPart::ShardPart(const Context& context, const PartOptions& options, btf::PartHead head)
    : context_(context), options_(options), head_(std::move(head)) {
  head_.shard = options.shard;
  head_.version = BTFTOOL_VERSION;
  head_.options = options.options;
}

btf::Result<std::vector<std::uint64_t>> ShardPart::pick(
    std::span<const btf::PlannedPair> items, const char* item,
    const std::vector<std::optional<std::string>>& files) {
  item_ = item;
  BTF_ASSIGN(const std::vector<std::string> words, result_options(head_.options, files));
  head_.plan = btf::plan_digest(head_.command, words, head_.shard.of, items);
  head_.items = items.size();
  if (options_.shard.number != 1) {
    head_.others.clear();
    head_.warnings.clear();
  }
  BTF_ASSIGN(writer_, btf::PartWriter::create(options_.path, head_, options_.resume));
  if (!writer_->note().empty()) context_.log.warning(writer_->note());
  const std::vector<std::uint64_t> shards = btf::shards_of_pairs(items, options_.shard.of);
  std::vector<std::uint64_t> open;
  for (std::uint64_t i = 0; i < shards.size(); ++i) {
    if (shards[i] != options_.shard.number) continue;
    ++own_;
    writer_->has(i) ? void(++kept_) : open.push_back(i);
  }
  last_ = std::chrono::steady_clock::now();
  return open;
}

void ShardPart::note(const btf::Error& error) {
  if (status_) status_ = std::unexpected(error);
}

// Returns true if the file has not changed while it was read, nor since the items were planned.
bool ShardPart::as_before(const ReadFile& file) {
  const auto now = file.before ? btf::FileState::of(file.path) : file.before;
  if (!now) {
    note(now.error());
    return false;
  }
  const std::optional<btf::FileState>& before = *file.before;
  if (*now == before && (!file.planned || !before || before->bytes == *file.planned)) return true;
  note(btf::Error{btf::ErrorCode::io,
                  "the file has changed since the shard began; run the shard again"}
           .in_file(file.path));
  return false;
}

void ShardPart::add(btf::PartLine line, std::span<const ReadFile> read,
                    std::span<const std::string> written) {
  for (const ReadFile& file : read) {
    if (!as_before(file)) return;
    line.files.push_back(*file.before);
  }
  for (const std::string& path : written) {
    const auto state = btf::FileState::of(path);
    if (!state) return note(state.error());
    line.files.push_back(*state);
  }
  if (const btf::Status added = writer_->add(line); !added) note(added.error());
}

void ShardPart::add_measured(btf::PartLine line, const std::string& name, const std::string& error,
                             std::span<const ReadFile> read) {
  const auto now = std::chrono::steady_clock::now();
  line.seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  if (!error.empty()) context_.log.error("'" + name + "' could not be measured: " + error);
  add(std::move(line), read);
}

btf::Status ShardPart::finish() {
  if (!writer_) return {};
  BTF_TRY(status_);
  BTF_TRY(writer_->finish());
  if (context_.global.quiet) return {};
  std::string line = "shard " + std::to_string(options_.shard.number) + " of " +
                     std::to_string(options_.shard.of) + ": " + counted(own_, item_);
  if (kept_ > 0) line += ", " + std::to_string(kept_) + " from an earlier run";
  context_.out.text(line + ", " + printable(options_.path) + "\n");
  return {};
}

}  // namespace btftool
