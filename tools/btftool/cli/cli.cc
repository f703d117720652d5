#include "cli/cli.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "btf/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/convert.h"
#include "cli/diff.h"
#include "cli/inspect.h"
#include "cli/layers.h"
#include "cli/support.h"
#include "help/completion.h"
#include "help/help.h"

namespace btftool {
namespace {

CLI::App& add_subcommand(CLI::App& parent, const char* name, const char* help) {
  CLI::App* const app = parent.add_subcommand(name, help);
  app->fallthrough();
  return *app;
}

class InspectArguments final : public Subcommand {
 public:
  explicit InspectArguments(CLI::App& parent)
      : Subcommand(parent, "inspect", "list tensors, their statistics and values") {
    declare_operands("FILE...", "files to inspect; - is stdin");
    declare_inspect(app(), options_);
    add_input_spec(app(), spec_);
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw OptionError("missing operand FILE");
    finish_inspect(app(), options_, operands_);
    options_.open = spec_.finish("--input-spec");
    return options_;
  }

 private:
  InspectOptions options_;
  RawSpecs spec_;
};

class ConvertArguments final : public Subcommand {
 public:
  explicit ConvertArguments(CLI::App& parent)
      : Subcommand(parent, "convert",
                   "change layout, dtype or sparsity; select, rename and reshape tensors") {
    declare_operands("IN... OUT",
                     "input files or directories, and the output; - is stdin or\n"
                     "stdout; OUT may be one of the inputs");
    declare_output(output_);
    declare_convert(app(), command_, words_);
  }

  Command finish(const GlobalOptions& global) override {
    if (output_) operands_.push_back(*output_);
    if (operands_.size() < 2) expect({"IN", "OUT"});
    command_.output = operands_.back();
    command_.output_by_option = output_.has_value();
    operands_.pop_back();
    command_.inputs = operands_;
    finish_convert(app(), words_, command_);
    finish_part(app(), operands_, {"--json"}, command_.part);
    if (command_.part && !command_.many_outputs)
      throw OptionError("--part needs a directory as OUT, such as 'dir/', not '" + command_.output +
                        "': each input file becomes a file there");
    command_.convert.execution = global.execution();
    return command_;
  }

 private:
  ConvertCommand command_;
  ConvertOptionTexts words_;
  std::optional<std::string> output_;
};

class DiffArguments final : public Subcommand {
 public:
  explicit DiffArguments(CLI::App& parent)
      : Subcommand(parent, "diff",
                   "compare tensors within tolerances; show where and why they differ") {
    declare_operands(
        "ACTUAL GOLDEN",
        "the file or directory to check, and the reference;\none of them may be -, stdin");
    declare_diff(app(), command_);
    add_diff_specs(app(), specs_, "What is compared");
  }

  Command finish(const GlobalOptions& global) override {
    if (!command_.from_json) expect({"ACTUAL", "GOLDEN"});
    finish_diff(app(), command_, operands_);
    specs_.finish(command_);
    command_.open_actual.listed = command_.open_golden.listed = command_.listed;
    command_.diff.execution = global.execution();
    return command_;
  }

 private:
  DiffCommand command_;
  RawDiffSpecs specs_;
};

class ValidateArguments final : public Subcommand {
 public:
  explicit ValidateArguments(CLI::App& parent)
      : Subcommand(parent, "validate", "check whether files are well-formed") {
    declare_operands("FILE...", "files or directories to check; - is stdin");
    app().add_flag("--strict", options_.strict, "treat warnings as errors");
    app().add_flag("--nan", options_.checks.finite, "report NaN and Inf elements as errors");
    add_recipient(app(), options_.checks.recipient,
                  "report data that this program cannot read as errors");
    app().add_flag("--all", options_.all, "print every finding, without a limit");
    app().add_flag("--json", options_.json, "print one JSON document");
    add_files_from(app(), options_.listed, kFilesFromHelp);
    add_input_spec(app(), spec_);
    declare_part(app(), options_.part);
    app().footer(
        "Exit status: 0 well-formed, 1 not well-formed, 2 trouble.\n"
        "Examples:\n"
        "  btftool validate model.btf\n"
        "  btftool validate --strict --nan --for tfrt dumps/");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw OptionError("missing operand FILE");
    options_.files = operands_;
    options_.open = spec_.finish("--input-spec");
    options_.open.listed = options_.listed;
    finish_part(app(), operands_, {"--json"}, options_.part);
    return options_;
  }

