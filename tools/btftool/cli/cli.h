// argv to options. The only file that knows the option parser.
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
  // Operands that stood behind a "--" and went past the parser. Throws Wrong.
  void append_operands(const std::vector<std::string>& more);
  // The command, once all is parsed. Throws Wrong if options contradict each other.
  virtual Command finish(const GlobalOptions& global) = 0;

 protected:
  Subcommand(CLI::App& parent, const char* name, const char* help);

  CLI::App& app() { return app_; }
  // Names of the operands, in the help.
  void declare_operands(const char* names, const char* help);
  // -o OUT, for those that have an operand OUT.
  void declare_output(std::optional<std::string>& output);
  // Their number is checked here and not by the parser, so that the message can say it well.
  void expect(std::initializer_list<const char*> names) const;

  std::vector<std::string> operands_;

 private:
  CLI::App& app_;
};

// The options of inspect, repair and fit, and the checks of what only shows once they are parsed;
// these throw Wrong.
void declare_inspect(CLI::App& app, InspectOptions& options);
void finish_inspect(const CLI::App& app, InspectOptions& options,
                    const std::vector<std::string>& operands);
void declare_repair(CLI::App& app, RepairCommand& command);
void finish_repair(RepairCommand& command);
void declare_fit(CLI::App& app, FitCommand& command);

// --emit
void declare_lists(CLI::App& app, std::vector<FitListFile>& lists);
void finish_fit(const CLI::App& app, FitCommand& command, const std::vector<std::string>& operands);

// All, declared to the parser, in the order in which the help lists them.
std::vector<std::unique_ptr<Subcommand>> declare_subcommands(CLI::App& app);

// argv to options. The only file that knows the option parser.

// Requested text (--help, --version): to stdout, exit 0.
struct Information {
  std::function<std::string(std::size_t columns)> text;
};

// The fault of the command line, without the program's name, and the command whose help has more
// (empty: the program's own).
struct UsageError {
  std::string message;
  std::string command;
};

// Why the command's lists are none that its types have; empty: they are.
std::string trouble_of_lists(const FitCommand& command);

std::variant<Invocation, Information, UsageError> parse_command_line(int argc, char** argv);

}  // namespace btftool
