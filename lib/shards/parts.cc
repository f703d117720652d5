// Which shard does which items, and reading all parts of a plan.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <span>
#include <string>
#include <utility>

#include "btf/part.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "formats/io/output.h"
#include "report/text/text.h"
#include "sets/pairs/pair_queue.h"
#include "shards/part_lines.h"

namespace btf {
namespace {

std::uint64_t cost(const PlannedPair& pair) {
  return pair.bytes > UINT64_MAX - kPairCost ? UINT64_MAX : pair.bytes + kPairCost;
}

}  // namespace

std::vector<std::uint64_t> shards_of_pairs(std::span<const PlannedPair> pairs,
                                           std::uint64_t shards) {
  std::vector<std::uint64_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::uint64_t left, std::uint64_t right) {
    const std::uint64_t a = cost(pairs[left]);
    const std::uint64_t b = cost(pairs[right]);
    return a != b ? a > b : pairs[left].name < pairs[right].name;
  });
  using Load = std::pair<std::uint64_t, std::uint64_t>;  // its load and its number
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint64_t shard = 1; shard <= shards; ++shard) loads.emplace(0, shard);
  std::vector<std::uint64_t> found(pairs.size());
  for (const std::uint64_t number : order) {
    const auto [load, shard] = loads.top();
    loads.pop();
    found[number] = shard;
    loads.emplace(checked_add(load, cost(pairs[number])).value_or(UINT64_MAX), shard);
  }
  return found;
}

std::string plan_digest(std::string_view command, std::span<const std::string> deciding,
                        std::uint64_t shards, std::span<const PlannedPair> pairs) {
  Digest digest;
  digest.text(command);
  digest.number(deciding.size());
  for (const std::string& word : deciding) digest.text(word);
  digest.number(shards);
  digest.number(pairs.size());
  for (const PlannedPair& pair : pairs) {
    digest.text(pair.name);
    digest.number(pair.actual_bytes);
    digest.number(pair.golden_bytes);
  }
  return digest.hexadecimal();
}

using shards::ScannedPart;
using shards::shard_command;

namespace {

struct PartFile {
  std::string path;
  ScannedPart scanned;
};

struct Place {
  std::uint64_t number = 0;
  std::uint64_t part = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

std::string shard_name(const PartHead& head, std::uint64_t shard) {
  return "shard " + std::to_string(shard) + " of " + std::to_string(head.shard.of);
}

Error trouble(const std::string& message) { return {ErrorCode::refused, message}; }

Error rerun_error(const PartFile& part, const std::string& what) {
  const PartHead& head = part.scanned.head;
  return trouble(what + " (" + shard_name(head, head.shard.number) +
                 "); run again: " + shard_command(head, head.shard.number, part.path))
      .in_file(part.path);
}

// The path of another shard's part: "part/3.jsonl" with the other number.
std::string path_of(const PartFile& part, std::uint64_t shard) {
  const std::string number = std::to_string(part.scanned.head.shard.number);
  const std::size_t slash = part.path.rfind('/');
  const std::size_t from = slash == part.path.npos ? 0 : slash + 1;
  for (std::size_t at = part.path.size(); at-- > from;) {
    if (part.path.compare(at, number.size(), number) != 0) continue;
    const auto digit = [&](std::size_t i) {
      return i < part.path.size() && part.path[i] >= '0' && part.path[i] <= '9';
    };
    if (digit(at + number.size()) || (at > from && digit(at - 1))) continue;
    std::string path = part.path;
    return path.replace(at, number.size(), std::to_string(shard));
  }
  return "FILE";
}

std::string options_text(const PartHead& head) {
  std::string words;
  for (const std::string& word : head.options)
    words += (words.empty() ? "" : " ") + report::shell_word(word);
  return words.empty() ? "without options" : "with " + words;
}

// How the comparisons of two parts differ; empty if they are the same.
std::string difference_text(const PartHead& found, const PartHead& wanted) {
  const auto shards = [](const PartHead& head) {
    return std::to_string(head.shard.of) + " shards";
  };
  const auto instead = [](const std::string& a, const std::string& b) {
    return "was made " + a + ", not " + b;
  };
  if (found.version != wanted.version)
    return instead("by btftool " + found.version, wanted.version);
  if (found.command != wanted.command)
    return instead("by btftool " + found.command, wanted.command);
  if (found.shard.of != wanted.shard.of) return instead("for " + shards(found), shards(wanted));
  if (found.options != wanted.options) return instead(options_text(found), options_text(wanted));
  if (found.plan != wanted.plan || found.directories != wanted.directories ||
      found.items != wanted.items)
    return "was made of other files: some were added, removed or got another size since, or a file "
           "that the options name was changed";
  return "";
}

// Collects the parts of one plan, one for each shard.
class PartCollection {
 public:
  explicit PartCollection(std::vector<PartFile> files) : files_(std::move(files)) {}

