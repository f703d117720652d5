#include "help/completion.h"

#include <algorithm>

namespace btftool {
namespace {

constexpr Shell kShells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

void add_takers(const std::string& command, const std::vector<DeclaredOption>& options,
                std::vector<Takers>& takers) {
  for (const DeclaredOption& option : options) {
    if (!option.takes_value() || option.value_optional()) continue;
    auto row = std::ranges::find(takers, option.values, &Takers::values);
    if (row == takers.end()) row = takers.insert(row, {option.values, {}});
    for (const std::string& name : option.names) row->options.push_back(command + "," + name);
  }
}

}  // namespace

std::span<const Shell> shells() { return kShells; }

std::vector<Takers> takers_of(const Program& program) {
  std::vector<Takers> takers;
  add_takers("*", program.options, takers);
  for (const DeclaredCommand& command : program.commands)
    add_takers(command.name, command.options, takers);
  return takers;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string option_words(const std::vector<DeclaredOption>& options) {
  std::vector<std::string> names;
  for (const DeclaredOption& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names, " ");
}

std::string brief(const std::string& help) {
  std::string text = help.substr(0, help.find(';'));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string_view kind_name(Values::Kind kind) {
  switch (kind) {
    case Values::Kind::text:
      return "text";
    case Values::Kind::words:
      return "words";
    case Values::Kind::listed:
      return "listed";
    case Values::Kind::files:
      return "files";
    case Values::Kind::tensors:
      return "tensors";
    case Values::Kind::pairs:
      return "pairs";
    case Values::Kind::renames:
      return "renames";
  }
  return {};
}

}  // namespace btftool
