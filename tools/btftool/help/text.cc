#include "help/text.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "help/footer.h"

namespace btftool {
namespace {

// The options of a command with many that people use first.
struct FirstOptions {
  std::string_view command;
  std::vector<std::string_view> options;
};

const std::vector<FirstOptions>& first_options() {
  static const std::vector<FirstOptions> kRows = {
      {"inspect", {"--tensor", "--stats", "--values", "--slice", "--json"}},
      {"convert", {"--dtype", "--layout", "--tensor", "--format", "--json"}},
      {"diff", {"--close", "--rtol", "--atol", "--summary", "--json"}},
      {"validate", {"--strict", "--nan", "--for", "--all", "--json"}},
      {"layers", {"--graph", "--compute", "--map", "--html", "--json"}},
      {"fit", {"--dtype", "--graph", "--emit", "--all", "--json"}},
      {"merge", {"--expect", "--summary", "--html", "--junit", "--json"}},
  };
  return kRows;
}

constexpr std::size_t kLeast = 40;   // columns that there are always
constexpr std::size_t kMost = 110;   // wider lines are hard to read
constexpr std::size_t kLeft = 32;    // of what is explained
constexpr std::size_t kNarrow = 72;  // with fewer columns explanations go below

// Words in lines that begin at `indent`, the first behind `begin`.
std::string filled(std::string begin, std::string_view text, std::size_t indent,
                   std::size_t columns) {
  std::string line = std::move(begin);
  std::string lines;
  bool empty = true;  // no word is in the line
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!empty && line.size() + 1 + word.size() > columns) {
      lines += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    line += empty ? "" : " ";
    line += word;
    empty = false;
  }
  return lines + line + "\n";
}

std::string entry(const std::string& what, std::string_view text, std::size_t columns) {
  const bool below = columns < kNarrow;
  const std::size_t indent = below ? 8 : kLeft;
  std::string line = "  " + what;
  if (below || line.size() + 2 > kLeft)
    return line + "\n" + filled(std::string(indent, ' '), text, indent, columns);
  line.resize(kLeft, ' ');
  return filled(std::move(line), text, kLeft, columns);
}

std::string entry(const DeclaredOption& option, std::size_t columns) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
  if (option.takes_value()) names += " " + option.type;
  return entry(names, option.help, columns);
}

std::string groups(std::span<const DeclaredOption> options, std::size_t columns) {
  std::string text;
  std::string_view group;
  for (const DeclaredOption& option : options) {
    if (option.group != group) text += filled("\n", option.group + ":", 0, columns);
    group = option.group;
    text += entry(option, columns);
  }
  return text;
}

bool is_called(const DeclaredOption& option, std::string_view name) {
  return std::ranges::find(option.names, name) != option.names.end();
}

// Empty: all are shown.
std::string first_ones(const Program& program, const DeclaredCommand& command,
                       std::size_t columns) {
  const auto row = std::ranges::find(first_options(), command.name, &FirstOptions::command);
  if (row == first_options().end()) return {};
  std::string text = "\nOptions that are used first:\n";
  for (const std::string_view name : row->options)
    text += entry(
        *std::ranges::find_if(
            command.options, [&](const DeclaredOption& option) { return is_called(option, name); }),
        columns);
  return text + filled("\n",
                       "All " + std::to_string(command.options.size()) + " options: '" +
                           program.name + " " + command.name + " --help-all'.",
                       0, columns);
}

// Lines that belong together are filled, those that end a sentence end one.
std::string paragraphs(std::string_view text, std::size_t columns) {
  std::string result;
  std::string paragraph;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    paragraph += (paragraph.empty() ? "" : " ") + std::string(text.substr(at, end - at));
    at = end + 1;
    if (!paragraph.ends_with('.') && at < text.size()) continue;
    result += filled("", paragraph, 0, columns);
    paragraph.clear();
  }
  return result;
}

std::string ending(const DeclaredCommand& command, bool all, std::size_t columns) {
  constexpr std::size_t kExamples = 2;
  const Footer footer = parts_of(command.footer);
  std::string text;
  if (!footer.text.empty()) text += "\n" + paragraphs(footer.text, columns);
  if (!footer.exit_status.empty())
    text += "\n" + filled("", "Exit status: " + footer.exit_status, 2, columns);
  if (footer.examples.empty()) return text;
  text += "\nExamples:\n";
  const std::size_t shown =
      all ? footer.examples.size() : std::min(kExamples, footer.examples.size());
  for (std::size_t i = 0; i < shown; ++i) text += "  " + footer.examples[i] + "\n";
  return text;
}

std::string of_command(const Program& program, const DeclaredCommand& command, bool all,
                       std::size_t columns) {
  std::string text = filled("", command.help, 0, columns);
  text +=
      filled("", "Usage: " + program.name + " " + command.name + " [OPTIONS] " + command.operands,
             2, columns);
  text += "\n" + entry(command.operands, command.operands_help, columns);
  const std::string first = all ? "" : first_ones(program, command, columns);
  text += first.empty() ? groups(command.options, columns) : first;
  text += ending(command, all, columns);
  return text + "\n" +
         filled("",
                "Options of every command: -q -v -j --color --progress, see '" + program.name +
                    " --help'",
                0, columns);
}

std::string of_program(const Program& program, std::size_t columns) {
  std::string text = filled("", program.help, 0, columns);
  text += "Usage: " + program.name + " [OPTIONS] SUBCOMMAND\n";
  text += groups(program.options, columns);
  text += "\nSubcommands:\n";
  for (const DeclaredCommand& command : program.commands)
    text += entry(command.name, command.help, columns);
  return text + "\n" + paragraphs(program.footer, columns);
}

}  // namespace

std::string help_text(const Program& program, const std::string& command, bool all,
                      std::size_t columns) {
  columns = std::clamp(columns, kLeast, kMost);
  if (command.empty()) return of_program(program, columns);
  return of_command(program, *std::ranges::find(program.commands, command, &DeclaredCommand::name),
                    all, columns);
}

}  // namespace btftool