  Result<std::vector<std::uint64_t>> run(std::optional<std::uint64_t> expected) {
    const PartFile& wanted = most_common();
    const PartHead& head = wanted.scanned.head;
    for (const PartFile& file : files_) BTF_TRY(check_alike(file, wanted));
    if (expected && *expected != head.shard.of)
      return std::unexpected(trouble("was made for " + std::to_string(head.shard.of) +
                                     " shards, `expected` " + std::to_string(*expected))
                                 .in_file(wanted.path));
    for (const PartFile& file : files_) BTF_TRY(check_whole(file));
    for (std::uint64_t i = 0; i < files_.size(); ++i) BTF_TRY(take(i));
    BTF_TRY(check_complete());
    std::vector<std::uint64_t> chosen;
    for (const auto& [shard, file] : by_shard_) chosen.push_back(file);
    return chosen;
  }

  const std::vector<PartFile>& files() const { return files_; }

 private:
  // A part of the most frequent plan, else the first part.
  const PartFile& most_common() const {
    std::map<std::string, std::uint64_t> counts;
    for (const PartFile& file : files_) ++counts[file.scanned.head.plan];
    return *std::ranges::max_element(
        files_, {}, [&](const PartFile& file) { return counts.at(file.scanned.head.plan); });
  }

  static Status check_alike(const PartFile& file, const PartFile& wanted) {
    const PartHead& found = file.scanned.head;
    const PartHead& head = wanted.scanned.head;
    const std::string why = difference_text(found, head);
    if (why.empty()) return {};
    const std::uint64_t shard = found.shard.number;
    const std::string then = shard <= head.shard.of
                                 ? "run again: " + shard_command(head, shard, file.path)
                                 : "leave it out";
    return std::unexpected(
        trouble(why + " as " + wanted.path + " (" + shard_name(found, shard) + "); " + then)
            .in_file(file.path));
  }

  static Status check_whole(const PartFile& file) {
    const ScannedPart& part = file.scanned;
    if (!part.trouble.empty()) return std::unexpected(rerun_error(file, part.trouble));
    if (!part.tail) return std::unexpected(rerun_error(file, "is incomplete: it has no end"));
    if (part.tail->digest != part.digest)
      return std::unexpected(rerun_error(file, "was changed after it was written"));
    return {};
  }

  Status take(std::uint64_t at) {
    const auto [found, added] = by_shard_.emplace(files_[at].scanned.head.shard.number, at);
    if (added) return {};
    const PartFile& one = files_[found->second];
    const PartFile& other = files_[at];
    if (one.scanned.tail->results == other.scanned.tail->results) return {};
    return std::unexpected(rerun_error(other, "has other results than " + one.path));
  }

  Status check_complete() const {
    const PartFile& any = files_.front();
    const PartHead& head = any.scanned.head;
    std::vector<std::uint64_t> missing;
    for (std::uint64_t shard = 1; shard <= head.shard.of; ++shard)
      if (!by_shard_.contains(shard)) missing.push_back(shard);
    if (missing.empty()) return {};
    constexpr std::size_t kNamed = 8;
    std::string list;
    for (std::size_t i = 0; i < std::min(kNamed, missing.size()); ++i)
      list += (i == 0 ? "" : ", ") + std::to_string(missing[i]);
    if (missing.size() > kNamed)
      list += " and " + std::to_string(missing.size() - kNamed) + " more";
    const bool one = missing.size() == 1;
    return std::unexpected(trouble(
        (one ? "shard " : "shards ") + list + " of " + std::to_string(head.shard.of) +
        (one ? " is" : " are") +
        " missing; run: " + shard_command(head, missing.front(), path_of(any, missing.front()))));
  }

