// The parts of a footer of the help, by the words that its lines begin with.
#include "help/help.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace btftool {
namespace {

struct Footer {
  std::string text;
  std::string exit_status;
  std::vector<std::string> examples;
};

Footer parts_of(std::string_view footer) {
  Footer parts;
  std::string* target = &parts.text;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    std::string_view line = footer.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kExit = "Exit status: ";
    if (line == "Examples:" || line == "Example:") {
      target = nullptr;
    } else if (target == nullptr) {
      parts.examples.emplace_back(line.substr(std::min<std::size_t>(2, line.size())));
    } else {
      if (line.starts_with(kExit)) {
        target = &parts.exit_status;
        line.remove_prefix(kExit.size());
      }
      *target += (target->empty() ? "" : "\n") + std::string(line);
    }
  }
  return parts;
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption result{.names = {},
                        .type = {},
                        .group = option.get_group(),
                        .help = option.get_description(),
                        .values = {}};
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) result.type = option.get_type_name();
  result.values = values_of(result.type);
  return result;
}

std::vector<DeclaredOption> options_of(const CLI::App& app) {
  std::vector<DeclaredOption> options;
  // By groups, as the help has them.
  for (const std::string& group : app.get_groups())
    for (const CLI::Option* option : app.get_options([&](const CLI::Option* candidate) {
           return candidate->nonpositional() && candidate->get_group() == group;
         }))
      if (!group.empty()) options.push_back(declared(*option));
  return options;
}

DeclaredCommand declared_command(const CLI::App& app) {
  DeclaredCommand command{.name = app.get_name(),
                          .help = app.get_description(),
                          .operands = {},
                          .operands_help = {},
                          .operand_values = {},
                          .options = options_of(app),
                          .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    command.operands = option->get_name(true);
    command.operands_help = option->get_description();
    command.operand_values = operand_values_of(command.operands);
  }
  return command;
}

}  // namespace

Program declared(const CLI::App& app) {
  const std::string version = app.version();
  Program program{.name = app.get_name(),
                  .version = version.substr(0, version.find('\n')),
                  .help = app.get_description(),
                  .options = options_of(app),
                  .commands = {},
                  .footer = app.get_footer()};
  for (const CLI::App* command : app.get_subcommands({}))
    program.commands.push_back(declared_command(*command));
  return program;
}

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

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// In options and examples every - is a minus, or it could not be copied.
std::string escaped(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {c};
  }
}

// At the beginning of a line a dot would make a request.
std::string line_of(std::string roff) { return roff.starts_with('.') ? "\\&" + roff : roff; }

std::string verbatim(std::string_view text) {
  std::string roff;
  for (const char c : text) roff += escaped(c);
  return line_of(std::move(roff));
}

// "signal-to-noise" and "tensor's" have what belongs between letters; "--max-zero" and "1e-3" have
// not.
std::string word_of_text(std::string_view word) {
  const std::size_t first = word.find_first_not_of("('\"");
  if (first == word.npos || word[first] == '-') return verbatim(word);
  std::string roff;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < word.size() && is_letter(word[i - 1]) && is_letter(word[i + 1]);
    roff += between ? std::string(1, word[i]) : escaped(word[i]);
  }
  return line_of(std::move(roff));
}

// Words in lines of a page; whoever shows it fills its own.
std::string filled(std::string_view text) {
  constexpr std::size_t kWidth = 78;
  std::string roff;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = word_of_text(text.substr(at, end - at));
    at = end + 1;
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= kWidth;
      roff += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    roff += word;
    column += word.size();
  }
  return roff + "\n";
}

