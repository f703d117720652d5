// The commands explain and completion.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "btf/did_you_mean.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "explain/explanations.h"
#include "io/context.h"
#include "io/text.h"

namespace btftool {
namespace {

std::size_t columns() { return fits_columns() ? output_columns() : 79; }

void print(Output& out, const Topic& topic, const Explanation& row) {
  const auto line = [&](std::string_view name, std::string_view text) {
    for (const std::string& part : wrapped(fmt::format("  {:<6}  {}", name, text), columns(), 10))
      out.line(part);
  };
  out.line(fmt::format("{}: a {} of {}", row.word, topic.name, topic.commands));
  line("means", row.means);
  line("as in", row.example);
  line("do", row.remedy);
  line("more", topic.document);
}

void list(Output& out) {
  for (const Topic& topic : topics()) {
    out.line(fmt::format("{}{}:", &topic == topics().data() ? "" : "\n", topic.title));
    for (const Explanation& row : topic.rows)
      for (const std::string& part :
           wrapped(fmt::format("  {:<24}{}", row.word, row.means), columns(), 26))
        out.line(part);
  }
}

btf::Status explain(Output& out, std::string_view word) {
  // validate prints codes in brackets.
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  std::vector<std::string_view> words;
  bool found = false;
  for (const Topic& topic : topics())
    for (const Explanation& row : topic.rows) {
      words.push_back(row.word);
      if (row.word != word) continue;
      if (found) out.line("");
      print(out, topic, row);
      found = true;
    }
  if (found) return {};
  return btf::fail(btf::ErrorCode::invalid_argument,
                   "'" + std::string(word) + "' is not a word of a report" +
                       btf::did_you_mean(word, words) + "; 'btftool explain' lists all words");
}

Json as_json() {
  Json json{{"schema", "btftool/explain/1"}, {"words", Json::array()}};
  for (const Topic& topic : topics())
    for (const Explanation& row : topic.rows)
      json["words"].push_back({{"word", row.word},
                               {"kind", topic.name},
                               {"means", row.means},
                               {"example", row.example},
                               {"remedy", row.remedy},
                               {"document", topic.document}});
  return json;
}

}  // namespace

btf::Result<int> run_explain(const Context& context, const ExplainOptions& options) {
  if (options.json) {
    context.out.line(dump(as_json()));
  } else if (options.word) {
    BTF_TRY(explain(context.out, *options.word));
  } else {
    list(context.out);
  }
  return kSame;
}

namespace {

// The time limit for `completion --tensors`: nobody waits longer for a completion.
constexpr unsigned kSeconds = 2;

[[noreturn]] void give_up(int) { ::_exit(kTrouble); }

// Returns true for regular files and directories. Reading a pipe would take bytes that the command
// itself needs later.
bool can_read_twice(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  return std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status);
}

// Returns the name as --tensor takes it. Returns an empty string if --tensor cannot take it, or if
// it has characters that a terminal would not show, such as controls.
std::string selection_of(const std::string& name) {
  const bool plain = !name.contains(',') && printable(name) == name;
  if (!plain || name.empty()) return {};
  const bool number = name.find_first_not_of("0123456789-") == name.npos;
  return number || name.front() == '@' || name.front() == '!' ? "@" + name : name;
}

void list_tensors(Output& out, const std::string& path) {
  const auto set = btf::TensorSet::open(path);
  if (!set) return;
  for (std::uint64_t m = 0; m < set->member_count(); ++m) {
    const auto file = set->file(m);
    if (!file) continue;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      const auto name = (*file)->name(i);
      const std::string selection = name ? selection_of(*name) : std::string();
      if (!selection.empty()) out.text(selection + "\n");
    }
  }
}

}  // namespace

btf::Result<int> run_completion(const Context& context, const CompletionOptions& options) {
  if (options.script) {
    context.out.text(*options.script);
    return kSame;
  }
  std::signal(SIGALRM, give_up);
  ::alarm(kSeconds);
  for (const std::string& path : options.files)
    if (can_read_twice(path)) list_tensors(context.out, path);
  ::alarm(0);
  return kSame;
}

}  // namespace btftool
