#include "help/man.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "help/footer.h"

namespace btftool {
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