  std::vector<PartFile> files_;
  std::map<std::uint64_t, std::uint64_t> by_shard_;
};

}  // namespace

struct Parts::State {
  std::vector<PartFile> files;
  std::vector<Place> places;  // by number of the item
  PartHead head;
};

Parts::Parts(std::unique_ptr<State> state) : state_(std::move(state)) {}
Parts::Parts(Parts&&) noexcept = default;
Parts& Parts::operator=(Parts&&) noexcept = default;
Parts::~Parts() = default;

const PartHead& Parts::head() const { return state_->head; }

Result<Parts> Parts::open(std::span<const std::string> paths,
                          std::optional<std::uint64_t> expected) {
  if (paths.empty()) return fail(ErrorCode::invalid_argument, "there are no parts");
  std::vector<PartFile> files;
  std::vector<std::vector<Place>> places;
  for (const std::string& path : paths) {
    std::vector<Place> found;
    auto scanned = shards::scan_part(path, [&](std::string_view line, std::uint64_t offset) {
      found.push_back({*shards::number_of(line), files.size(), offset, line.size()});
    });
    if (!scanned && scanned.error().system == ENOENT) {
      Error error = scanned.error();
      BTF_ASSIGN(const auto partial, FileState::of(path + ".partial"));
      if (partial)
        error.message +=
            "; " + path + ".partial exists: its shard has not finished; continue it with `resume`";
      return std::unexpected(error);
    }
    if (!scanned) return std::unexpected(scanned.error());
    files.push_back({path, *std::move(scanned)});
    places.push_back(std::move(found));
  }
  PartCollection gathering(std::move(files));
  BTF_ASSIGN(const std::vector<std::uint64_t> chosen, gathering.run(expected));
  auto state = std::make_unique<State>();
  state->files = gathering.files();
  for (const std::uint64_t file : chosen) {
    state->places.insert(state->places.end(), places[file].begin(), places[file].end());
    places[file] = {};
  }
  state->head = state->files[chosen.front()].scanned.head;
  std::ranges::sort(state->places, {}, &Place::number);
  for (std::size_t i = 1; i < state->places.size(); ++i)
    if (state->places[i].number == state->places[i - 1].number)
      return std::unexpected(
          rerun_error(state->files[state->places[i].part],
                      "has item " + std::to_string(state->places[i].number) + ", which " +
                          state->files[state->places[i - 1].part].path + " has too"));
  return Parts(std::move(state));
}

namespace {

using ParseItem = std::function<Result<TakeItem>(std::string_view line)>;

class QueuedItem final : public QueuedPair {
 public:
  QueuedItem(std::string line, const PartFile& part, const ParseItem& parse)
      : line_(std::move(line)), part_(part), parse_(parse) {}

  Status compare() override {
    take_ = parse_(line_);
    return {};
  }

  Status deliver(const Status& compared) override {
    BTF_TRY(compared);
    if (!take_) return std::unexpected(rerun_error(part_, take_.error().message));
    return (*take_)();
  }

