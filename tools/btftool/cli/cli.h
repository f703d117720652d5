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

namespace btftool {

class Subcommand {
 public:
  virtual ~Subcommand() = default;
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;

  bool given() const { return app_.parsed(); }
  std::string name() const { return app_.get_name(); }
  // Adds the operands after a "--", which the parser does not see. Throws OptionError.
  void append_operands(const std::vector<std::string>& more);
  // Returns the command once everything is parsed. Throws OptionError if options contradict each
  // other.
  virtual Command finish(const GlobalOptions& global) = 0;

 protected:
  Subcommand(CLI::App& parent, const char* name, const char* help);

  CLI::App& app() { return app_; }
  // `names` is how the help calls the operands.
  void declare_operands(const char* names, const char* help);
  // Declares -o OUT, for commands that have an operand OUT.
  void declare_output(std::optional<std::string>& output);
  // Throws OptionError unless there is one operand for each name. The parser could check the number
  // too, but its message would not name the operand.
  void expect(std::initializer_list<const char*> names) const;

  std::vector<std::string> operands_;

 private:
  CLI::App& app_;
};

// The options of inspect, repair and fit. The finish functions check how options go together and
// throw OptionError.
void declare_inspect(CLI::App& app, InspectOptions& options);
void finish_inspect(const CLI::App& app, InspectOptions& options,
                    const std::vector<std::string>& operands);
void declare_repair(CLI::App& app, RepairCommand& command);
void finish_repair(RepairCommand& command);
void declare_fit(CLI::App& app, FitCommand& command);

// --emit
void declare_lists(CLI::App& app, std::vector<FitListFile>& lists);
void finish_fit(const CLI::App& app, FitCommand& command, const std::vector<std::string>& operands);

// Declares all subcommands to the parser, in the order of the help.
std::vector<std::unique_ptr<Subcommand>> declare_subcommands(CLI::App& app);

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
