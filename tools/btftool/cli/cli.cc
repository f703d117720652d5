#include "cli/cli.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "btf/did_you_mean.h"
#include "cli/support.h"
#include "help/completion.h"
#include "help/help.h"

namespace btftool {
namespace {

class TypesArguments final : public Subcommand {
 public:
  TypesArguments() {
    table_ = {
        .name = "types",
        .help = "list dtypes and layouts, or explain one",
        .operands = "[WHAT [DIMS]]",
        .operands_help =
            "a dtype, a layout, or a format in TensorRT's notation; with\ndims such as "
            "1x3x2x2, where each element is stored",
        .groups = {{kOptions,
                    {{"--json", flag(options_.json),
                      "print all dtypes and layouts as one JSON document"}}}},
        .footer =
            "Examples:\n"
            "  btftool types bf16\n"
            "  btftool types kHWC8 1x3x2x2\n"
            "  btftool types 'Half(160000,1:8,1600,8)'",
    };
  }

 private:
  Command finish(const GivenOptions&, const GlobalOptions&) override {
    if (operands_.size() > 2) throw OptionError("extra operand '" + operands_[2] + "'");
    if (options_.json && !operands_.empty())
      throw OptionError("--json prints all dtypes and layouts and takes no operand, not '" +
                        operands_[0] + "'");
    if (!operands_.empty()) options_.what = operands_[0];
    if (operands_.size() > 1) options_.shape = operands_[1];
    return options_;
  }

  TypesOptions options_;
};

class ExplainArguments final : public Subcommand {
 public:
  ExplainArguments() {
    table_ = {
        .name = "explain",
        .help = "explain a word of a report, and what to do about it",
        .operands = "[WORD]",
        .operands_help =
            "a word that validate, diff, layers or fit print; without\nit, all words are listed",
        .groups = {{kOptions,
                    {{"--json", flag(options_.json), "print all words as one JSON document"}}}},
        .footer =
            "Examples:\n"
            "  btftool explain data-past-end\n"
            "  btftool explain channels-reversed\n"
            "  btftool explain dump-wrong",
    };
  }

 private:
  Command finish(const GivenOptions&, const GlobalOptions&) override {
    if (operands_.size() > 1) throw OptionError("extra operand '" + operands_[1] + "'");
    if (options_.json && !operands_.empty())
      throw OptionError("--json prints all words and takes no operand, not '" + operands_[0] + "'");
    if (!operands_.empty()) options_.word = operands_[0];
    return options_;
  }

  ExplainOptions options_;
};

class CompletionArguments final : public Subcommand {
 public:
  // `script` makes the script of a shell.
  using Script = std::function<std::string(const Shell&)>;
  explicit CompletionArguments(Script script) : script_(std::move(script)) {
    table_ = {
        .name = "completion",
        .help = "print a completion script for a shell",
        .operands = "SHELL",
        .operands_help = "bash, zsh or fish",
        .groups = {{kOptions,
                    {{"--tensors", flag(tensors_),
                      "print the names of tensors: operands are then files. The\n"
                      "scripts call this"}}}},
        .footer =
            "Examples:\n"
            "  source <(btftool completion bash)\n"
            "  source <(btftool completion zsh)\n"
            "  btftool completion fish | source",
    };
  }

 private:
  Command finish(const GivenOptions&, const GlobalOptions&) override {
    if (tensors_) return CompletionOptions{.script = {}, .files = operands_};
    expect({"SHELL"});
    const auto shell = std::ranges::find(shells(), operands_[0], &Shell::name);
    if (shell == shells().end()) throw OptionError(unknown(operands_[0]));
    return CompletionOptions{.script = script_(*shell), .files = {}};
  }

  static std::string unknown(const std::string& word) {
    std::vector<std::string_view> names;
    std::string list;
    for (const Shell& shell : shells()) {
      names.push_back(shell.name);
      list += (list.empty() ? "" : "|") + std::string(shell.name);
    }
    return "completion takes " + list + ", not '" + word + "'" + btf::did_you_mean(word, names);
  }

