// The options of the tables as the help shows them, and the help and man pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "help/options.h"

namespace btftool {

// The values that an option takes, for completion.
struct Values {
  enum class Kind : std::uint8_t {
    text,     // cannot be completed
    words,    // one of `words`
    listed,   // several of `words`, separated by commas, each with an optional "GLOB="
    files,    // a file, or one of `words`
    tensors,  // names of tensors in the operands, separated by commas
    pairs,    // A:G, tensors of the first and the second operand, separated by commas
    renames,  // OLD=NEW, where OLD is a tensor in the operands
  };

  Kind kind = Kind::text;
  std::vector<std::string> words;

  bool operator==(const Values&) const = default;
};

struct DeclaredOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string type;                // "OUT", or "[N]" for an optional value; empty for a flag
  std::string group;
  std::string help;
  Values values;

  bool takes_value() const { return !type.empty(); }
  // If true, the parser does not take the next word as the value.
  bool value_optional() const { return type.starts_with('[') && type.ends_with(']'); }
};

struct DeclaredCommand {
  std::string name;      // "diff"
  std::string help;      // one line
  std::string operands;  // "ACTUAL GOLDEN"
  std::string operands_help;
  Values operand_values;
  std::string_view most_used;
  std::vector<DeclaredOption> options;
  std::string footer;
};

struct Program {
  std::string name;
  std::string version;
  std::string help;
  std::vector<DeclaredOption> options;  // global ones, which every command takes too
  std::vector<DeclaredCommand> commands;
  std::string footer;
};

// Returns the values of a placeholder such as "T", "auto|always" or "[GLOB=]SPEC".
Values values_of(const std::string& type);

// The same for operands, which are files if nothing else is known.
Values operand_values_of(const std::string& operands);

// Returns the options in the order of the help: groups in the order in which they begin.
std::vector<DeclaredOption> declared(std::span<const OptionGroup> groups);
DeclaredCommand declared(const CommandTable& table, const OptionGroup& help);

// Returns the help of a command, or of the program if `command` is empty. Unless `all` is set, only
// the most used options of the command are listed.
std::string help_text(const Program& program, const std::string& command, bool all,
                      std::size_t columns);

// Returns a man page in roff with the contents of --help-all: btftool-diff.1 for "diff", btftool.1
// for an empty command. It has no date, so that builds are reproducible.
std::string man_page(const Program& program, const std::string& command);

}  // namespace btftool