 private:
  ValidateOptions options_;
  RawSpecs spec_;
};

class LayersArguments final : public Subcommand {
 public:
  explicit LayersArguments(CLI::App& parent)
      : Subcommand(parent, "layers",
                   "compare the layers that two runs dumped: which broke first, and why") {
    declare_operands("ACTUAL GOLDEN",
                     "files or directories of tensors: the run to check, and the\nreference");
    declare_layers(app(), command_);
    add_layers_specs(app(), actual_spec_, golden_spec_, "What is compared");
  }

  Command finish(const GlobalOptions& global) override {
    if (!command_.from_json) expect({"ACTUAL", "GOLDEN"});
    finish_layers(app(), command_, operands_);
    // --shape is for the side that has an engine.
    if (names_engine(golden_spec_)) {
      golden_spec_.shapes = actual_spec_.shapes;
      if (!names_engine(actual_spec_)) actual_spec_.shapes.clear();
    }
    btf::SetDiffSide& actual = command_.layers.actual;
    btf::SetDiffSide& golden = command_.layers.golden;
    actual_spec_.finish_layers("--actual-spec", command_.open_actual, actual.specs);
    golden_spec_.finish_layers("--golden-spec", command_.open_golden, golden.specs);
    command_.open_actual.listed = command_.open_golden.listed = command_.listed;
    actual.open = command_.open_actual;
    golden.open = command_.open_golden;
    command_.layers.execution = global.execution();
    return command_;
  }

 private:
  LayersCommand command_;
  RawSpecs actual_spec_;
  RawSpecs golden_spec_;
};

class FitArguments final : public Subcommand {
 public:
  explicit FitArguments(CLI::App& parent)
      : Subcommand(parent, "fit",
                   "find the layers that can run in fp16 or bf16, and scales for int8 or fp8") {
    declare_operands("GOLDEN...", "dumps of float32 runs, each a file or directory of tensors");
    declare_fit(app(), command_);
    add_input_spec(app(), spec_);
  }

  Command finish(const GlobalOptions& global) override {
    finish_fit(app(), command_, operands_);
    command_.open = spec_.finish("--input-spec");
    command_.fit.execution = global.execution();
    return command_;
  }

 private:
  FitCommand command_;
  RawSpecs spec_;
};

class MergeArguments final : public Subcommand {
 public:
  explicit MergeArguments(CLI::App& parent)
      : Subcommand(parent, "merge", "make one report of the results of shards") {
    declare_operands("PART...", "the files that --part wrote, in any order");
    add_count(
        app(), "--expect", 1, btf::kMaxShards, [this](std::uint64_t n) { command_.expected = n; },
        "fail unless there are N shards");
    declare_reports(app(), command_.reports);
    declare_lists(app(), command_.emit);
    app().footer(
        "Run every shard first, with --shard and --part. Then merge prints what a single run would "
        "have\nprinted.\n"
        "Exit status: that of a single run; 2 if a part is missing, incomplete, changed, or of "
        "another\ncommand.\n"
        "Examples:\n"
        "  btftool merge --expect 2 1.jsonl 2.jsonl --html report.html\n"
        "  btftool diff --close --shard 1/2 --part 1.jsonl out/ golden/\n"
        "  btftool diff --close --shard 2/2 --part 2.jsonl out/ golden/");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw OptionError("missing operand PART");
    finish_reports(app(), command_.reports);
    command_.parts = operands_;
    return command_;
  }