  Script script_;
  bool tensors_ = false;
};

}  // namespace

void Subcommand::declare(CLI::App& parent) {
  app_ = parent.add_subcommand(table_.name, table_.help);
  app_->fallthrough();
  app_->add_option(table_.operands, operands_)->type_name("");
  btftool::declare(*app_, table_.groups);
}

Invocation Subcommand::finish(const std::vector<std::string>& more_operands,
                              const GlobalOptions& global) {
  operands_.insert(operands_.end(), more_operands.begin(), more_operands.end());
  if (std::ranges::find(operands_, std::string()) != operands_.end())
    throw OptionError("an operand is empty");
  const GivenOptions given(*app_, table_.groups);
  given.check();
  std::vector<std::string> reports;
  for (const OptionGroup& group : table_.groups)
    for (const Option& option : group.options)
      if (option.traits.any(kReport)) reports.push_back(option.name());
  return {global, finish(given, global), {}, given.files(), std::move(reports)};
}

void Subcommand::expect(std::initializer_list<const char*> names) const {
  if (operands_.size() < names.size())
    throw OptionError(std::string("missing operand ") + *(names.begin() + operands_.size()));
  if (operands_.size() > names.size())
    throw OptionError("extra operand '" + operands_[names.size()] + "'");
}

namespace {

constexpr const char* kVersion = "btftool " BTFTOOL_VERSION "\n";

std::uint64_t parse_memory(const std::string& option, const std::string& text) {
  constexpr std::uint64_t kMin = 16U << 20;
  std::string bytes = text;
  std::uint64_t value = 0;
  try {
    CLI::AsSizeValue(false)(bytes);
    if (text.find('-') == std::string::npos) value = std::stoull(bytes);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    value = 0;
  }
  if (value < kMin)
    throw OptionError(option + " takes a size of 16M or more, such as 256M or 1G, not '" + text +
                      "'");
  return value;
}

std::vector<OptionGroup> global_options(GlobalOptions& options) {
  const std::vector<std::pair<std::string, When>> when{
      {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  return {{kOptions,
           {{"-q,--quiet", flag(options.quiet),
             "print only errors to stderr; diff: see the exit status"},
            {"-v,--verbose", flag(options.verbose), "print to stderr what is being done"},
            {"--color", choice(options.color, when), "colour the output; auto: on a terminal"},
            {"--progress", choice(options.progress, when),
             "show progress on stderr; auto: on a terminal, after a second"},
            {"-j,--jobs", count(1, 1024, options.jobs),
             "number of threads; it does not change the results"},
            {"--max-memory", parsed("SIZE", options.max_memory, parse_memory),
             "memory limit of the process, 16M or more (256M)"}}}};
}

// The program: its commands, its global options, and the parser that they are declared to.
class CommandLine {
 public:
  CommandLine();

  // Throws OptionError, and what the parser throws.
  Invocation parse(int argc, char** argv);
  const Program& program() const { return program_; }
  // The command that was given, or an empty string.
  std::string command() const;
  OptionNames names() const;
  std::string describe(const CLI::ParseError& error) const;

 private:
  const Value* find_optional_value(std::string_view word) const;
  std::vector<std::string> prepare(int argc, char** argv, std::vector<std::string>& operands) const;
  void rewrite_help(std::vector<std::string>& words) const;
  std::string unknown_command(const std::string& word) const;
  std::vector<std::string> option_names() const;

  // The parser has options of its own for these two.
  static OptionGroup help_options() {
    return {kOptions,
            {{"-h,--help", {}, "print help; of a command: its most used options"},
             {"--help-all", {}, "print all options of a command"}}};
  }

  CLI::App app_{"Inspects, converts, compares and validates files in the Binary Tensor Format.",
                "btftool"};
  GlobalOptions global_;
  std::vector<OptionGroup> global_options_ = btftool::global_options(global_);
  std::vector<std::unique_ptr<Subcommand>> subcommands_;  // in the order of the help
  Program program_;
};

CommandLine::CommandLine() {
  const Option version{"-V,--version", {}, "Display program version information and exit"};
  app_.set_version_flag(version.names, kVersion);
  app_.require_subcommand(1);
  const OptionGroup help = help_options();
  app_.set_help_flag(help.options[0].names);
  app_.set_help_all_flag(help.options[1].names);
  declare(app_, global_options_);
  const auto script = [this](const Shell& shell) { return shell.completion(program_); };
  subcommands_.push_back(inspect_command());
  subcommands_.push_back(convert_command());
  subcommands_.push_back(diff_command());
  subcommands_.push_back(validate_command());
  subcommands_.push_back(layers_command());
  subcommands_.push_back(fit_command());
  subcommands_.push_back(merge_command());
  subcommands_.push_back(repair_command());
  subcommands_.push_back(std::make_unique<TypesArguments>());
  subcommands_.push_back(std::make_unique<ExplainArguments>());
  subcommands_.push_back(std::make_unique<CompletionArguments>(script));
  std::vector<OptionGroup> groups{{kOptions, {version}}, help};
  std::ranges::copy(global_options_, std::back_inserter(groups));
  program_ = {.name = app_.get_name(),
              .version = "btftool " BTFTOOL_VERSION,
              .help = app_.get_description(),
              .options = declared(groups),
              .commands = {},
              .footer =
                  "'btftool COMMAND --help' prints the most used options of a command, "
                  "--help-all all of them, 'btftool help --man COMMAND' its man page, and "
                  "'btftool help --man' that of btftool."};
  for (const auto& subcommand : subcommands_) {
    subcommand->declare(app_);
    program_.commands.push_back(declared(subcommand->table(), help));
  }
}

// The value of an option that may be left out, or nullptr.
const Value* CommandLine::find_optional_value(std::string_view word) const {
  for (const auto& subcommand : subcommands_)
    for (const OptionGroup& group : subcommand->table().groups)
      for (const Option& option : group.options)
        if (!option.value.if_left_out.empty() && option.name() == word) return &option.value;
  return nullptr;
}

// Returns the words for the parser, last word first. Words after "--" go to `operands` instead.
std::vector<std::string> CommandLine::prepare(int argc, char** argv,
                                              std::vector<std::string>& operands) const {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto mark = std::ranges::find(words, "--"); mark != words.end()) {
    operands.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  // For "--option=" the parser would take the next word as the value.
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--") || !words[i].ends_with('=')) continue;
    words[i].pop_back();
    if (find_optional_value(words[i]) != nullptr) throw OptionError(words[i] + "= needs a value");
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Value* const row = find_optional_value(words[i]);
    if (row == nullptr) continue;
    const auto value = [&](const std::string& word) {
      return word.find_first_of("0123456789") != word.npos &&
             word.find_first_not_of(row->characters) == word.npos;
    };
    if (i + 1 < words.size() && value(words[i + 1])) {
      words[i] += "=" + words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      words[i] += "=" + row->if_left_out;
    }
  }
  std::ranges::reverse(words);
  return words;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  return btf::did_you_mean(word.substr(0, word.find('=')),
                           std::vector<std::string_view>(names.begin(), names.end()));
}

std::string CommandLine::command() const {
  const auto parsed = app_.get_subcommands();
  return parsed.empty() ? "" : parsed.front()->get_name();
}

// The options of the command that was given go first.
OptionNames CommandLine::names() const {
  OptionNames names;
  for (const bool own : {true, false})
    for (const auto& subcommand : subcommands_)
      if (subcommand->given() == own) names.add(subcommand->table());
  return names;
}

std::string CommandLine::unknown_command(const std::string& word) const {
  std::vector<std::string> names;
  for (const DeclaredCommand& known : program_.commands) names.push_back(known.name);
  names.emplace_back("help");
  return "unknown command '" + word + "'" + suggestion(word, names);
}

// The names of the global options and of those of the command that was given.
std::vector<std::string> CommandLine::option_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<DeclaredOption>& options) {
    for (const DeclaredOption& option : options)
      for (const std::string& name : option.names)
        if (name.starts_with("--")) names.push_back(name);
  };
  add(program_.options);
  for (const DeclaredCommand& row : program_.commands)
    if (row.name == command()) add(row.options);
  return names;
}

std::string CommandLine::describe(const CLI::ParseError& error) const {
  std::string text = error.what();
  const std::vector<std::string> unknown = app_.remaining(true);
  if (!unknown.empty()) {
    const std::string& word = unknown.front();
    if (!word.starts_with("-")) return unknown_command(word);
    const std::vector<std::string> names = option_names();
    // An option of the command that was given before its name.
    if (!command().empty() &&
        std::ranges::find(names, word.substr(0, word.find('='))) != names.end())
      return "'" + word + "' is an option of " + command() + " and comes after its name";
    return "unrecognized option '" + word + "'" + suggestion(word, names);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return "missing command";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return text.substr(0, text.find(':')) + (text.ends_with(" missing") ? " needs a value"
                                             : text.contains("2 required but")
                                                 ? " needs two values"
                                                 : " is given more than once");
  return text;
}

// Thrown for "help --man COMMAND". An empty command means the page of the program.
struct CallForPage {
  std::string command;
};

// Turns "help COMMAND" into "COMMAND --help". The last word comes first, as the parser wants it.
void CommandLine::rewrite_help(std::vector<std::string>& words) const {
  const bool page = std::erase(words, "--man") > 0;
  if (words.size() > 2)
    throw OptionError("help takes one command; '" + words[words.size() - 3] + "' is one too many");
  words.back() = "--help";
  if (words.size() < 2) {
    if (page) throw CallForPage{};
    return;
  }
  if (std::ranges::find(program_.commands, words.front(), &DeclaredCommand::name) ==
      program_.commands.end())
    throw OptionError(unknown_command(words.front()));
  if (page) throw CallForPage{words.front()};
  std::ranges::reverse(words);
}

Invocation CommandLine::parse(int argc, char** argv) {
  std::vector<std::string> more_operands;
  std::vector<std::string> words = prepare(argc, argv, more_operands);
  if (!words.empty() && words.back() == "help") rewrite_help(words);
  app_.parse(words);
  Subcommand& given = **std::ranges::find_if(subcommands_, &Subcommand::given);
  if (global_.quiet && global_.verbose)
    throw OptionError("--quiet and --verbose exclude each other");
  Invocation invocation = given.finish(more_operands, global_);
  invocation.names = names();
  return invocation;
}

}  // namespace

std::variant<Invocation, RequestedText, UsageError> parse_command_line(int argc, char** argv) {
  CommandLine line;
  const auto help = [&](bool all) {
    return RequestedText{
        [program = line.program(), command = line.command(), all](std::size_t columns) {
          return help_text(program, command, all, columns);
        }};
  };
  try {
    return line.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return help(false);
  } catch (const CLI::CallForAllHelp&) {
    return help(true);
  } catch (const CallForPage& page) {
    return RequestedText{
        [text = man_page(line.program(), page.command)](std::size_t) { return text; }};
  } catch (const CLI::CallForVersion&) {
    return RequestedText{[](std::size_t) { return std::string(kVersion); }};
  } catch (const CLI::ParseError& error) {
    return UsageError{line.describe(error), line.command()};
  } catch (const OptionError& error) {
    return UsageError{line.names().translate(error.what()), line.command()};
  }
}

}  // namespace btftool
