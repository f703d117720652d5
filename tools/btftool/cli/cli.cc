#include "cli/cli.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "btf/words/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/diff.h"
#include "cli/subcommands.h"
#include "cli/support.h"
#include "help/declared.h"
#include "help/man.h"
#include "help/text.h"

namespace btftool {
namespace {

// The level of --compress without a value.
const std::string kDefaultLevel = std::to_string(btf::kDefaultCompression);
constexpr const char* kVersion = "btftool " BTFTOOL_VERSION "\n";

void setup_globals(CLI::App& app, GlobalOptions& options) {
  const std::vector<std::pair<std::string, When>> when{
      {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  app.add_flag("-q,--quiet", options.quiet, "only errors on stderr; diff: only the exit code");
  app.add_flag("-v,--verbose", options.verbose, "say what is done, on stderr");
  add_choice(app, "--color", options.color, when, "colour the output; auto: on a terminal");
  add_choice(app, "--progress", options.progress, when,
             "show progress on stderr; auto: on a terminal, after a second");
  add_count(
      app, "-j,--jobs", 1, 1024,
      [&options](std::uint64_t n) { options.jobs = static_cast<unsigned>(n); },
      "threads; the result does not depend on it");
  add_words(
      app, "--max-memory", "SIZE",
      [&options](const std::string& text) { options.max_memory = parse_memory(text); },
      "memory to stay within: 16M and more; default 256M");
}

// Options whose value may be left out. A bare one takes the next word if that can be a value;
// what is not made of these characters is an operand.
struct OptionalValue {
  std::string_view option;
  std::string_view characters;
  std::string otherwise;
};

const OptionalValue* find_optional_value(std::string_view word) {
  static const OptionalValue kRows[] = {{"--values", "0123456789", std::to_string(kValuesShown)},
                                        {"--histogram", "0123456789", std::to_string(kBinsShown)},
                                        {"--percentiles", "0123456789.,", kPercentilesShown},
                                        {"--heatmap", "0123456789,-", kPickedAxes},
                                        {"--squeeze", "0123456789,-", std::string(kAllDims)},
                                        {"--compress", "0123456789", kDefaultLevel}};
  const auto* row = std::ranges::find(kRows, word, &OptionalValue::option);
  return row == std::end(kRows) ? nullptr : row;
}

// Words behind "--" are operands and go to `operands`.
std::vector<std::string> prepare(int argc, char** argv, std::vector<std::string>& operands) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto mark = std::ranges::find(words, "--"); mark != words.end()) {
    operands.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  // The parser would take the next word for a value that is empty.
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--") || !words[i].ends_with('=')) continue;
    words[i].pop_back();
    if (find_optional_value(words[i]) != nullptr) throw Wrong(words[i] + "= needs a value");
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const OptionalValue* row = find_optional_value(words[i]);
    if (row == nullptr) continue;
    const auto value = [&](const std::string& word) {
      return word.find_first_of("0123456789") != word.npos &&
             word.find_first_not_of(row->characters) == word.npos;
    };
    if (i + 1 < words.size() && value(words[i + 1])) {
      words[i] += "=" + words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      words[i] += "=" + row->otherwise;
    }
  }
  std::ranges::reverse(words);  // the parser takes them from the back
  return words;
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  return btf::did_you_mean(word.substr(0, word.find('=')),
                           std::vector<std::string_view>(names.begin(), names.end()));
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names = command_names(app);
  names.emplace_back("help");
  return "unknown command '" + word + "'" + meant(word, names);
}

// The options of the whole program, and of the command that was given.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  const auto add = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options({}))
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  };
  add(app);
  for (const CLI::App* command : app.get_subcommands()) add(*command);
  return names;
}

std::string describe(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    const std::string& word = unknown.front();
    if (!word.starts_with("-")) return unknown_command(app, word);
    return "unrecognized option '" + word + "'" + meant(word, option_names(app));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return "missing command";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return text.substr(0, text.find(':')) + (text.ends_with(" missing") ? " needs a value"
                                             : text.contains("2 required but")
                                                 ? " needs two values"
                                                 : " is given more than once");
  return text;
}

// Thrown for "help --man COMMAND"; empty: the page of the program.
struct CallForPage {
  std::string command;
};

// "help COMMAND" becomes "COMMAND --help". Words are in the parser's order, from the back.
void ask_for_help(const CLI::App& app, std::vector<std::string>& words) {
  const bool page = std::erase(words, "--man") > 0;
  if (words.size() > 2)
    throw Wrong("help takes one command, not also '" + words[words.size() - 3] + "'");
  words.back() = "--help";
  if (words.size() < 2) {
    if (page) throw CallForPage{};
    return;
  }
  if (const auto names = command_names(app); std::ranges::find(names, words.front()) == names.end())
    throw Wrong(unknown_command(app, words.front()));
  if (page) throw CallForPage{words.front()};
  std::ranges::reverse(words);
}

// Throws Wrong, and what the parser throws.
Invocation parse(CLI::App& app, const std::vector<std::unique_ptr<Subcommand>>& subcommands,
                 const GlobalOptions& global, int argc, char** argv) {
  std::vector<std::string> behind_mark;
  std::vector<std::string> words = prepare(argc, argv, behind_mark);
  if (!words.empty() && words.back() == "help") ask_for_help(app, words);
  app.parse(words);
  Subcommand& given = **std::ranges::find_if(subcommands, &Subcommand::given);
  given.append_operands(behind_mark);
  if (global.quiet && global.verbose) throw Wrong("--quiet and --verbose exclude each other");
  return {global, given.finish(global), OptionNames(given.name())};
}

}  // namespace

std::variant<Invocation, Information, UsageError> parse_command_line(int argc, char** argv) {
  CLI::App app("Inspects, converts, compares and validates files in the Binary Tensor Format.",
               "btftool");
  app.set_version_flag("-V,--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "'btftool COMMAND --help' has the options that are used first, --help-all all of them, "
      "'btftool "
      "help --man COMMAND' is its man page, and 'btftool help --man' that of btftool.");
  app.set_help_flag("-h,--help", "this text; of a command: the options that are used first");
  app.set_help_all_flag("--help-all", "all options of a command");
  GlobalOptions global;
  setup_globals(app, global);
  const std::vector<std::unique_ptr<Subcommand>> subcommands = declare_subcommands(app);
  const auto command_name = [&]() -> std::string {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  };
  const auto help = [&](bool all) {
    return Information{
        [program = declared(app), command = command_name(), all](std::size_t columns) {
          return help_text(program, command, all, columns);
        }};
  };
  try {
    return parse(app, subcommands, global, argc, argv);
  } catch (const CLI::CallForHelp&) {
    return help(false);
  } catch (const CLI::CallForAllHelp&) {
    return help(true);
  } catch (const CallForPage& page) {
    return Information{
        [text = man_page(declared(app), page.command)](std::size_t) { return text; }};
  } catch (const CLI::CallForVersion&) {
    return Information{[](std::size_t) { return std::string(kVersion); }};
  } catch (const CLI::ParseError& error) {
    return UsageError{describe(error, app), command_name()};
  } catch (const Wrong& wrong) {
    return UsageError{OptionNames(command_name()).in(wrong.what()), command_name()};
  }
}

}  // namespace btftool
