#include "cli/layers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "btf/did_you_mean.h"
#include "btf/tensorrt.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/inspect.h"

namespace btftool {
namespace {

// "1%" or "0.01"
double parse_fraction(const std::string& option, const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_real(percent ? std::string_view(text).substr(0, text.size() - 1) : text);
  if (!value || *value < 0)
    throw OptionError(option + " takes a fraction such as 0.01 or 1%, not '" + text + "'");
  return percent ? *value / 100 : *value;
}

double parse_factor(const std::string& option, const std::string& text) {
  const auto value = parse_real(text);
  if (!value || *value < 1)
    throw OptionError(option + " takes a number of 1 or more, not '" + text + "'");
  return *value;
}

void set_graph(LayersCommand& command, const std::string& path) {
  const bool engine = btf::is_engine_list(path);
  std::optional<std::string>& graph = engine ? command.layers.engine : command.layers.graph;
  if (graph)
    throw OptionError(std::string("--graph takes only one ") +
                      (engine ? "layer list of an engine" : "model") + ", not both " + *graph +
                      " and " + path);
  graph = path;
}

// "fp16", "softmax*=fp32", or several of these with commas between them
void add_compute(btf::LayerLimits& judge, const std::string& text) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.rfind('=');
    const std::string_view type = mark == word.npos ? word : word.substr(mark + 1);
    const btf::DType dtype = value_or_throw(btf::parse_dtype(type));
    if (mark == word.npos) {
      if (judge.compute) throw OptionError("--compute is given more than once for all layers");
      judge.compute = dtype;
      continue;
    }
    std::string glob(word.substr(0, mark));
    if (const std::string error = glob_error(glob); !error.empty())
      throw OptionError("--compute " + text + ": the glob '" + glob + "' " + error);
    judge.computes.push_back({std::move(glob), dtype});
  }
}

void declare_names(CLI::App& app, LayersCommand& command) {
  const char* group = "Pairs and order";
  add_text(app, "--order", command.order, "FILE",
           "the names of GOLDEN in the order of execution, one a line")
      ->group(group);
  add_repeated(
      app, "--graph", "MODEL", [&command](const std::string& path) { set_graph(command, path); },
      "the ONNX model, which has the order of layers and their inputs;\n"
      "or the layer list of a TensorRT engine, which has the order,\n"
      "the fusions and the dtypes; may be given once for each")
      ->group(group);
  add_text(app, "--map", command.map, "FILE",
           "which names belong together: FILE has lines ACTUAL<tab>GOLDEN\nor /REGEX/REPLACEMENT/")
      ->group(group);
  add_files_from(app, command.listed, kFilesFromHelp)->group(group);
  app.add_flag("--pairs", command.pairs, "print the pairs of names instead of a report")
      ->group(group);
}

void declare_spot_checks(CLI::App& app, LayersCommand& command) {
  const char* group = "Recomputed layers (with --graph)";
  add_choice(
      app, "--weights", command.layers.spot_checks, {{"yes", true}, {"no", false}},
      "recompute elements of each layer from its own inputs and\nthe weights of the model (yes)")
      ->group(group);
  add_text(
      app, "--actual-graph", command.layers.actual_graph, "MODEL",
      "the ONNX model that ACTUAL was computed by, if it is not the\none of --graph but, say, a "
      "quantised one")
      ->group(group);
  add_words(
      app, "--accumulate", "T",
      [&command](const std::string& text) {
        const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
        if (dtype != btf::DType::float32 && dtype != btf::DType::float16 &&
            dtype != btf::DType::bfloat16)
          throw OptionError("--accumulate takes float32, float16 or bfloat16, not '" + text + "'");
        command.layers.accumulate = dtype;
      },
      "the dtype in which the device accumulates products (float32)")
      ->group(group);
}

