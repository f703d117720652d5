#include "shards/part_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "btf/part.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "formats/io/output.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/text/json.h"
#include "report/text/text.h"

namespace btf {

struct Digest::State {
  XXH3_state_t of;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->of); }
Digest::~Digest() = default;

void Digest::bytes(std::string_view bytes) {
  XXH3_128bits_update(&state_->of, bytes.data(), bytes.size());
}

void Digest::text(std::string_view text) {
  number(text.size());
  bytes(text);
}

// Independent of the machine's byte order.
void Digest::number(std::uint64_t number) {
  char bytes_of[sizeof number];
  for (char& byte : bytes_of) {
    byte = static_cast<char>(number & 0xFF);
    number >>= 8;
  }
  bytes({bytes_of, sizeof bytes_of});
}

std::string Digest::hexadecimal() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->of);
  return hexadecimal_of(hash.high64) + hexadecimal_of(hash.low64);
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string hexadecimal_of(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace btf

namespace btf::shards {
namespace {

Error not_a_part(const std::string& why) {
  return {ErrorCode::malformed, "is not a part of btftool: " + why};
}

// Reads the lines of a file, which have a limited length.
class LineReader {
 public:
  static Result<LineReader> open(const std::string& path) {
    // Non-blocking, since opening a pipe without a writer would hang.
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.open()) return system_failure("open");
    struct stat state{};
    if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
    if (!S_ISREG(state.st_mode))
      return fail(ErrorCode::invalid_argument,
                  "a part must be a regular file, since it is read twice");
    return LineReader(std::move(fd));
  }

  // The next line including its end; unset if the rest has no line end.
  Result<std::optional<std::string_view>> next() {
    line_.clear();
    for (;;) {
      const std::string_view rest(block_.data() + at_, size_ - at_);
      const std::size_t end = rest.find('\n');
      const std::string_view piece = rest.substr(0, end == rest.npos ? rest.size() : end + 1);
      line_ += piece;
      at_ += piece.size();
      // Every line of a part begins like this; a file of zeros would have no line end.
      if (!line_.empty() && line_.front() != '{')
        return fail(ErrorCode::malformed,
                    "line " + std::to_string(number_) + " is not a JSON object");
      if (line_.size() > kMaxLineBytes)
        return fail(ErrorCode::unsupported, "line " + std::to_string(number_) + " has more than " +
                                                std::to_string(kMaxLineBytes) + " bytes");
      if (end != rest.npos) {
        ++number_;
        return std::optional(std::string_view(line_));
      }
      BTF_TRY(fill());
      if (size_ == 0) return std::nullopt;
    }
  }

 private:
  explicit LineReader(Descriptor fd) : fd_(std::move(fd)), block_(1U << 18) {}

  Status fill() {
    at_ = size_ = 0;
    for (;;) {
      const ssize_t got = ::read(fd_.get(), block_.data(), block_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_failure("read");
      size_ = static_cast<std::size_t>(got);
      return {};
    }
  }

  Descriptor fd_;
  std::vector<char> block_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::string line_;
  std::uint64_t number_ = 1;
};

}  // namespace

Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take) {
  const auto named = [&](const Error& error) { return std::unexpected(error.in_file(path)); };
  auto file = LineReader::open(path);
  if (!file) return named(file.error());
  ScannedPart part;
  Digest digest;
  for (std::uint64_t number = 1;; ++number) {
    const auto read = file->next();
    // If a part was truncated, the lines before that are valid.
    if (!read && read.error().code == ErrorCode::malformed && number > 1) {
      part.trouble = read.error().message;
      break;
    }
    if (!read && read.error().code == ErrorCode::malformed)
      return named(not_a_part(read.error().message));
    if (!read) return named(read.error());
    if (!*read) break;  // the last line is incomplete
    const std::string_view whole = **read;
    const std::string_view line = whole.substr(0, whole.size() - 1);
    if (number == 1) {
      auto head = read_head(line);
      if (!head) return named(not_a_part(head.error().message));
      part.head = *std::move(head);
    } else if (part.tail) {
      part.trouble = "line " + std::to_string(number) + " comes after the end";
      break;
    } else if (const auto tail = read_tail(line)) {
      part.tail = tail;
      continue;
    } else if (number_of(line)) {
      take(line, part.whole);
    } else {
      part.trouble = "line " + std::to_string(number) + " is not an item";
      break;
    }
    digest.bytes(whole);
    part.whole += whole.size();
  }
  if (part.whole == 0) return named(not_a_part("it has no complete line"));
  part.digest = digest.hexadecimal();
  return part;
}

}  // namespace btf::shards