 private:
  MergeCommand command_;
};

class RepairArguments final : public Subcommand {
 public:
  explicit RepairArguments(CLI::App& parent)
      : Subcommand(parent, "repair", "recover tensors from a damaged file") {
    declare_operands("IN OUT", "input and output; - is stdin or stdout; OUT may be the\nsame file");
    declare_output(output_);
    declare_repair(app(), command_);
  }

  Command finish(const GlobalOptions&) override {
    if (output_) operands_.push_back(*output_);
    expect({"IN", "OUT"});
    command_.input = operands_[0];
    command_.output = operands_[1];
    finish_repair(command_);
    return command_;
  }

 private:
  RepairCommand command_;
  std::optional<std::string> output_;
};

class TypesArguments final : public Subcommand {
 public:
  explicit TypesArguments(CLI::App& parent)
      : Subcommand(parent, "types", "list dtypes and layouts, or explain one") {
    declare_operands("[WHAT [DIMS]]",
                     "a dtype, a layout, or a format in TensorRT's notation; with\ndims such as "
                     "1x3x2x2, where each "
                     "element is stored");
    app().add_flag("--json", options_.json, "print all dtypes and layouts as one JSON document");
    app().footer(
        "Examples:\n"
        "  btftool types bf16\n"
        "  btftool types kHWC8 1x3x2x2\n"
        "  btftool types 'Half(160000,1:8,1600,8)'");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.size() > 2) throw OptionError("extra operand '" + operands_[2] + "'");
    if (options_.json && !operands_.empty())
      throw OptionError("--json prints all dtypes and layouts and takes no operand, not '" +
                        operands_[0] + "'");
    if (!operands_.empty()) options_.what = operands_[0];
    if (operands_.size() > 1) options_.shape = operands_[1];
    return options_;
  }

 private:
  TypesOptions options_;
};

class ExplainArguments final : public Subcommand {
 public:
  explicit ExplainArguments(CLI::App& parent)
      : Subcommand(parent, "explain", "explain a word of a report, and what to do about it") {
    declare_operands("[WORD]",
                     "a word that validate, diff, layers or fit print; without\nit, all words are "
                     "listed");
    app().add_flag("--json", options_.json, "print all words as one JSON document");
    app().footer(
        "Examples:\n"
        "  btftool explain data-past-end\n"
        "  btftool explain channels-reversed\n"
        "  btftool explain dump-wrong");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.size() > 1) throw OptionError("extra operand '" + operands_[1] + "'");
    if (options_.json && !operands_.empty())
      throw OptionError("--json prints all words and takes no operand, not '" + operands_[0] + "'");
    if (!operands_.empty()) options_.word = operands_[0];
    return options_;
  }

 private:
  ExplainOptions options_;
};

class CompletionArguments final : public Subcommand {
 public:
  explicit CompletionArguments(CLI::App& parent)
      : Subcommand(parent, "completion", "print a completion script for a shell") {
    declare_operands("SHELL", "bash, zsh or fish");
    app().add_flag("--tensors", tensors_,
                   "print the names of tensors: operands are then files. The\n"
                   "scripts call this");
    app().footer(
        "Examples:\n"
        "  source <(btftool completion bash)\n"
        "  source <(btftool completion zsh)\n"
        "  btftool completion fish | source");
  }

  Command finish(const GlobalOptions&) override {
    if (tensors_) return CompletionOptions{.script = {}, .files = operands_};
    expect({"SHELL"});
    const auto shell = std::ranges::find(shells(), operands_[0], &Shell::name);
    if (shell == shells().end()) throw OptionError(unknown(operands_[0]));
    return CompletionOptions{.script = shell->completion(declared(*app().get_parent())),
                             .files = {}};
  }