void declare_judgement(CLI::App& app, LayersCommand& command) {
  btf::LayerLimits& judge = command.layers.judge;
  const char* group = "Judgement";
  add_repeated(
      app, "--compute", "[GLOB=]T", [&judge](const std::string& text) { add_compute(judge, text); },
      "the dtype in which ACTUAL was computed, if it is not that of the\n"
      "files; softmax*=fp32 applies to layers with such names; several\n"
      "are separated by commas")
      ->group(group);
  add_text(app, "--baseline", command.baseline, "SET",
           "dumps of a correct run in the precision of the device, which\nshow the error to expect")
      ->group(group);
  app.add_flag("--isolated", judge.isolated,
               "each layer of ACTUAL was run with the inputs of GOLDEN")
      ->group(group);
  add_text(app, "--expect-output", command.expected, "SET",
           "outputs of a run without dumping, which ACTUAL must reproduce")
      ->group(group);
  add_words(
      app, "--max-error", "PART",
      [&judge](const std::string& text) { judge.most_error = parse_fraction("--max-error", text); },
      "largest relative error of outputs that is accepted: 0.01 or 1%\n(50%)")
      ->group(group);
  add_words(
      app, "--max-own-error", "PART",
      [&judge](const std::string& text) {
        judge.most_own_error = parse_fraction("--max-own-error", text);
      },
      "largest relative error that a layer may add by itself: 0.001 or\n"
      "0.1% (no limit); for layers that are recomputed with --graph")
      ->group(group);
  add_words(
      app, "--growth", "X",
      [&judge](const std::string& text) { judge.growth = parse_factor("--growth", text); },
      "largest factor by which an error may grow in one layer (2)")
      ->group(group);
  add_words(
      app, "--limit", "X",
      [&judge](const std::string& text) { judge.limit = parse_factor("--limit", text); },
      "a layer is faulty if its error is above X times what its inputs\nand its dtype explain (2)")
      ->group(group);
  app.add_flag("--require-all", judge.require_all, "fail if a tensor is on one side only")
      ->group(group);
  add_text(app, "--from-json", command.from_json, "REPORT",
           "judge a report of --json again; without operands")
      ->group(group);
}

void declare_report(CLI::App& app, LayersCommand& command) {
  const char* group = "Report";
  app.add_flag("--all", command.all, "print every layer")->group(group);
  app.add_flag("!--no-hints", command.layers.hints, "do not look for the cause of a fault")
      ->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_text(app, "--junit", command.junit, "FILE", "also write a JUnit report")->group(group);
  add_text(app, "--html", command.html, "FILE", "also write an HTML report")->group(group);
}

}  // namespace

void declare_layers(CLI::App& app, LayersCommand& command) {
  declare_names(app, command);
  declare_spot_checks(app, command);
  declare_judgement(app, command);
  add_scales(app,
             {command.layers.dequantize, command.layers.scale_blocks, command.layers.actual_scale,
              command.layers.golden_scale},
             "What is compared");
  declare_report(app, command);
  declare_part(app, command.part);
  app.footer(
      "Exit status: 0 nothing broke, 1 a layer broke or drifted, a dump is wrong or a tensor is\n"
      "missing, 2 trouble, such as no pairs, or dumping changed the result.\n"
      "Examples:\n"
      "  btftool layers trt/ torch/\n"
      "  btftool layers --graph model.onnx out.npz golden.npz\n"
      "  btftool layers --compute fp16 --html report.html out.npz golden.npz");
}

namespace {

// Returns the options that say how files are read, for the commands that the report prints. An
// option and its value are two words.
std::vector<std::string> reading_options(const CLI::App& app) {
  constexpr std::string_view kReading[] = {
      "--dequantize",  "--block", "--actual-scale", "--golden-scale", "--actual-spec",
      "--golden-spec", "--shape", "--layout-in",    "--nvmedia",      "--files-from"};
  std::vector<std::string> words;
  for (const std::string& given : words_given(app, [&](const std::string& name) {
         return std::ranges::find(kReading, name) != std::end(kReading);
       })) {
    const std::size_t mark = given.find('=');
    words.push_back(given.substr(0, mark));
    if (mark != given.npos) words.push_back(given.substr(mark + 1));
  }
  return words;
}

}  // namespace

void finish_layers(const CLI::App& app, LayersCommand& command,
                   const std::vector<std::string>& operands) {
  exclude(app, "--pairs", {"--json", "--junit", "--html", "--all"});
  for (const char* const option : {"--weights", "--actual-graph", "--accumulate"})
    if (app.count(option) > 0 && !command.layers.graph)
      throw OptionError(std::string(option) + " needs --graph with a model");
  exclude(app, "--from-json",
          {"--graph", "--map", "--pairs", "--files-from", "--baseline", "--expect-output",
           "--actual-spec", "--golden-spec", "--layout-in", "--nvmedia", "--dequantize",
           "--actual-scale", "--golden-scale", "--block", "--part"});
  check_blocks(app);
  exclude(app, "--pairs", {"--part"});
  check_reports(command.junit, command.html);
  command.reading_options = reading_options(app);
  command.result_options = words_given_but(
      app, {"--all", "--json", "--junit", "--html", "--pairs", "--part", "--shard", "--resume"});
  set_operands(command.from_json.has_value(), operands, command.actual, command.golden);
  finish_part(app, operands, {"--all", "--json", "--junit", "--html"}, command.part);
}