namespace btf {

using shards::ScannedPart;

// FILE.partial is locked (flock) by the process that writes it, from before its first line until it
// is renamed to FILE. Other processes never write into it or truncate it: a new run, or a continued
// one, is a new file that replaces it.
struct PartWriter::State {
  std::string path;  // after following symbolic links
  std::string partial;
  Descriptor fd;
  struct WrittenItem {
    std::uint64_t results = 0;
    std::string result{};
  };
  std::map<std::uint64_t, WrittenItem> found;  // by number of the item
  struct ResumedItem {
    std::string line;
    std::string result{};
  };
  Digest digest;
  std::string note;

  Status failed(std::string_view what) const {
    return std::unexpected(system_failure(what).error().in_file(partial));
  }

  Status refused(const std::string& why) const {
    return std::unexpected(Error{ErrorCode::invalid_argument, why}.in_file(partial));
  }

  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status line(std::string text) {
    if (text.size() > shards::kMaxLineBytes)
      return refused("an item has " + std::to_string(text.size()) +
                     " bytes, but merge reads lines of at most " +
                     std::to_string(shards::kMaxLineBytes) +
                     "; if it is a pair of files, split it with `shard_by` tensor");
    text += '\n';
    digest.bytes(text);
    return write(text);
  }

  // Does not follow links and does not wait for the reader of a pipe.
  static Descriptor open_file(const std::string& path, int flags) {
    return Descriptor(
        ::open(path.c_str(),
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666));
  }

  // If another process has this shard, uses a separate file, so that they do not overwrite each
  // other.
  Status open_partial() {
    partial = path + ".partial";
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      fd = open_file(partial, 0);
      if (!fd.open() && errno == ELOOP)
        return refused("is a symbolic link, which a part does not follow; remove it");
      if (!fd.open()) return failed("open for writing");
      struct stat open{};
      if (::fstat(fd.get(), &open) != 0) return failed("stat");
      if (!S_ISREG(open.st_mode)) return refused("is not a regular file; remove it");
      if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return open_own();
      // Before it was locked, its writer may have finished and renamed it to FILE.
      struct stat named{};
      if (::lstat(partial.c_str(), &named) == 0 && named.st_dev == open.st_dev &&
          named.st_ino == open.st_ino)
        return {};
    }
    return refused("keeps being replaced by other processes");
  }

  Status open_own() {
    const auto digits = random_digits();
    if (!digits) return failed("name a file next to it");
    partial += "-" + *digits;
    fd = open_file(partial, O_EXCL);
    if (!fd.open()) return failed("create");
    ::flock(fd.get(), LOCK_EX | LOCK_NB);
    return {};
  }

  // Writes the head and the kept items to a new file, which then replaces FILE.partial.
  Status begin(const PartHead& head, std::map<std::uint64_t, ResumedItem> kept) {
    const std::string fresh = partial + "-new";
    // Left by a run that was killed here: only the process that locked FILE.partial gets here.
    ::unlink(fresh.c_str());
    const Descriptor old = std::exchange(fd, open_file(fresh, O_EXCL));
    if (!fd.open()) return std::unexpected(system_failure("create").error().in_file(fresh));
    ::flock(fd.get(), LOCK_EX | LOCK_NB);
    Status status = line(shards::head_line(head));
    for (auto& [number, item] : kept) {
      found[number] = {shards::results_of(item.line), item.result};
      if (status) status = line(std::move(item.line));
    }
    if (status && std::rename(fresh.c_str(), partial.c_str()) != 0) status = failed("rename");
    if (!status) ::unlink(fresh.c_str());
    return status;
  }

  static bool same_plan(const PartHead& a, const PartHead& b) {
    return a.plan == b.plan && a.version == b.version && a.command == b.command &&
           a.shard.number == b.shard.number && a.shard.of == b.shard.of;
  }

  static bool are_unchanged(const std::vector<std::string>& paths,
                            const std::vector<std::optional<FileState>>& states) {
    return std::ranges::equal(paths, states,
                              [](const std::string& path, const std::optional<FileState>& state) {
                                const auto now = FileState::of(path);
                                return now && *now == state;
                              });
  }

