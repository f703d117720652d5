#include "cli.h"

#include <algorithm>
#include <optional>

#include "arguments.h"
#include "btf/dtype.h"
#include "btf/layout.h"
#include "cli_diff.h"
#include "cli_spec.h"
#include "cli_support.h"

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

struct ConvertWords {
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
  std::optional<std::string> permute;
  std::string dla;
  SpecWords input;
  std::optional<std::string> output_spec;
  std::optional<std::string> format;
  std::optional<std::string> scale;
  std::optional<std::string> scale_axis;
  std::optional<std::string> zero_point;
};

// "fp16:hwc8", trtexec's way of saying both at once, is taken by either option.
void choose_target(const ConvertWords& words, btf::ConvertOptions& options) {
  const auto choose = [&](auto& target, auto value) {
    if (target && *target != value)
      throw Wrong("'" + *words.dtype + "' and '" + *words.layout + "' contradict each other");
    target = value;
  };
  for (const std::optional<std::string>& word : {words.dtype, words.layout}) {
    const std::size_t colon = word ? word->find(':') : std::string::npos;
    if (colon == std::string::npos) continue;
    choose(options.dtype, value_or_throw(btf::parse_dtype(word->substr(0, colon))));
    choose(options.layout, value_or_throw(btf::parse_layout(word->substr(colon + 1))));
  }
  const auto single = [](const std::optional<std::string>& word) {
    return word && word->find(':') == std::string::npos;
  };
  if (single(words.dtype)) choose(options.dtype, value_or_throw(btf::parse_dtype(*words.dtype)));
  if (single(words.layout))
    choose(options.layout, value_or_throw(btf::parse_layout(*words.layout)));
}

std::int64_t parse_zero_point(const std::string& text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto value = parse_integer(text);
  if (!value || *value < -kMost || *value > kMost)
    throw Wrong("--zero-point takes a whole number, not '" + text + "'");
  return *value;
}

void finish_scales(const ConvertWords& words, btf::Quantization& scales) {
  scales.automatic = words.scale == "auto";
  if (words.scale && !scales.automatic) {
    scales.scale = parse_real(*words.scale);
    if (!scales.scale || *scales.scale <= 0)
      throw Wrong("--scale takes auto or a number above 0, not '" + *words.scale + "'");
  }
  if (words.scale_axis) {
    if (!scales.automatic) throw Wrong("--scale-axis goes with --scale auto");
    scales.axis =
        static_cast<std::uint32_t>(parse_count("--scale-axis", *words.scale_axis, 0, 254));
  }
  if (words.zero_point) scales.zero_point = parse_zero_point(*words.zero_point);
  const bool scaled = words.scale.has_value();
  if (scaled && (scales.block || scales.dequantize))
    throw Wrong("--scale, --block-scale and --dequantize exclude each other");
  if (words.zero_point && (scales.block || !scales.active()))
    throw Wrong("--zero-point goes with --scale or --dequantize");
}

void finish_formats(const ConvertWords& words, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  command.open = words.input.finish("--input-spec");
  options.format = words.format.value_or("");
  if (words.output_spec) {
    auto spec = btf::parse_tensor_spec(*words.output_spec);
    if (!spec) throw Wrong("--output-spec " + spec.error().message);
    if (!spec->storage) throw Wrong("--output-spec needs dims: fp16:hwc8:1x3x224x224");
    if (options.plain || options.where_possible)
      throw Wrong("--output-spec leaves nothing to --plain and --where-possible");
    if ((options.dtype && *options.dtype != spec->dtype) ||
        (options.layout && *options.layout != spec->layout))
      throw Wrong("--output-spec contradicts --dtype or --layout");
    options.dtype = spec->dtype;
    options.layout = spec->layout;
    if (options.format.empty() && value_or_throw(btf::output_format(command.output, {})) == "npy")
      throw Wrong("--output-spec is for raw bytes, the output is named .npy");
    options.spec = *std::move(spec);
  }
  const std::string_view format = value_or_throw(btf::output_format(command.output, options));
  if (options.as_uint && format != "npy") throw Wrong("--as-uint goes with an output named .npy");
}