namespace {

// "fp16" or "fp16,int8"
void parse_dtypes(std::vector<btf::DType>& dtypes, const std::string& text) {
  dtypes.clear();
  for (const std::string_view word : split(text, ',')) {
    const btf::DType dtype = value_or_throw(btf::parse_dtype(word));
    if (dtype != btf::DType::float16 && dtype != btf::DType::bfloat16 && !btf::needs_scale(dtype))
      throw OptionError(
          "--dtype takes float16, bfloat16 and signed dtypes of 8 bits or fewer such as int8 and "
          "fp8, not '" +
          std::string(word) + "'");
    if (std::ranges::find(dtypes, dtype) != dtypes.end())
      throw OptionError("--dtype names " + std::string(word) + " twice");
    dtypes.push_back(dtype);
  }
}

// `word` is the form, such as "autocast".
void add_list(std::vector<FitListFile>& lists, const std::string& word, const std::string& path) {
  std::string names;
  std::vector<std::string_view> words;
  for (const auto& form : btf::fit_list_forms()) {
    names += (names.empty() ? "" : "|") + std::string(form.name);
    words.push_back(form.name);
    if (form.name == word) lists.push_back({form.value, path});
  }
  if (std::ranges::find(words, word) == words.end())
    throw OptionError("--emit takes a form and a file; the form is " + names + ", not '" + word +
                      "'" + btf::did_you_mean(word, words));
  if (path.empty() || path == "-")
    throw OptionError("--emit " + word + " takes a file name, not '" + path + "'");
}

}  // namespace

void declare_lists(CLI::App& app, std::vector<FitListFile>& lists) {
  app.add_option_function<std::vector<std::string>>(
         "--emit",
         [&lists](const std::vector<std::string>& words) { add_list(lists, words[0], words[1]); },
         "write the layers that must stay in float32 in the form that\n"
         "another tool reads: autocast, onnxconverter, trtexec,\n"
         "polygraphy, or names, one a line; for a dtype with scales:\n"
         "scales, as JSON")
      ->expected(2)
      ->allow_extra_args(false)
      ->type_name("FORM FILE")
      ->trigger_on_parse()
      ->group("Report");
}

void declare_fit(CLI::App& app, FitCommand& command) {
  const char* what = "What is judged";
  add_words(
      app, "--dtype", "T[,T]",
      [&command](const std::string& text) { parse_dtypes(command.fit.dtypes, text); },
      "the dtypes to try: fp16 and bf16; with scales int8, fp8 and\n"
      "other signed dtypes of 8 bits or fewer (fp16)")
      ->group(what);
  add_text(app, "--graph", command.fit.graph, "MODEL",
           "the ONNX model with its weights; without it, tensors are\n"
           "measured but no layers are judged")
      ->group(what);
  const char* group = "Report";
  app.add_flag("--all", command.all, "print every layer, tensor and reason")->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_text(app, "--html", command.html, "FILE", "also write an HTML report")->group(group);
  declare_lists(app, command.emit);
  declare_part(app, command.part);
  app.footer(
      "Exit status: 0 all layers that can be judged fit, 1 some must stay in float32 or no scale "
      "suits\nthem, 2 trouble.\n"
      "Examples:\n"
      "  btftool fit --graph model.onnx golden.npz\n"
      "  btftool fit --dtype fp16,bf16 --graph model.onnx run1.npz run2.npz\n"
      "  btftool fit --graph model.onnx --emit names wide.txt golden/\n"
      "  btftool fit --dtype int8,fp8 --graph model.onnx golden.npz");
}

void finish_fit(const CLI::App& app, FitCommand& command,
                const std::vector<std::string>& operands) {
  if (operands.empty()) throw OptionError("missing operand GOLDEN");
  if (std::ranges::count(operands, "-") > 1) throw OptionError("only one operand can be - (stdin)");
  command.dumps = operands;
  command.result_options = words_given_but(
      app, {"--all", "--json", "--html", "--emit", "--part", "--shard", "--resume"});
  check_reports(std::nullopt, command.html);
  if (const std::string error = emit_error(command); !error.empty()) throw OptionError(error);
  finish_part(app, operands, {"--all", "--json", "--html", "--emit"}, command.part);
}

std::string emit_error(const FitCommand& command) {
  if (command.emit.empty()) return "";
  for (const FitListFile& emit : command.emit)
    if (command.html && emit.path == *command.html)
      return "--emit and --html name the same file '" + emit.path + "'";
  if (command.fit.dtypes.size() > 1)
    return "--emit can be used with one --dtype only: a list is for one dtype";
  const bool scaled = btf::needs_scale(command.fit.dtypes[0]);
  const std::string type(btf::info(command.fit.dtypes[0]).name);
  for (const FitListFile& emit : command.emit)
    if (btf::lists_scales(emit.form) != scaled)
      return scaled ? "--emit writes lists of layers only for float16 and bfloat16; for " + type +
                          " use --emit scales FILE"
                    : "--emit scales needs a --dtype with scales such as int8, not " + type;
  if (!scaled && !command.fit.graph) return "--emit needs --graph: without it no layers are judged";
  return "";
}

}  // namespace btftool
