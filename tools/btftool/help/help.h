// The options declared to the parser, as data that texts are made of: completion scripts, pages.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace btftool {

// The values that an option takes: one of the words, or as `kind` says.
struct Values {
  enum class Kind : std::uint8_t {
    text,     // nothing to propose
    words,    // one word
    listed,   // words behind commas and "GLOB="
    files,    // and the words
    tensors,  // names out of the operands, with commas between them
    pairs,    // A:G of the first operand and of the second, with commas between them
    renames,  // a name out of the operands and "=" behind it
  };

  Kind kind = Kind::text;
  std::vector<std::string> words;

  bool operator==(const Values&) const = default;
};

struct DeclaredOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string type;                // "OUT"; "[N]": may be left out; empty: it takes none
  std::string group;
  std::string help;
  Values values;

  bool takes_value() const { return !type.empty(); }
  // The next word is no value of it then.
  bool value_optional() const { return type.starts_with('[') && type.ends_with(']'); }
};

struct DeclaredCommand {
  std::string name;      // "diff"
  std::string help;      // one line
  std::string operands;  // "ACTUAL GOLDEN"
  std::string operands_help;
  Values operand_values;
  std::vector<DeclaredOption> options;
  std::string footer;
};

struct Program {
  std::string name;
  std::string version;
  std::string help;
  std::vector<DeclaredOption> options;  // of every command too
  std::vector<DeclaredCommand> commands;
  std::string footer;
};

// The meaning of a placeholder of the help, such as "T", "auto|always" or "[GLOB=]SPEC".
Values values_of(const std::string& type);

// The same of operands: files, if nothing else is known.
Values operand_values_of(const std::string& operands);

// The option parser's declarations as data.

Program declared(const CLI::App& app);

// The text of --help and --help-all, for a width.

// The help of a command; of the program, if that is empty. `all`: every option of a command, else
// those that people use first.
std::string help_text(const Program& program, const std::string& command, bool all,
                      std::size_t columns);

// Man pages in roff, of what --help says. They carry no date, so that the same tool gives the same
// page.

// btftool-diff.1 for "diff", one of its commands; btftool.1 for none.
std::string man_page(const Program& program, const std::string& command);

}  // namespace btftool
