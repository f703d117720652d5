// Completion scripts for shells. All is in the script; it only runs btftool to list names of
// tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "help/help.h"

namespace btftool {

struct Shell {
  std::string_view name;
  std::string (*completion)(const Program& program);
};

std::span<const Shell> shells();

std::string bash_completion(const Program& program);
std::string fish_completion(const Program& program);
std::string zsh_completion(const Program& program);

// Options with a value that must be the next word, grouped by the values that they take: "convert,
// --dtype" is that option of convert, "*,--color" a global one.
struct ValueOptions {
  Values values;
  std::vector<std::string> options;
};
std::vector<ValueOptions> value_options(const Program& program);

std::string joined(const std::vector<std::string>& words, std::string_view separator);

// Quotes a word for bash and zsh.
std::string quoted(const std::string& text);

// Returns the names of all options, separated by spaces.
std::string option_words(const std::vector<DeclaredOption>& options);

// Returns the help text up to its first semicolon or full stop, on one line.
std::string brief(const std::string& help);

// Returns the name of `kind` in the scripts.
std::string_view kind_name(Values::Kind kind);

}  // namespace btftool
