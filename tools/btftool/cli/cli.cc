#include "cli/cli.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "btf/words/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/diff.h"
#include "cli/subcommands.h"
#include "cli/support.h"
#include "help/declared.h"
#include "help/man.h"

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

// Of the whole program, and of the command that was given.
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
    return text.substr(0, text.find(':')) +
           (text.ends_with(" missing") ? " needs a value" : " is given more than once");
  return text;
}

// The parser's own text takes operands for optional and leaves the global options out.
std::string command_help(const CLI::App& command) {
  std::string text = command.help("btftool");
  const std::string operands =
      command.get_options(&CLI::Option::get_positional).front()->get_name(true);
  for (const auto& [optional, required] : {std::pair{"[" + operands + "...]", operands},
                                           {operands + " ...", operands + "    "},
                                           {"{false}", "       "}}) {
    for (std::size_t at = 0; (at = text.find(optional, at)) != std::string::npos;)
      text.replace(at, optional.size(), required);
  }
  return text + "\nOptions of every command: -q -v -j --color --progress, see 'btftool --help'\n";
}

// The parser makes its texts with streams, which swallow what is thrown: a text would end early.
class AllocationWatch {
 public:
  AllocationWatch() : before_(std::set_new_handler(note)) { failed_ = false; }
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;
  ~AllocationWatch() { std::set_new_handler(before_); }

  std::string whole(std::string text) const {
    if (failed_) throw std::bad_alloc();
    return text;
  }

 private:
  [[noreturn]] static void note() {
    failed_ = true;
    throw std::bad_alloc();
  }

  static inline bool failed_ = false;
  std::new_handler before_;
};

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
      "'btftool help COMMAND' lists the options of a command, 'btftool help --man COMMAND' prints "
      "its\nman page, and 'btftool help --man' that of btftool.");
  app.get_formatter()->column_width(32);
  GlobalOptions global;
  setup_globals(app, global);
  const std::vector<std::unique_ptr<Subcommand>> subcommands = declare_subcommands(app);
  const auto command_name = [&]() -> std::string {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  };
  try {
    return parse(app, subcommands, global, argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto parsed = app.get_subcommands();
    const AllocationWatch watch;
    return Information{watch.whole(parsed.empty() ? app.help() : command_help(*parsed.front()))};
  } catch (const CallForPage& page) {
    return Information{man_page(declared(app), page.command)};
  } catch (const CLI::CallForVersion&) {
    return Information{kVersion};
  } catch (const CLI::ParseError& error) {
    return UsageError{describe(error, app), command_name()};
  } catch (const Wrong& wrong) {
    return UsageError{OptionNames(command_name()).in(wrong.what()), command_name()};
  }
}

}  // namespace btftool