  // Items of an earlier run whose files are unchanged. None of a damaged part; an error of the
  // system is returned.
  Result<std::map<std::uint64_t, ResumedItem>> items_of(const std::string& from,
                                                        const PartHead& head) {
    std::map<std::uint64_t, ResumedItem> items;
    const auto part = shards::scan_part(from, [&](std::string_view text, std::uint64_t) {
      items[*shards::number_of(text)] = {.line = std::string(text)};
    });
    if (!part && is_system_error(part.error())) return std::unexpected(part.error());
    if (part && part->tail && part->tail->digest != part->digest) items.clear();
    if (part && !same_plan(part->head, head)) {
      note = from + " belongs to another plan, and was started again";
      items.clear();
    }
    for (auto at = items.begin(); at != items.end();) {
      const auto item = read_part_line(at->second.line);
      const bool holds = item && are_unchanged(shards::files_of(at->second.line), item->files);
      if (item) at->second.result = item->result;
      at = holds ? std::next(at) : items.erase(at);
    }
    if (!part) items.clear();
    return items;
  }
};

PartWriter::PartWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PartWriter::PartWriter(PartWriter&&) noexcept = default;
PartWriter& PartWriter::operator=(PartWriter&&) noexcept = default;
PartWriter::~PartWriter() = default;

Result<PartWriter> PartWriter::create(const std::string& path, const PartHead& head, bool resume) {
  const auto place = find_output(path);
  if (!place) return std::unexpected(place.error().in_file(path));
  if (place->descriptor || place->in_place)
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "a part must be a regular file"}.in_file(path));
  auto state = std::make_unique<State>();
  state->path = place->path;
  BTF_TRY(state->open_partial());
  std::map<std::uint64_t, State::ResumedItem> kept;
  // Another process may have FILE.partial now; its complete lines can be used.
  for (const std::string& from : {state->path, state->path + ".partial"}) {
    if (!resume) continue;
    BTF_ASSIGN(const auto there, FileState::of(from));
    if (!there) continue;
    BTF_ASSIGN(auto items, state->items_of(from, head));
    kept.merge(items);
  }
  if (!kept.empty()) state->note.clear();
  BTF_TRY(state->begin(head, std::move(kept)));
  return PartWriter(std::move(state));
}

bool PartWriter::has(std::uint64_t number) const { return state_->found.contains(number); }

const std::string& PartWriter::note() const { return state_->note; }

Status PartWriter::add(const PartLine& line) {
  std::string text = btf::text(line);
  state_->found[line.number] = {shards::results_of(text), line.result};
  return state_->line(std::move(text));
}

Status PartWriter::finish() {
  shards::PartTail tail{.items = state_->found.size(), .digest = state_->digest.hexadecimal()};
  std::uint64_t results = 0;
  for (const auto& [number, found] : state_->found) {
    results += found.results;
    ++tail.counts[found.result];
  }
  tail.results = hexadecimal_of(results);
  BTF_TRY(state_->write(shards::tail_line(tail) + "\n"));
  if (::fsync(state_->fd.get()) != 0 && errno != EINVAL && errno != EROFS)
    return state_->failed("sync");
  if (std::rename(state_->partial.c_str(), state_->path.c_str()) != 0)
    return state_->failed("rename");
  return {};
}

}  // namespace btf

