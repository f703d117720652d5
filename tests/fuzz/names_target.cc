// Any text as what a user writes of names: a map, an order of layers, rules of diff, a list of the
// files of a directory. The first byte says which; for a map, names stand behind a line "----".
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "btf/layers.h"
#include "input.h"
#include "reports/diff_rules.h"
#include "sets/names/match.h"

namespace fuzz {
namespace {

constexpr std::size_t kNames = 40;

std::vector<std::string> lines_of(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void check_once(const btf::NameMatches& found, std::size_t left, std::size_t right) {
  std::set<std::uint64_t> lefts;
  std::set<std::uint64_t> rights;
  for (const btf::NameMatch& pair : found.pairs) {
    require(pair.left < left && pair.right < right, "a pair of names that are not there");
    require(lefts.insert(pair.left).second && rights.insert(pair.right).second,
            "a name is in two pairs");
  }
}

// Names stand on lines: those of actual, "----", those of golden.
void map(std::string_view text) {
  const std::size_t cut = std::min(text.find("\n----\n"), text.size());
  const auto parsed = btf::parse_name_map(text.substr(0, cut));
  require(parsed || parsed.error().message.starts_with("line "), "an error does not say where");
  std::vector<std::string> actual = lines_of(text.substr(std::min(cut + 6, text.size())), kNames);
  std::vector<std::string> golden;
  if (const auto end = std::ranges::find(actual, "----"); end != actual.end()) {
    golden.assign(end + 1, actual.end());
    actual.erase(end, actual.end());
  }
  for (const btf::NameLists lists : {btf::NameLists::whole, btf::NameLists::parts}) {
    const btf::NameMatches found =
        btf::match_names(actual, golden, parsed ? *parsed : btf::NameMap{}, {.lists = lists});
    check_once(found, actual.size(), golden.size());
    if (!parsed) continue;
    require(found.map.unused.size() <= parsed->names.size() + parsed->patterns.size(),
            "more lines without use than lines");
    for (const std::string& unused : found.map.unused)
      require(unused.starts_with("line "), "a line without use has no number");
  }
}

btf::Layer layer(std::uint64_t number, const std::string& name) {
  btf::Layer layer;
  layer.number = number;
  layer.actual = layer.golden = name;
  if (number > 0) layer.inputs = {number - 1};
  return layer;
}

void order(std::string_view text) {
  btf::LayerReport report;
  for (const char* const name : {"conv1", "bn1", "relu", "fc", "fc2", "model.conv1"})
    report.layers.push_back(layer(report.layers.size(), name));
  const std::size_t layers = report.layers.size();
  const auto done = btf::order_by_list(report, text, "list");
  if (!done) return require(!done.error().message.empty(), "an error says nothing");
  require(report.layers.size() == layers, "layers were lost");
  for (std::uint64_t place = 0; place < layers; ++place)
    for (const std::uint64_t input : report.layers[place].inputs)
      require(input < place, "a layer is computed from a later one");
}

void rules(std::string_view text) {
  const auto parsed = btftool::parse_rules(std::string(text), "rules.json");
  require(parsed || !parsed.error().message.empty(), "an error says nothing");
}

// A directory with a few files that are no tensors, as long as the program runs.
struct Directory {
  std::string path = std::filesystem::temp_directory_path() / "fuzz-names-XXXXXX";

  Directory() {
    require(::mkdtemp(path.data()) != nullptr, "no directory");
    std::filesystem::create_directory(path + "/sub");
    for (const char* const name : {"/a.npy", "/b.npy", "/sub/a.npy", "/notes.txt"})
      std::ofstream(path + name) << "none";
  }
  ~Directory() { std::filesystem::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
};

const std::string& directory() {
  static const Directory made;
  return made.path;
}

void list(std::string_view text) {
  auto files = std::make_shared<btf::FileList>();
  files->path = "list";
  files->files = lines_of(text, kNames);
  for (const bool may_lack : {false, true}) {
    const auto set = btf::TensorSet::open(directory(), {.listed = files, .may_lack = may_lack});
    if (!set) {
      require(!set.error().message.empty(), "an error says nothing");
      continue;
    }
    require(set->member_count() + set->others().size() <= files->files.size(),
            "more files than the list has");
    for (std::uint64_t member = 0; member < set->member_count(); ++member)
      require(set->path(member).starts_with(directory() + "/") &&
                  !("/" + set->path(member) + "/").contains("/../"),
              "a list of a directory's files names one elsewhere");
  }
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  static constexpr std::array kWhat{map, map, order, rules, list};
  Input input(view(data, size));
  const std::uint64_t what = input.below(kWhat.size());
  kWhat[what](text(input.rest()));
  return 0;
}