std::string bold(std::string_view text) { return "\\fB" + verbatim(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + verbatim(text) + "\\fR"; }
std::string heading(std::string_view name) { return ".SH " + std::string(name) + "\n"; }

std::string entry(const DeclaredOption& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (option.takes_value()) names += " " + italic(option.type);
  return ".TP\n" + names + "\n" + filled(option.help);
}

std::string options_section(const std::vector<DeclaredOption>& options) {
  std::string roff = heading("OPTIONS");
  std::string group = "Options";  // the parser's name for those without one
  for (const DeclaredOption& option : options) {
    if (option.group != group) roff += ".SS " + filled(option.group);
    group = option.group;
    roff += entry(option);
  }
  return roff;
}

std::string examples_section(const std::vector<std::string>& examples) {
  if (examples.empty()) return {};
  std::string roff = heading("EXAMPLES") + ".EX\n";
  for (const std::string& line : examples) roff += verbatim(line) + "\n";
  return roff + ".EE\n";
}

std::string page_name(const Program& program, const DeclaredCommand* command) {
  return command == nullptr ? program.name : program.name + "-" + command->name;
}

std::string see_also(const Program& program, const DeclaredCommand* command) {
  std::string roff = heading("SEE ALSO");
  if (command != nullptr) roff += bold(program.name) + "(1),\n";
  for (const DeclaredCommand& other : program.commands)
    if (&other != command) roff += bold(page_name(program, &other)) + "(1),\n";
  return roff + "and the documents in\n" + italic("docs") + "\nof the source tree.\n";
}

std::string begin(const Program& program, const DeclaredCommand* command, std::string help) {
  const std::string name = page_name(program, command);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  if (help.ends_with('.')) help.pop_back();
  return ".TH " + verbatim(title) + " 1 \"\" \"" + verbatim(program.version) + "\"\n.ad l\n" +
         heading("NAME") + verbatim(name) + " \\-\n" + filled(help);
}

std::string command_page(const Program& program, const DeclaredCommand& command) {
  const Footer footer = parts_of(command.footer);
  std::string roff = begin(program, &command, command.help);
  roff += heading("SYNOPSIS") + bold(program.name) + " [" + italic("GLOBAL OPTIONS") + "] " +
          bold(command.name) + " [" + italic("OPTIONS") + "] " + italic(command.operands) + "\n";
  roff += heading("DESCRIPTION") + ".TP\n" + italic(command.operands) + "\n" +
          filled(command.operands_help);
  if (!footer.text.empty()) roff += ".PP\n" + filled(footer.text);
  roff += options_section(command.options);
  roff += ".PP\nOptions of every command are in\n" + bold(program.name) + "(1).\n";
  roff += heading("EXIT STATUS") +
          filled(footer.exit_status.empty() ? "0 done, 2 trouble." : footer.exit_status);
  return roff + examples_section(footer.examples) + see_also(program, &command);
}

std::string program_page(const Program& program) {
  std::string roff = begin(program, nullptr, program.help);
  roff += heading("SYNOPSIS") + bold(program.name) + " [" + italic("OPTIONS") + "] " +
          italic("COMMAND") + " ...\n";
  roff += heading("DESCRIPTION") + filled(program.help) + "The commands are:\n";
  std::vector<std::string> examples;
  for (const DeclaredCommand& command : program.commands) {
    roff += ".TP\n" + bold(page_name(program, &command)) + "(1)\n" + filled(command.help);
    const Footer footer = parts_of(command.footer);
    const auto example = std::ranges::find_if(
        footer.examples, [&](const std::string& line) { return line.contains(command.name); });
    if (example != footer.examples.end()) examples.push_back(*example);
  }
  roff += ".PP\n" + filled(parts_of(program.footer).text);
  roff += options_section(program.options);
  roff += heading("EXIT STATUS") +
          filled(
              "0 fine, or the same; 1 a question was answered with no: different, not\n"
              "well-formed, something broke, not all saved; 2 trouble: wrong usage, a file\n"
              "that cannot be read or written, input that is malformed or not supported,\n"
              "nothing compared.");
  return roff + examples_section(examples) + see_also(program, nullptr);
}

}  // namespace

std::string man_page(const Program& program, const std::string& command) {
  if (command.empty()) return program_page(program);
  return command_page(program,
                      *std::ranges::find(program.commands, command, &DeclaredCommand::name));
}

}  // namespace btftool
