// Turns argv into the options of a command. Only this folder and help/ know the option parser.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/support.h"
#include "help/options.h"

namespace btftool {

// A command: its table of options, which set its members, and what becomes of these. Its
// constructor fills the table.
class Subcommand {
 public:
  virtual ~Subcommand() = default;
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;

  const CommandTable& table() const { return table_; }
  void declare(CLI::App& parent);
  bool given() const { return app_->parsed(); }
  // Returns the command once everything is parsed. `more_operands` are those after a "--", which
  // the parser does not see. Throws OptionError if options contradict each other.
  Invocation finish(const std::vector<std::string>& more_operands, const GlobalOptions& global);

 protected:
  Subcommand() = default;

  virtual Command finish(const GivenOptions& given, const GlobalOptions& global) = 0;
  // Throws OptionError unless there is one operand for each name. The parser could check the number
  // too, but its message would not name the operand.
  void expect(std::initializer_list<const char*> names) const;

  CommandTable table_;
  std::vector<std::string> operands_;

 private:
  CLI::App* app_ = nullptr;
};

std::unique_ptr<Subcommand> inspect_command();
std::unique_ptr<Subcommand> convert_command();
std::unique_ptr<Subcommand> diff_command();
std::unique_ptr<Subcommand> validate_command();
std::unique_ptr<Subcommand> layers_command();
std::unique_ptr<Subcommand> fit_command();
std::unique_ptr<Subcommand> merge_command();
std::unique_ptr<Subcommand> repair_command();

// Text that the user asked for (--help, --version). It goes to stdout, with exit status 0.
struct RequestedText {
  std::function<std::string(std::size_t columns)> text;
};

struct UsageError {
  std::string message;  // without the program's name
  std::string command;  // the command whose help is pointed to, or empty for the program's own
};

// Returns why --emit does not go with the types that are fitted, or an empty string if it does.
std::string emit_error(const FitCommand& command);

std::variant<Invocation, RequestedText, UsageError> parse_command_line(int argc, char** argv);

}  // namespace btftool