namespace btf::shards {
namespace {

using report::Json;
using report::json_number;
using report::JsonNode;

constexpr std::string_view kNumber = R"({"number":)";
constexpr std::string_view kTimes = R"(,"sizes":[)";

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

std::vector<std::string> texts_of(const JsonNode& node) {
  std::vector<std::string> texts;
  node.each([&](const JsonNode& item) { texts.push_back(item.text()); });
  return texts;
}

Json optional_path(const std::string& path) { return path.empty() ? Json() : Json(path); }

Json error_of(const SetDiffResult::Pair& pair) {
  if (pair.outcome.result == PairResult::trouble) return pair.outcome.error;
  if (report::of_whole_files(pair.outcome.result))
    return report::whole_files_text(pair.files, pair.outcome);
  return nullptr;
}

// The trouble of a pair as a whole.
Json cause_json(const Error& cause) {
  Json json{{"message", cause.message}, {"file", cause.file}, {"finding", cause.finding}};
  json["offset"] = json_number(cause.offset);
  if (cause.tensor) json["tensor"] = json_number(*cause.tensor);
  if (cause.system != 0) json["errno"] = cause.system;
  return json;
}

Error read_cause(const JsonNode& node) {
  Error cause{ErrorCode::io, node["message"].text(), node["file"].text()};
  const auto row = std::ranges::find(kFindings, node["finding"].text(), &FindingRow::code);
  if (row != kFindings.end()) cause.finding = row->code;
  cause.offset = node["offset"].count();
  if (node.has("tensor")) cause.tensor = node["tensor"].count();
  if (node.has("errno")) cause.system = static_cast<int>(node["errno"].integer(0, INT32_MAX));
  return cause;
}

Json tensors_of(const std::vector<TensorDiff>& tensors) {
  Json list = Json::array();
  for (const TensorDiff& diff : tensors) {
    Json json = report::json_tensor_diff(diff, JsonSchema::sets);
    // Reports have 0 for tolerances that were not given, and describe that differently.
    const Tolerance& tolerance = diff.tolerance;
    if (tolerance.by_error() && !(tolerance.rtol && tolerance.atol)) {
      Json& given = json["tolerance"]["given"] = Json::array();
      if (tolerance.rtol) given.push_back("rtol");
      if (tolerance.atol) given.push_back("atol");
    }
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<std::optional<FileState>> states_of(const JsonNode& item) {
  std::vector<std::optional<FileState>> states;
  item["sizes"].each([&](const JsonNode& size) {
    states.emplace_back();
    if (!size.null()) states.back() = FileState{.bytes = size.count()};
  });
  std::size_t at = 0;
  item["mtimes_ns"].each([&](const JsonNode& time) {
    if (at >= states.size()) return time.fail("is of a file without a size");
    if (states[at] && !time.null())
      states[at]->modified_ns = static_cast<std::int64_t>(time.count());
    ++at;
  });
  return states;
}

std::vector<TensorDiff> read_tensors(const JsonNode& list) {
  std::vector<TensorDiff> tensors;
  list.each([&](const JsonNode& node) {
    if (node.failed()) return;
    TensorDiff& diff = tensors.emplace_back(report::saved_tensor(node, JsonSchema::sets));
    const JsonNode tolerance = node["tolerance"];
    if (!tolerance.has("given")) return;
    const std::vector<std::string> given = texts_of(tolerance["given"]);
    if (std::ranges::find(given, "rtol") == given.end()) diff.tolerance.rtol.reset();
    if (std::ranges::find(given, "atol") == given.end()) diff.tolerance.atol.reset();
  });
  return tensors;
}

// Finds where the results end in the JSON of an item.
std::size_t end_of_results(std::string_view line) { return line.rfind(kTimes); }

}  // namespace

std::string head_line(const PartHead& head) {
  Json json{{"schema", kPartSchema},
            {"shard", json_number(head.shard.number)},
            {"of", json_number(head.shard.of)},
            {"plan", head.plan},
            {"version", head.version},
            {"command", head.command},
            {"options", list_of(head.options)},
            {"roots", list_of(head.operands)},
            {"directories", head.directories},
            {"items", json_number(head.items)},
            {"tensor_criteria", list_of(head.tensor_criteria)}};
  if (!head.others.empty()) json["other_files"] = list_of(head.others);
  if (!head.warnings.empty()) json["warnings"] = list_of(head.warnings);
  return report::dump_exact(std::move(json));
}

std::string tail_line(const PartTail& tail) {
  Json counts{{"items", json_number(tail.items)}};
  for (const auto& [result, count] : tail.counts) counts[result] = json_number(count);
  return report::dump_exact(Json{{"end", true},
                                 {"counts", std::move(counts)},
                                 {"digest", tail.digest},
                                 {"results", tail.results}});
}

Result<PartHead> read_head(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "a part of btftool"));
  std::string trouble;
  const JsonNode node(json, trouble);
  if (!node.has("schema") || node["schema"].text() != kPartSchema)
    return fail(ErrorCode::malformed, "its schema is not " + std::string(kPartSchema));
  PartHead head{.shard = {node["shard"].count(), node["of"].count()},
                .plan = node["plan"].text(),
                .version = node["version"].text(),
                .command = node["command"].text(),
                .options = texts_of(node["options"]),
                .operands = texts_of(node["roots"]),
                .directories = node["directories"].flag(),
                .items = node["items"].count(),
                .tensor_criteria = texts_of(node["tensor_criteria"])};
  if (node.has("other_files")) head.others = texts_of(node["other_files"]);
  if (node.has("warnings")) head.warnings = texts_of(node["warnings"]);
  if (head.shard.of < 1 || head.shard.of > kMaxShards) node["of"].fail("is not a number of shards");
  if (head.shard.number < 1 || head.shard.number > head.shard.of)
    node["shard"].fail("is not one of these shards");
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return head;
}

Result<PartItem> read_item(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  PartItem item{.pair = report::saved_pair(node, "path")};
  FilePair& files = item.pair.files;
  files.number = node["number"].count();
  item.pair.tensors = read_tensors(node["tensors"]);
  if (node.has("missing")) item.pair.missing = read_tensors(node["missing"]);
  files.tells_file = !node.has("tells_file") || node["tells_file"].flag();
  if (node.has("actual_name")) files.actual_name = node["actual_name"].text();
  if (node.has("tensor")) files.tensor = node["tensor"].count();
  if (node.has("cause")) item.pair.outcome.cause = read_cause(node["cause"]);
  const auto states = states_of(node);
  if (states.size() != 2)
    node["sizes"].fail("is not of two files");
  else
    item.actual = states[0], item.golden = states[1];
  item.seconds = node["seconds"].amount();
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return item;
}

std::optional<PartTail> read_tail(std::string_view line) {
  if (!line.starts_with(R"({"end":true,)")) return std::nullopt;
  const auto json = report::parse_exact(line, "the end of a part");
  if (!json) return std::nullopt;
  std::string trouble;
  const JsonNode node(*json, trouble);
  PartTail tail{.items = node["counts"]["items"].count(),
                .digest = node["digest"].text(),
                .results = node["results"].text()};
  return trouble.empty() ? std::optional(std::move(tail)) : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view line) {
  if (!line.starts_with(kNumber)) return std::nullopt;
  const std::string_view rest = line.substr(kNumber.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != ',') return std::nullopt;
  return number;
}

std::uint64_t results_of(std::string_view line) {
  const std::size_t end = end_of_results(line);
  return hash_of(std::string(line.substr(0, end)) + "}");
}

std::string shard_command(const PartHead& head, std::uint64_t shard, const std::string& part) {
  std::string command = "btftool " + head.command + " --shard " + std::to_string(shard) + "/" +
                        std::to_string(head.shard.of) + " --part " + report::shell_word(part);
  for (const std::string& option : head.options) command += " " + report::shell_word(option);
  for (const std::string& operand : head.operands) command += " " + report::shell_word(operand);
  return command;
}

std::vector<std::string> files_of(std::string_view line) {
  const auto json = report::parse_exact(line, "an item of a part");
  if (!json) return {};
  std::string trouble;
  const JsonNode node(*json, trouble);
  const auto path = [](const JsonNode& of) { return of.null() ? std::string() : of.text(); };
  std::vector<std::string> files;
  if (node.has("golden"))
    files = {path(node["actual"]), path(node["golden"])};
  else if (node.has("path"))
    files = {path(node["path"])};
  for (const char* more : {"inputs", "outputs"})
    if (node.has(more))
      node[more].each([&](const JsonNode& file) { files.push_back(file.text()); });
  return trouble.empty() ? files : std::vector<std::string>();
}

}  // namespace btf::shards