 private:
  std::string line_;
  const PartFile& part_;
  const ParseItem& parse_;
  Result<TakeItem> take_;
};

}  // namespace

namespace {

Result<std::string> read_line(const Descriptor& file, const PartFile& part, const Place& place) {
  std::string line(place.bytes, '\0');
  std::span<char> rest(line);
  while (!rest.empty()) {
    const std::uint64_t at = place.offset + (line.size() - rest.size());
    const ssize_t got = ::pread(file.get(), rest.data(), rest.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_failure("read").error().in_file(part.path));
    if (got == 0) return std::unexpected(rerun_error(part, "was changed while it was read"));
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  return line;
}

}  // namespace

// Neighbouring items are in different parts; only a few files are open at a time.
Status Parts::each(const ParseItem& parse, const Execution& execution) const {
  constexpr std::size_t kMaxOpen = 200;
  constexpr std::size_t kTogether = 64;
  const unsigned workers = worker_count(execution, UINT64_MAX, UINT64_MAX);
  PairQueue queue({.workers = workers,
                   .max_batch = kTogether,
                   .small = UINT64_MAX,
                   .max_waiting = std::size_t{4} * workers,
                   .max_undelivered = 8 * kTogether * workers},
                  execution);
  std::map<std::uint64_t, Descriptor> open;
  for (const Place& place : state_->places) {
    const PartFile& part = state_->files[place.part];
    if (open.size() >= kMaxOpen && !open.contains(place.part)) open.erase(open.begin());
    auto [file, fresh] = open.try_emplace(place.part);
    if (fresh) file->second = Descriptor(::open(part.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file->second.open())
      return std::unexpected(system_failure("open").error().in_file(part.path));
    BTF_ASSIGN(std::string line, read_line(file->second, part, place));
    BTF_TRY(queue.add(std::make_unique<QueuedItem>(std::move(line), part, parse), 0));
  }
  return queue.drain();
}

namespace {

// Combines items that are single tensors into pairs of files.
class WholePairs {
 public:
  // `several`: the sets have several files.
  WholePairs(bool several, const std::function<Status(const PartItem&)>& take)
      : several_(several), take_(take) {}

  Status add(PartItem item) {
    const std::optional<std::uint64_t> tensor = item.pair.files.tensor;
    if (tensor && *tensor > 0 && open_) return append(std::move(item.pair));
    BTF_TRY(finish());
    if (!tensor) return take_(item);
    open_ = std::move(item);
    return {};
  }

  Status finish() {
    if (!open_) return {};
    PartItem item = *std::exchange(open_, std::nullopt);
    const auto has_elements = [](const TensorDiff& diff) { return diff.compared > 0; };
    if (!several_ && item.pair.outcome.result == PairResult::same &&
        std::ranges::none_of(item.pair.tensors, has_elements)) {
      Error nothing = no_element_compared(item.pair.files.actual);
      item.pair.outcome = {.result = PairResult::trouble, .error = nothing.text()};
      item.pair.outcome.cause = std::move(nothing);
    }
    return take_(item);
  }

 private:
  Status append(SetDiffResult::Pair more) {
    SetDiffResult::Pair& pair = open_->pair;
    std::ranges::move(more.tensors, std::back_inserter(pair.tensors));
    PairOutcome& outcome = pair.outcome;
    if (more.outcome.result == PairResult::same) return {};
    const bool trouble = more.outcome.result == PairResult::trouble;
    if (!trouble && outcome.result == PairResult::trouble) return {};
    outcome = std::move(more.outcome);
    if (!trouble) return {};
    // Counts as if all tensors had been compared together.
    std::uint64_t troubled = 0;
    for (const TensorDiff& diff : pair.tensors) {
      if (!diff.error) continue;
      if (troubled++ == 0) outcome.error = diff.error->text();
    }
    if (troubled > 0) outcome.error = trouble_of_tensors(outcome.error, troubled);
    return {};
  }

  bool several_;
  const std::function<Status(const PartItem&)>& take_;
  std::optional<PartItem> open_;
};

}  // namespace

Status Parts::each_pair(const std::function<Status(const PartItem&)>& take,
                        const Execution& execution) const {
  WholePairs pairs(head().directories, take);
  const ParseItem parse = [&pairs](std::string_view line) -> Result<TakeItem> {
    BTF_ASSIGN(PartItem read, shards::read_item(line));
    return [&pairs, item = std::make_shared<PartItem>(std::move(read))] {
      return pairs.add(std::move(*item));
    };
  };
  BTF_TRY(each(parse, execution));
  return pairs.finish();
}

}  // namespace btf