 private:
  static std::string unknown(const std::string& word) {
    std::vector<std::string_view> names;
    std::string list;
    for (const Shell& shell : shells()) {
      names.push_back(shell.name);
      list += (list.empty() ? "" : "|") + std::string(shell.name);
    }
    return "completion takes " + list + ", not '" + word + "'" + btf::did_you_mean(word, names);
  }

  bool tensors_ = false;
};

}  // namespace

Subcommand::Subcommand(CLI::App& parent, const char* name, const char* help)
    : app_(add_subcommand(parent, name, help)) {}

void Subcommand::declare_operands(const char* names, const char* help) {
  app_.add_option(names, operands_, help)->type_name("");
}

void Subcommand::declare_output(std::optional<std::string>& output) {
  add_text(app_, "-o,--output", output, "OUT", "the output, instead of the last operand");
}

void Subcommand::append_operands(const std::vector<std::string>& more) {
  operands_.insert(operands_.end(), more.begin(), more.end());
  if (std::ranges::find(operands_, std::string()) != operands_.end())
    throw OptionError("an operand is empty");
}

void Subcommand::expect(std::initializer_list<const char*> names) const {
  if (operands_.size() < names.size())
    throw OptionError(std::string("missing operand ") + *(names.begin() + operands_.size()));
  if (operands_.size() > names.size())
    throw OptionError("extra operand '" + operands_[names.size()] + "'");
}

std::vector<std::unique_ptr<Subcommand>> declare_subcommands(CLI::App& app) {
  std::vector<std::unique_ptr<Subcommand>> subcommands;
  subcommands.push_back(std::make_unique<InspectArguments>(app));
  subcommands.push_back(std::make_unique<ConvertArguments>(app));
  subcommands.push_back(std::make_unique<DiffArguments>(app));
  subcommands.push_back(std::make_unique<ValidateArguments>(app));
  subcommands.push_back(std::make_unique<LayersArguments>(app));
  subcommands.push_back(std::make_unique<FitArguments>(app));
  subcommands.push_back(std::make_unique<MergeArguments>(app));
  subcommands.push_back(std::make_unique<RepairArguments>(app));
  subcommands.push_back(std::make_unique<TypesArguments>(app));
  subcommands.push_back(std::make_unique<ExplainArguments>(app));
  subcommands.push_back(std::make_unique<CompletionArguments>(app));
  return subcommands;
}

