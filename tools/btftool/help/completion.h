// Completion scripts of shells. They call the program itself for names of tensors alone.
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

// What the scripts are made of.

// Options whose next word is a value, by what that is: "diff,--dtype", "*,--color".
struct Takers {
  Values values;
  std::vector<std::string> options;
};
std::vector<Takers> takers_of(const Program& program);

std::string joined(const std::vector<std::string>& words, std::string_view separator);

// As one word in bash and zsh.
std::string quoted(const std::string& text);

// The names of all options, with a space between them.
std::string option_words(const std::vector<DeclaredOption>& options);

// The beginning of a help text, on one line.
std::string brief(const std::string& help);

// "words", "files", ...: in the scripts.
std::string_view kind_name(Values::Kind kind);

}  // namespace btftool
