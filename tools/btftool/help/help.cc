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

// The footer of a command's help, split at the lines "Exit status: " and "Examples:".
struct Footer {
  std::string text;
  std::string exit_status;
  std::vector<std::string> examples;
};

Footer parse_footer(std::string_view footer) {
  Footer parts;
  std::string* target = &parts.text;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    std::string_view line = footer.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kExit = "Exit status: ";
    if (line == "Examples:") {
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

// Short names come first.
std::vector<std::string> names_of(std::string_view names) {
  std::vector<std::string> all;
  for (const bool short_ones : {true, false})
    for (std::string_view rest = names; !rest.empty();) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      std::string_view name = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (name.starts_with('!')) name.remove_prefix(1);
      if (name.starts_with("--") != short_ones) all.emplace_back(name);
    }
  return all;
}

}  // namespace

std::vector<DeclaredOption> declared(std::span<const OptionGroup> groups) {
  std::vector<DeclaredOption> options;
  for (const OptionGroup& group : groups)
    for (const Option& row : group.options) {
      // Behind the last option of the group, as its options may be in several places.
      const auto last =
          std::ranges::find(options.rbegin(), options.rend(), group.title, &DeclaredOption::group);
      options.insert(last == options.rend() ? options.end() : last.base(),
                     {.names = names_of(row.names),
                      .type = row.value.type,
                      .group = group.title,
                      .help = row.help,
                      .values = values_of(row.value.type)});
    }
  return options;
}

DeclaredCommand declared(const CommandTable& table, const OptionGroup& help) {
  std::vector<OptionGroup> groups{help};
  groups.insert(groups.end(), table.groups.begin(), table.groups.end());
  return {.name = table.name,
          .help = table.help,
          .operands = table.operands,
          .operands_help = table.operands_help,
          .operand_values = operand_values_of(table.operands),
          .most_used = table.most_used,
          .options = declared(groups),
          .footer = table.footer};
}

namespace {

// Numbers of columns.
constexpr std::size_t kMinWidth = 40;   // narrower terminals get longer lines
constexpr std::size_t kMaxWidth = 110;  // longer lines are hard to read
constexpr std::size_t kNameWidth = 32;
constexpr std::size_t kTwoColumns = 72;  // if narrower, explanations go below the names

// Fills lines with the words of `text`. The first line begins with `begin`, the others are
// indented.
std::string filled(std::string begin, std::string_view text, std::size_t indent,
                   std::size_t columns) {
  std::string line = std::move(begin);
  std::string lines;
  bool empty = true;  // true if the line has no word yet
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
  const bool below = columns < kTwoColumns;
  const std::size_t indent = below ? 8 : kNameWidth;
  std::string line = "  " + what;
  if (below || line.size() + 2 > kNameWidth)
    return line + "\n" + filled(std::string(indent, ' '), text, indent, columns);
  line.resize(kNameWidth, ' ');
  return filled(std::move(line), text, kNameWidth, columns);
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

// Returns an empty string for a command that has few options.
std::string common_options_text(const Program& program, const DeclaredCommand& command,
                                std::size_t columns) {
  if (command.most_used.empty()) return {};
  std::string text = "\nMost used options:\n";
  for (const std::string_view name : words_of(command.most_used))
    text += entry(*std::ranges::find_if(command.options,
                                        [&](const DeclaredOption& option) {
                                          return std::ranges::find(option.names, name) !=
                                                 option.names.end();
                                        }),
                  columns);
  return text + filled("\n",
                       "All " + std::to_string(command.options.size()) + " options: '" +
                           program.name + " " + command.name + " --help-all'.",
                       0, columns);
}

// Fills paragraphs. A line that ends in a full stop ends one.
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
  const Footer footer = parse_footer(command.footer);
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
  const std::string common = all ? "" : common_options_text(program, command, columns);
  text += common.empty() ? groups(command.options, columns) : common;
  text += ending(command, all, columns);
  return text + "\n" +
         filled("",
                "Every command also takes -q, -v, -j, --color, --progress and --max-memory: see '" +
                    program.name + " --help'.",
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
  columns = std::clamp(columns, kMinWidth, kMaxWidth);
  if (command.empty()) return of_program(program, columns);
  return of_command(program, *std::ranges::find(program.commands, command, &DeclaredCommand::name),
                    all, columns);
}

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Every "-" in options and examples is escaped: otherwise it becomes a hyphen, which cannot be
// pasted into a shell.
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

// Escapes a dot at the beginning of a line, which would be a roff request.
std::string line_of(std::string roff) { return roff.starts_with('.') ? "\\&" + roff : roff; }

std::string verbatim(std::string_view text) {
  std::string roff;
  for (const char c : text) roff += escaped(c);
  return line_of(std::move(roff));
}

// Hyphens and apostrophes between letters ("signal-to-noise", "tensor's") stay as they are; those
// of
// "--max-zero" and "1e-3" are escaped.
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

// Breaks lines of the roff source. The formatter fills its own lines.
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
  const Footer footer = parse_footer(command.footer);
  std::string roff = begin(program, &command, command.help);
  roff += heading("SYNOPSIS") + bold(program.name) + " [" + italic("GLOBAL OPTIONS") + "] " +
          bold(command.name) + " [" + italic("OPTIONS") + "] " + italic(command.operands) + "\n";
  roff += heading("DESCRIPTION") + ".TP\n" + italic(command.operands) + "\n" +
          filled(command.operands_help);
  if (!footer.text.empty()) roff += ".PP\n" + filled(footer.text);
  roff += options_section(command.options);
  roff +=
      ".PP\nOptions that every command takes are described in\n" + bold(program.name) + "(1).\n";
  roff += heading("EXIT STATUS") +
          filled(footer.exit_status.empty() ? "0 success, 2 trouble." : footer.exit_status);
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
    const Footer footer = parse_footer(command.footer);
    const auto example = std::ranges::find_if(
        footer.examples, [&](const std::string& line) { return line.contains(command.name); });
    if (example != footer.examples.end()) examples.push_back(*example);
  }
  roff += ".PP\n" + filled(parse_footer(program.footer).text);
  roff += options_section(program.options);
  roff += heading("EXIT STATUS") +
          filled(
              "0 success: the files are the same, well-formed, nothing broke, all is saved;\n"
              "1 the opposite was found; 2 trouble: wrong usage, a file that cannot be read\n"
              "or written, input that is malformed or not supported, nothing compared.");
  return roff + examples_section(examples) + see_also(program, nullptr);
}

}  // namespace

std::string man_page(const Program& program, const std::string& command) {
  if (command.empty()) return program_page(program);
  return command_page(program,
                      *std::ranges::find(program.commands, command, &DeclaredCommand::name));
}

}  // namespace btftool