namespace {

const std::string kDefaultCompressionLevel = std::to_string(btf::kDefaultCompression);
constexpr const char* kVersion = "btftool " BTFTOOL_VERSION "\n";

void setup_globals(CLI::App& app, GlobalOptions& options) {
  const std::vector<std::pair<std::string, When>> when{
      {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  app.add_flag("-q,--quiet", options.quiet,
               "print only errors to stderr; diff: see the exit status");
  app.add_flag("-v,--verbose", options.verbose, "print to stderr what is being done");
  add_choice(app, "--color", options.color, when, "colour the output; auto: on a terminal");
  add_choice(app, "--progress", options.progress, when,
             "show progress on stderr; auto: on a terminal, after a second");
  add_count(
      app, "-j,--jobs", 1, 1024,
      [&options](std::uint64_t n) { options.jobs = static_cast<unsigned>(n); },
      "number of threads; it does not change the results");
  add_words(
      app, "--max-memory", "SIZE",
      [&options](const std::string& text) { options.max_memory = parse_memory(text); },
      "memory limit of the process, 16M or more (256M)");
}

// An option whose value may be left out. The next word is its value if it has a digit and only
// `characters`; any other word is an operand.
struct OptionalValue {
  std::string_view option;
  std::string_view characters;
  std::string default_value;
};

const OptionalValue* find_optional_value(std::string_view word) {
  static const OptionalValue kRows[] = {{"--values", "0123456789", std::to_string(kValuesShown)},
                                        {"--histogram", "0123456789", std::to_string(kBinsShown)},
                                        {"--percentiles", "0123456789.,", kPercentilesShown},
                                        {"--heatmap", "0123456789,-", kAutomaticAxes},
                                        {"--squeeze", "0123456789,-", std::string(kAllDims)},
                                        {"--compress", "0123456789", kDefaultCompressionLevel}};
  const auto* row = std::ranges::find(kRows, word, &OptionalValue::option);
  return row == std::end(kRows) ? nullptr : row;
}

// Returns the words for the parser, last word first. Words after "--" go to `operands` instead.
std::vector<std::string> prepare(int argc, char** argv, std::vector<std::string>& operands) {
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
      words[i] += "=" + row->default_value;
    }
  }
  std::ranges::reverse(words);
  return words;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
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
  return "unknown command '" + word + "'" + suggestion(word, names);
}

// The names of the global options and of those of the command that was given.
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
    const std::vector<std::string> names = option_names(app);
    // An option of the command that was given before its name.
    if (const auto& commands = app.get_subcommands();
        !commands.empty() &&
        std::ranges::find(names, word.substr(0, word.find('='))) != names.end())
      return "'" + word + "' is an option of " + commands.front()->get_name() +
             " and comes after its name";
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
void rewrite_help(const CLI::App& app, std::vector<std::string>& words) {
  const bool page = std::erase(words, "--man") > 0;
  if (words.size() > 2)
    throw OptionError("help takes one command; '" + words[words.size() - 3] + "' is one too many");
  words.back() = "--help";
  if (words.size() < 2) {
    if (page) throw CallForPage{};
    return;
  }
  if (const auto names = command_names(app); std::ranges::find(names, words.front()) == names.end())
    throw OptionError(unknown_command(app, words.front()));
  if (page) throw CallForPage{words.front()};
  std::ranges::reverse(words);
}

// Throws OptionError, and what the parser throws.
Invocation parse(CLI::App& app, const std::vector<std::unique_ptr<Subcommand>>& subcommands,
                 const GlobalOptions& global, int argc, char** argv) {
  std::vector<std::string> more_operands;
  std::vector<std::string> words = prepare(argc, argv, more_operands);
  if (!words.empty() && words.back() == "help") rewrite_help(app, words);
  app.parse(words);
  Subcommand& given = **std::ranges::find_if(subcommands, &Subcommand::given);
  given.append_operands(more_operands);
  if (global.quiet && global.verbose) throw OptionError("--quiet and --verbose exclude each other");
  return {global, given.finish(global), OptionNames(given.name())};
}

}  // namespace

std::variant<Invocation, RequestedText, UsageError> parse_command_line(int argc, char** argv) {
  CLI::App app("Inspects, converts, compares and validates files in the Binary Tensor Format.",
               "btftool");
  app.set_version_flag("-V,--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "'btftool COMMAND --help' prints the most used options of a command, --help-all all of them, "
      "'btftool help --man COMMAND' its man page, and 'btftool help --man' that of btftool.");
  app.set_help_flag("-h,--help", "print help; of a command: its most used options");
  app.set_help_all_flag("--help-all", "print all options of a command");
  GlobalOptions global;
  setup_globals(app, global);
  const std::vector<std::unique_ptr<Subcommand>> subcommands = declare_subcommands(app);
  const auto command_name = [&]() -> std::string {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  };
  const auto help = [&](bool all) {
    return RequestedText{
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
    return RequestedText{
        [text = man_page(declared(app), page.command)](std::size_t) { return text; }};
  } catch (const CLI::CallForVersion&) {
    return RequestedText{[](std::size_t) { return std::string(kVersion); }};
  } catch (const CLI::ParseError& error) {
    return UsageError{describe(error, app), command_name()};
  } catch (const OptionError& error) {
    return UsageError{OptionNames(command_name()).translate(error.what()), command_name()};
  }
}

}  // namespace btftool