void check_shuffle(const btf::ConvertOptions& options, const std::string& output) {
  if (!options.shuffle) return;
  if (options.layout && *options.layout != btf::Layout::linear && !spec(*options.layout).shuffled())
    throw Wrong("--shuffle takes elements in the order of kLINEAR, not of " +
                std::string(spec(*options.layout).name));
  if (options.plain) throw Wrong("--shuffle and --plain exclude each other");
  if (const auto format = value_or_throw(btf::output_format(output, options)); format != "btf")
    throw Wrong("--shuffle is for BTF, the output is " + std::string(format));
}

void finish_convert(const ConvertWords& words, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  choose_target(words, options);
  if (words.permute) options.permute = value_or_throw(parse_permute(*words.permute));
  finish_formats(words, command);
  if (!words.dla.empty()) {
    if (options.layout != btf::Layout::dla_hwc4 && options.layout != btf::Layout::dla_linear)
      throw Wrong("--dla goes with --layout kDLA_HWC4 (or kDLA_LINEAR, where it changes nothing)");
    if (words.dla == "xavier" && options.layout == btf::Layout::dla_hwc4)
      options.layout = btf::Layout::dla_hwc4_xavier;
  }
  check_shuffle(options, command.output);
  finish_scales(words, options.quantization);
  if (options.quantization.scale && !options.dtype)
    throw Wrong("--scale needs --dtype: it decides between quantising and dequantising");
  if (options.quantization.automatic && !options.dtype)
    throw Wrong("--scale auto needs --dtype, the type to quantise to");
  if (command.json && command.output == "-")
    throw Wrong("--json and an output of - both want stdout");
}

void setup_convert(CLI::App& app, ConvertCommand& command, ConvertWords& words,
                   Operands& operands) {
  using btf::Duplicates;
  using btf::Overflow;
  using btf::Rounding;
  btf::ConvertOptions& options = command.convert;
  operands.declare(app, "IN OUT", "input and output; - is stdin or stdout; OUT may be IN");
  add_text(app, "--dtype", words.dtype, "T", "element type of the result: fp16, int8, fp8, ...");
  add_text(app, "--layout", words.layout, "L",
           "layout of the result: kHWC8, linear, coo, fp16:hwc8, ...");
  add_text(app, "--tensor", command.tensors, "SEL", "which tensors: 0,2-5,-1");
  add_text(app, "--permute", words.permute, "DIMS",
           "order of the dims, as numpy.transpose: 0,3,1,2");
  add_choice<Overflow>(app, "--overflow", options.policy.overflow,
                       {{"saturate", Overflow::saturate},
                        {"ieee", Overflow::ieee},
                        {"wrap", Overflow::wrap},
                        {"error", Overflow::error}},
                       "values beyond the range of the type");
  add_choice<Rounding>(app, "--round", options.policy.rounding,
                       {{"nearest", Rounding::nearest},
                        {"zero", Rounding::zero},
                        {"up", Rounding::up},
                        {"down", Rounding::down}},
                       "rounding of float to integer and of float8_e8m0fnu");
  app.add_flag("--lossless", options.policy.lossless, "fail when any value would change");
  add_text(app, "--scale", words.scale, "S|auto", "quantise, or come back: q = round(x / S) + Z");
  add_text(app, "--scale-axis", words.scale_axis, "A",
           "--scale auto: a scale for each index of dim A");
  add_text(app, "--zero-point", words.zero_point, "Z", "Z of integers; 0 if not given");
  std::vector<std::pair<std::string, std::optional<btf::BlockFormat>>> formats;
  for (const btf::BlockFormatInfo& row : btf::block_formats())
    formats.emplace_back(row.name, row.format);
  add_choice(app, "--block-scale", options.quantization.block, formats,
             "quantise in blocks of the last dim; scales become records of their own");
  app.add_flag("--dequantize", options.quantization.dequantize,
               "numbers from codes and the records of scales behind them");
  add_choice<Duplicates>(app, "--duplicates", options.duplicates,
                         {{"error", Duplicates::error},
                          {"sum", Duplicates::sum},
                          {"first", Duplicates::first},
                          {"last", Duplicates::last}},
                         "what a COO index means that occurs twice");
  app.add_flag("--prune-zeros", options.prune_zeros, "COO to COO: leave out explicit zeros");
  app.add_flag("--where-possible", options.where_possible,
               "tensors that cannot take the layout keep their own");
  app.add_flag("--plain", options.plain,
               "write the stored array as an ordinary dense tensor, for readers without the "
               "extension");
  app.add_flag("--as-uint", options.as_uint,
               ".npy: types that NumPy has no name for as unsigned integers");
  add_text(app, "--format", words.format, "F",
           "format of OUT: btf, npy, raw; as its name says, of - btf")
      ->group("Files that do not say what they hold");
  add_text(app, "--output-spec", words.output_spec, "SPEC",
           "write raw bytes: fp16:hwc8:1x3x224x224, or with\nstrides; see --input-spec")
      ->group("Files that do not say what they hold");
  add_input_spec(app, words.input);
  add_choice<std::uint8_t>(app, "--coo-code", options.coo_code,
                           {{"spec", btf::kCooCodeSpec}, {"tfrt", btf::kCooCodeTfrt}},
                           "layout code of COO tensors: 2 as published, 1 as TFRT reads");
  add_choice<std::string>(app, "--dla", words.dla, {{"orin", "orin"}, {"xavier", "xavier"}},
                          "pitch of kDLA_HWC4: 64 or 32 bytes");
  add_count(
      app, "--compress", btf::kLeastCompression, btf::kGreatestCompression,
      [&options](std::uint64_t level) { options.compression = static_cast<int>(level); },
      "write seekable zstd at level N (3); default if OUT ends in .zst");
  app.add_flag(
      "--shuffle", [&options](std::int64_t) { options.shuffle = true; },
      "store first the lowest bytes of all elements, then the next: smaller when compressed");
  app.add_flag("--fsync", options.sync, "survive a power cut: sync before renaming");
  app.add_flag("--json", command.json, "print a report as one JSON document");
  app.footer(
      "Examples:\n"
      "  btftool convert --layout kHWC8 --dtype fp16 in.btf out.btf\n"
      "  btftool convert --permute 0,3,1,2 nhwc.btf nchw.btf\n"
      "  btftool convert --layout coo dense.btf sparse.btf");
}