namespace btf {

using report::Json;
using report::json_number;
using report::JsonNode;

PartLine part_line(const PartItem& item) {
  const FilePair& files = item.pair.files;
  std::string result(report::result_name(item.pair.outcome.result));
  Json found{{"number", json_number(files.number)},
             {"path", files.name},
             {"result", result},
             {"error", shards::error_of(item.pair)},
             {"tensors", shards::tensors_of(item.pair.tensors)},
             {"actual", shards::optional_path(files.actual)},
             {"golden", shards::optional_path(files.golden)}};
  if (!item.pair.missing.empty()) found["missing"] = shards::tensors_of(item.pair.missing);
  if (!files.tells_file) found["tells_file"] = false;
  if (!files.actual_name.empty()) found["actual_name"] = files.actual_name;
  if (item.pair.outcome.cause) found["cause"] = shards::cause_json(*item.pair.outcome.cause);
  report::add_file_differences(item.pair.outcome.files, found);
  if (files.tensor) found["tensor"] = json_number(*files.tensor);
  return {.number = files.number,
          .result = std::move(result),
          .found = report::dump_exact(std::move(found)),
          .files = {item.actual, item.golden},
          .seconds = item.seconds};
}

std::string text(const PartLine& line) {
  Json sizes = Json::array();
  Json times = Json::array();
  for (const auto& file : line.files) {
    sizes.push_back(file ? json_number(file->bytes) : Json());
    times.push_back(file ? json_number(static_cast<std::uint64_t>(file->modified_ns)) : Json());
  }
  const Json rest{{"sizes", std::move(sizes)},
                  {"mtimes_ns", std::move(times)},
                  {"seconds", json_number(line.seconds)}};
  return line.found.substr(0, line.found.size() - 1) + "," + report::dump_exact(rest).substr(1);
}

Result<PartLine> read_part_line(std::string_view text) {
  BTF_ASSIGN(const Json json, report::parse_exact(text, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  PartLine line{.number = node["number"].count(),
                .result = node["result"].text(),
                .files = shards::states_of(node),
                .seconds = node["seconds"].amount()};
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  line.found = std::string(text.substr(0, shards::end_of_results(text))) + "}";
  return line;
}

}  // namespace btf
