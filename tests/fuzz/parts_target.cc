// Any text as parts of several shards, divided by lines "----": merged by the tool, whose output
// goes nowhere. The first byte says which report is wanted, and whether each part gets the end that
// it needs: its digests are nothing that a fuzzer finds.
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "btf/part.h"
#include "cli/support.h"
#include "commands/commands.h"
#include "io/context.h"
#include "memory_file.h"
#include "os_file.h"
#include "shards/part_lines.h"

namespace fuzz {
namespace {

namespace shards = btf::shards;

constexpr std::size_t kParts = 4;  // files in memory that are open at a time

std::vector<std::string> parts_of(std::string_view text) {
  static constexpr std::string_view kBetween = "\n----\n";
  std::vector<std::string> parts;
  while (parts.size() < kParts) {
    const std::size_t end = text.find(kBetween);
    parts.emplace_back(text.substr(0, end));
    parts.back() += '\n';
    if (end == text.npos) break;
    text.remove_prefix(end + kBetween.size());
  }
  return parts;
}

// The items of a part, with the end that it has where it was written so.
std::string with_end(const std::string& part) {
  std::string whole;
  btf::Digest digest;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> results;
  std::size_t at = 0;
  for (bool first = true; at < part.size(); first = false) {
    const std::size_t end = std::min(part.find('\n', at), part.size() - 1);
    const std::string line = part.substr(at, end - at);
    at = end + 1;
    if (shards::read_tail(line)) break;
    if (const auto number = first ? std::nullopt : shards::number_of(line)) {
      const auto read = btf::read_part_line(line);
      results[*number] = {shards::results_of(line), read ? read->result : ""};
    }
    whole += line + "\n";
    digest.bytes(line + "\n");
  }
  shards::PartTail tail{.items = results.size(), .digest = digest.hexadecimal()};
  std::uint64_t sum = 0;
  for (const auto& [number, result] : results) {
    sum += result.first;
    ++tail.counts[result.second];
  }
  tail.results = btf::hexadecimal_of(sum);
  return whole + shards::tail_line(tail) + "\n";
}

// What stands in items of commands that would read the operands again: these are not there.
void read_items(const btf::Parts& parts, bool layers) {
  static_cast<void>(parts.each(
      [&](std::string_view line) -> btf::Result<btf::TakeItem> {
        const auto trouble = [&]() -> std::optional<btf::Error> {
          if (layers) {
            const auto item = btf::read_layer_item(line);
            return item ? std::nullopt : std::optional(item.error());
          }
          const auto item = btf::read_fit_item(line);
          return item ? std::nullopt : std::optional(item.error());
        }();
        require(!trouble || !trouble->message.empty(), "an error says nothing");
        if (trouble) return std::unexpected(*trouble);
        return btf::TakeItem([]() -> btf::Status { return {}; });
      },
      alone()));
}

// Messages are the tool's, and too many; FUZZ_MESSAGES in the environment lets them, and what a
// sanitizer says, through.
class Silence {
 public:
  Silence() {
    static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (std::getenv("FUZZ_MESSAGES") != nullptr) return;
    before_ = ::dup(STDERR_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  ~Silence() {
    if (before_ < 0) return;
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int before_ = -1;
};

// Files that a part names may be any; here there are none, but for those with a whole path.
void leave_for_nowhere() {
  static const bool left = [] {
    std::string empty = "/tmp/fuzz-parts-XXXXXX";
    const bool there = ::mkdtemp(empty.data()) != nullptr && ::chdir(empty.c_str()) == 0;
    return there && ::rmdir(empty.c_str()) == 0;
  }();
  require(left, "no empty directory");
}

void check(BytesView data) {
  Input input(data);
  const std::uint64_t flags = input.byte();
  std::vector<std::string> paths;
  for (std::string& part : parts_of(text(input.rest()))) {
    if (flags % 2 == 0) part = with_end(part);
    paths.push_back(file_with(std::as_bytes(std::span(part))));
  }
  const auto parts = btf::Parts::open(paths);
  if (!parts) return require(!parts.error().message.empty(), "an error says nothing");
  const std::string& command = parts->head().command;
  static_cast<void>(
      parts->each_pair([](const btf::PartItem&) -> btf::Status { return {}; }, alone()));
  if (command == "layers" || command == "fit") return read_items(*parts, command == "layers");

  leave_for_nowhere();
  btftool::MergeCommand merge;
  merge.parts = paths;
  merge.json = (flags & 2) != 0;
  merge.summary = (flags & 4) != 0;
  merge.all = (flags & 8) != 0;
  const btftool::GlobalOptions global{
      .quiet = true, .progress = btftool::When::never, .jobs = 1, .max_memory = 8U << 20};
  const btftool::OptionNames names;
  btftool::Log log(global, names);
  btftool::Output out(btftool::When::never, merge.json);
  out.abandon();
  const auto done = [&] {
    const Silence silence;
    return btftool::run_merge({global, out, log, names, {}}, merge);
  }();
  require(done ? *done >= 0 && *done <= 2 : !done.error().message.empty(),
          "it ends with no exit code and no error");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check(fuzz::view(data, size));
  return 0;
}