void setup_validate(CLI::App& app, ValidateOptions& options, SpecWords& spec, Operands& operands) {
  operands.declare(app, "FILE", "files to check; - is stdin");
  app.add_flag("--strict", options.strict, "warnings count as errors");
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
  const std::string text = error.what();
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
  SpecWords spec;  // inspect, validate
  SpecWords actual_spec;
  SpecWords golden_spec;
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
  setup_inspect(*inspect_app, inspect, spec, operands);
  setup_convert(*convert_app, convert, convert_words, operands);
  operands.declare(*diff_app, "ACTUAL GOLDEN", "the file to judge and the reference");
  declare_diff(*diff_app, diff);
  add_diff_specs(*diff_app, actual_spec, golden_spec, "What is compared");
  setup_validate(*validate_app, validate, spec, operands);

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
      return Invocation{global, inspect};
    }
    if (convert_app->parsed()) {
      operands.expect({"IN", "OUT"});
      convert.input = operands.words[0];
      convert.output = operands.words[1];
      finish_convert(convert_words, convert);
      if (!convert.convert.compression && convert.output.ends_with(".zst"))
        convert.convert.compression = btf::kDefaultCompression;
      convert.convert.execution = global.execution();
      return Invocation{global, convert};
    }
    if (diff_app->parsed()) {
      if (!diff.from_json) operands.expect({"ACTUAL", "GOLDEN"});
      finish_diff(*diff_app, diff, operands.words);
      diff.open_actual = actual_spec.finish("--actual-spec");
      diff.open_golden = golden_spec.finish("--golden-spec");
      diff.open_golden.layout_in = diff.open_actual.layout_in;
      diff.diff.execution = global.execution();
      return Invocation{global, diff};
    }
    if (operands.words.empty()) throw Wrong("missing operand FILE");
    validate.files = operands.words;
    validate.open = spec.finish("--input-spec");
    return Invocation{global, validate};
  } catch (const CLI::CallForHelp&) {
    const auto parsed = app.get_subcommands();
    return Information{parsed.empty() ? app.help() : command_help(*parsed.front())};
  } catch (const CLI::CallForVersion&) {
    return Information{kVersion};
  } catch (const CLI::ParseError& error) {
    return UsageError{describe(error, app), command_name()};
  } catch (const Wrong& wrong) {
    return UsageError{wrong.what(), command_name()};
  }
}

}  // namespace btftool
