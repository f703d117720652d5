#include "cli/cli.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "cli/arguments.h"
#include "cli/convert.h"
#include "cli/diff.h"
#include "cli/layers.h"
#include "cli/repair.h"
#include "cli/spec.h"
#include "cli/support.h"

namespace btftool {
namespace {

// Of --compress without a value.
const std::string kDefaultLevel = std::to_string(btf::kDefaultCompression);
constexpr const char* kVersion = "btftool " BTFTOOL_VERSION "\n";

// The operands of one command, with their number checked here so that the message can say it well.
struct Operands {
  std::vector<std::string> words;

  void declare(CLI::App& app, const std::string& name, const std::string& help) {
    app.add_option(name, words, help)->type_name("");
  }

  // `more` stood behind a "--" and went past the parser.
  void append(const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    if (std::ranges::find(words, std::string()) != words.end()) throw Wrong("an operand is empty");
  }

  void expect(std::initializer_list<const char*> names) const {
    if (words.size() < names.size())
      throw Wrong(std::string("missing operand ") + *(names.begin() + words.size()));
    if (words.size() > names.size()) throw Wrong("extra operand '" + words[names.size()] + "'");
  }
};

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

void setup_inspect(CLI::App& app, InspectOptions& options, SpecWords& spec, Operands& operands) {
  operands.declare(app, "FILE", "files to look into; - is stdin");
  add_text(app, "--tensor", options.tensors, "SEL", "which tensors: 0,2-5,-1");
  app.add_flag("--json", options.json, "print one JSON document");
  app.add_flag("--manifest", options.manifest,
               "print a manifest: JSON that names files, tensors,\n"
               "specs, and that every command opens as this set");
  app.add_flag("--stats", options.stats, "min, max, mean, std, NaN, Inf, zeros, subnormals");
  app.add_flag("--strides", options.strides,
               "strides in elements and in bytes, TensorRT's vectorised dim");
  add_count(
      app, "--values", 0, UINT64_MAX, [&options](std::uint64_t n) { options.values = n; },
      "print the values, summarised beyond N (1000)");
  add_text(app, "--slice", options.slice, "SLICE", "print the values of a part: 0,:,1:3,::2");
  add_text(app, "--at", options.at, "INDEX", "one element's value, bits and place: 0,3,7,7");
  add_input_spec(app, spec);
  app.footer(
      "Examples:\n"
      "  btftool inspect model.btf\n"
      "  btftool inspect --tensor 2 --stats model.btf\n"
      "  btftool inspect --json model.btf | jq '.files[0].tensors[0].shape'");
}

void setup_validate(CLI::App& app, ValidateOptions& options, SpecWords& spec, Operands& operands) {
  operands.declare(app, "FILE", "files to check; - is stdin");
  app.add_flag("--strict", options.strict, "warnings count as errors");
  app.add_flag("--nan", options.checks.finite, "NaN and Inf among the elements are errors");
  add_recipient(app, options.checks.recipient, "what this program does not read is an error");
  app.add_flag("--all", options.all, "every finding, however many there are");
  app.add_flag("--json", options.json, "print one JSON document");
  add_input_spec(app, spec);
  app.footer("Exit status: 0 well-formed, 1 not well-formed, 2 trouble.");
}

// Options whose value may be left out. A bare one takes the next word if that can be a value;
// what is not made of these characters is an operand.
struct OptionalValue {
  std::string_view option;
  std::string_view characters;
  std::string otherwise;
};

const OptionalValue* find_optional_value(std::string_view word) {
  static const OptionalValue kRows[] = {{"--values", "0123456789", "1000"},
                                        {"--heatmap", "0123456789,-", kPickedAxes},
                                        {"--squeeze", "0123456789,-", std::string(kAllDims)},
                                        {"--compress", "0123456789", kDefaultLevel}};
  const auto* row = std::ranges::find(kRows, word, &OptionalValue::option);
  return row == std::end(kRows) ? nullptr : row;
}

// What stands behind "--" is operands and goes to `operands`.
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

std::string describe(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    const std::string& word = unknown.front();
    return (word.starts_with("-") ? "unrecognized option '" : "unknown command '") + word + "'";
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return "missing command";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return text.substr(0, text.find(':')) +
           (text.ends_with(" missing") ? " needs a value" : " is given more than once");
  return text;
}

}  // namespace

namespace {

// The parser's own text takes operands for optional and leaves the global options out.
std::string command_help(const CLI::App& command) {
  std::string text = command.help("btftool");
  for (const auto& [optional, required] : {std::pair{"[IN OUT...]", "IN OUT"},
                                           {"[IN... OUT...]", "IN... OUT"},
                                           {"[ACTUAL GOLDEN...]", "ACTUAL GOLDEN"},
                                           {"[FILE...]", "FILE..."},
                                           {"IN OUT ...", "IN OUT    "},
                                           {"ACTUAL GOLDEN ...", "ACTUAL GOLDEN    "},
                                           {"{false}", "       "}}) {
    for (std::size_t at = 0; (at = text.find(optional, at)) != std::string::npos;)
      text.replace(at, std::string_view(optional).size(), required);
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

}  // namespace

std::variant<Invocation, Information, UsageError> parse_command_line(int argc, char** argv) {
  CLI::App app("Inspects, converts, compares and validates files in the Binary Tensor Format.",
               "btftool");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  GlobalOptions global;
  setup_globals(app, global);

  InspectOptions inspect;
  ConvertCommand convert;
  ConvertWords convert_words;
  DiffCommand diff;
  ValidateOptions validate;
  RepairCommand repair;
  LayersCommand layers;
  SpecWords layers_actual_spec;
  SpecWords layers_golden_spec;
  SpecWords spec;  // inspect, validate
  DiffSpecWords diff_specs;
  Operands operands;
  const auto subcommand = [&](const char* name, const char* help) {
    CLI::App* command = app.add_subcommand(name, help);
    command->fallthrough();
    return command;
  };
  CLI::App* inspect_app = subcommand("inspect", "what is in it");
  CLI::App* convert_app = subcommand("convert", "layout, dtype, sparsity, selection");
  CLI::App* diff_app =
      subcommand("diff", "are they the same, within a tolerance, and if not, where and why");
  CLI::App* validate_app = subcommand("validate", "is it well-formed");
  CLI::App* layers_app =
      subcommand("layers", "two sets of dumped layers: which broke first, by how much, why");
  CLI::App* repair_app = subcommand("repair", "save what can be saved of a damaged file");
  setup_inspect(*inspect_app, inspect, spec, operands);
  operands.declare(*convert_app, "IN... OUT",
                   "files or directories, and the output; - is stdin or stdout; OUT may be an IN");
  declare_convert(*convert_app, convert, convert_words);
  operands.declare(*diff_app, "ACTUAL GOLDEN", "the file to judge and the reference");
  declare_diff(*diff_app, diff);
  add_diff_specs(*diff_app, diff_specs, "What is compared");
  setup_validate(*validate_app, validate, spec, operands);
  operands.declare(*layers_app, "ACTUAL GOLDEN",
                   "files or directories of tensors: to judge, and the reference");
  declare_layers(*layers_app, layers);
  add_diff_specs(*layers_app, layers_actual_spec, layers_golden_spec, "What is compared");
  operands.declare(*repair_app, "IN OUT", "input and output; - is stdin or stdout; OUT may be IN");
  declare_repair(*repair_app, repair);

  const auto command_name = [&]() -> std::string {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  };
  try {
    std::vector<std::string> behind_mark;
    std::vector<std::string> words = prepare(argc, argv, behind_mark);
    app.parse(words);
    operands.append(behind_mark);
    if (global.quiet && global.verbose) throw Wrong("--quiet and --verbose exclude each other");
    if (inspect_app->parsed()) {
      if (operands.words.empty()) throw Wrong("missing operand FILE");
      inspect.files = operands.words;
      inspect.open = spec.finish("--input-spec");
      if (inspect.slice && !inspect.values) inspect.values = 1000;
      if (inspect.manifest &&
          (inspect.json || inspect.stats || inspect.strides || inspect.values || inspect.at))
        throw Wrong("--manifest goes with --tensor and --input-spec only");
      return Invocation{global, inspect};
    }
    if (convert_app->parsed()) {
      if (operands.words.size() < 2) operands.expect({"IN", "OUT"});
      convert.output = operands.words.back();
      operands.words.pop_back();
      convert.inputs = operands.words;
      finish_convert(convert_words, convert);
      convert.convert.execution = global.execution();
      return Invocation{global, convert};
    }
    if (diff_app->parsed()) {
      if (!diff.from_json) operands.expect({"ACTUAL", "GOLDEN"});
      finish_diff(*diff_app, diff, operands.words);
      diff_specs.finish(diff);
      diff.diff.execution = global.execution();
      return Invocation{global, diff};
    }
    if (layers_app->parsed()) {
      if (!layers.from_json) operands.expect({"ACTUAL", "GOLDEN"});
      finish_layers(*layers_app, layers, operands.words);
      layers.open_actual = layers_actual_spec.finish("--actual-spec");
      layers.open_golden = layers_golden_spec.finish("--golden-spec");
      layers.layers.execution = global.execution();
      return Invocation{global, layers};
    }
    if (repair_app->parsed()) {
      operands.expect({"IN", "OUT"});
      repair.input = operands.words[0];
      repair.output = operands.words[1];
      finish_repair(repair);
      return Invocation{global, repair};
    }
    if (operands.words.empty()) throw Wrong("missing operand FILE");
    validate.files = operands.words;
    validate.open = spec.finish("--input-spec");
    return Invocation{global, validate};
  } catch (const CLI::CallForHelp&) {
    const auto parsed = app.get_subcommands();
    const AllocationWatch watch;
    return Information{watch.whole(parsed.empty() ? app.help() : command_help(*parsed.front()))};
  } catch (const CLI::CallForVersion&) {
    return Information{kVersion};
  } catch (const CLI::ParseError& error) {
    return UsageError{describe(error, app), command_name()};
  } catch (const Wrong& wrong) {
    return UsageError{wrong.what(), command_name()};
  }
}

}  // namespace btftool
