#include "help/declared.h"

#include <algorithm>

namespace btftool {
namespace {

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption result{.names = {},
                        .type = {},
                        .group = option.get_group(),
                        .help = option.get_description(),
                        .values = {}};
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) result.type = option.get_type_name();
  result.values = values_of(result.type);
  return result;
}

std::vector<DeclaredOption> options_of(const CLI::App& app) {
  std::vector<DeclaredOption> options;
  // By groups, as the help has them.
  for (const std::string& group : app.get_groups())
    for (const CLI::Option* option : app.get_options([&](const CLI::Option* candidate) {
           return candidate->nonpositional() && candidate->get_group() == group;
         }))
      if (!group.empty()) options.push_back(declared(*option));
  return options;
}

DeclaredCommand declared_command(const CLI::App& app) {
  DeclaredCommand command{.name = app.get_name(),
                          .help = app.get_description(),
                          .operands = {},
                          .operands_help = {},
                          .operand_values = {},
                          .options = options_of(app),
                          .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    command.operands = option->get_name(true);
    command.operands_help = option->get_description();
    command.operand_values = operand_values_of(command.operands);
  }
  return command;
}

}  // namespace

Program declared(const CLI::App& app) {
  const std::string version = app.version();
  Program program{.name = app.get_name(),
                  .version = version.substr(0, version.find('\n')),
                  .help = app.get_description(),
                  .options = options_of(app),
                  .commands = {},
                  .footer = app.get_footer()};
  for (const CLI::App* command : app.get_subcommands({}))
    program.commands.push_back(declared_command(*command));
  return program;
}

}  // namespace btftool
