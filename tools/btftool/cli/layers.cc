#include "cli/layers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "btf/tensorrt/engine_list.h"
#include "btf/words/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/inspect.h"

namespace btftool {
namespace {

// "1%" or "0.01"
double parse_part(const std::string& option, const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_real(percent ? std::string_view(text).substr(0, text.size() - 1) : text);
  if (!value || *value < 0)
    throw Wrong(option + " takes a fraction such as 0.01 or 1%, not '" + text + "'");
  return percent ? *value / 100 : *value;
}

double parse_factor(const std::string& option, const std::string& text) {
  const auto value = parse_real(text);
  if (!value || *value < 1)
    throw Wrong(option + " takes a number of 1 or more, not '" + text + "'");
  return *value;
}

void take_graph(LayersCommand& command, const std::string& path) {
  const bool engine = btf::is_engine_list(path);
  std::optional<std::string>& graph = engine ? command.layers.engine : command.layers.graph;
  if (graph)
    throw Wrong(std::string("--graph takes one ") + (engine ? "layer list of an engine" : "model") +
                ", not both " + *graph + " and " + path);
  graph = path;
}

// "fp16", "softmax*=fp32", or some of them with commas between them
void take_compute(btf::JudgeLayers& judge, const std::string& text) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.rfind('=');
    const std::string_view type = mark == word.npos ? word : word.substr(mark + 1);
    const btf::DType dtype = value_or_throw(btf::parse_dtype(type));
    if (mark == word.npos) {
      if (judge.compute) throw Wrong("--compute is given more than once for all layers");
      judge.compute = dtype;
      continue;
    }
    std::string glob(word.substr(0, mark));
    if (const std::string trouble = glob_trouble(glob); !trouble.empty())
      throw Wrong("--compute " + text + ": the glob '" + glob + "' " + trouble);
    judge.computes.push_back({std::move(glob), dtype});
  }
}

void declare_names(CLI::App& app, LayersCommand& command) {
  const char* group = "Pairs and order";
  add_text(app, "--order", command.order, "FILE",
           "golden's names in the order of execution, one a line")
      ->group(group);
  add_repeated(
      app, "--graph", "MODEL", [&command](const std::string& path) { take_graph(command, path); },
      "an ONNX model: the order, and what is computed from what; a\n"
      "layer list of a TensorRT engine: the order, what is fused,\n"
      "and types; or both, one after the other")
      ->group(group);
  add_text(app, "--map", command.map, "FILE",
           "which names belong together: lines of ACTUAL<tab>GOLDEN or\n/REGEX/REPLACEMENT/")
      ->group(group);
  add_files_from(app, command.listed,
                 "of directories: these files, a line for each, in place of all")
      ->group(group);
  app.add_flag("--pairs", command.pairs, "print the pairs of names in place of a report")
      ->group(group);
}

void declare_spot_checks(CLI::App& app, LayersCommand& command) {
  const char* group = "Recomputed layers (with --graph)";
  add_choice(
      app, "--weights", command.layers.spot_checks, {{"yes", true}, {"no", false}},
      "recompute elements of each layer from its own inputs and\nthe weights of the model (yes)")
      ->group(group);
  add_text(app, "--actual-graph", command.layers.actual_graph, "MODEL",
           "the ONNX model that ACTUAL is a run of, if it is another:\na quantised one")
      ->group(group);
  add_words(
      app, "--accumulate", "T",
      [&command](const std::string& text) {
        const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
        if (dtype != btf::DType::float32 && dtype != btf::DType::float16 &&
            dtype != btf::DType::bfloat16)
          throw Wrong("--accumulate takes float32, float16 or bfloat16, not '" + text + "'");
        command.layers.accumulate = dtype;
      },
      "the dtype that the device adds products up in (float32)")
      ->group(group);
}

void declare_judgement(CLI::App& app, LayersCommand& command) {
  btf::JudgeLayers& judge = command.layers.judge;
  const char* group = "Judgement";
  add_repeated(
      app, "--compute", "[GLOB=]T",
      [&judge](const std::string& text) { take_compute(judge, text); },
      "the dtype that ACTUAL was computed in, if files do not show it;\n"
      "softmax*=fp32 of layers called so; several with commas")
      ->group(group);
  add_text(app, "--baseline", command.baseline, "SET",
           "a correct run in the device's precision: the error to expect")
      ->group(group);
  app.add_flag("--isolated", judge.isolated, "each layer of ACTUAL was given golden's inputs")
      ->group(group);
  add_text(app, "--expect-output", command.expected, "SET",
           "outputs of a run without dumps, which ACTUAL must reproduce")
      ->group(group);
  add_words(
      app, "--max-error", "PART",
      [&judge](const std::string& text) { judge.most_error = parse_part("--max-error", text); },
      "largest relative error of outputs: 0.01 or 1% (50%)")
      ->group(group);
  add_words(
      app, "--max-own-error", "PART",
      [&judge](const std::string& text) {
        judge.most_own_error = parse_part("--max-own-error", text);
      },
      "largest error that one layer adds by itself, of layers that --graph\n"
      "recomputes: 0.001 or 0.1% (none)")
      ->group(group);
  add_words(
      app, "--growth", "X",
      [&judge](const std::string& text) { judge.growth = parse_factor("--growth", text); },
      "largest growth of an error in one layer (2)")
      ->group(group);
  add_words(
      app, "--limit", "X",
      [&judge](const std::string& text) { judge.limit = parse_factor("--limit", text); },
      "an error of N times what inputs and dtype explain is a fault (2)")
      ->group(group);
  app.add_flag("--require-all", judge.require_all, "a tensor on one side only is a failure")
      ->group(group);
  add_text(app, "--from-json", command.from_json, "REPORT",
           "judge a report of --json again; takes no operands")
      ->group(group);
}

void declare_report(CLI::App& app, LayersCommand& command) {
  const char* group = "Report";
  app.add_flag("--all", command.all, "every layer")->group(group);
  app.add_flag("!--no-hints", command.layers.hints, "do not look for the cause")->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_text(app, "--junit", command.junit, "FILE", "write a JUnit report too")->group(group);
  add_text(app, "--html", command.html, "FILE", "write an HTML report too")->group(group);
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
      "Exit status: 0 nothing broke, 1 something broke or drifted, a dump is wrong or something "
      "is\n"
      "missing, 2 trouble: nothing is paired, or watching changed the result.\n"
      "Examples:\n"
      "  btftool layers trt/ torch/\n"
      "  btftool layers --graph model.onnx out.npz golden.npz\n"
      "  btftool layers --compute fp16 --html report.html out.npz golden.npz");
}

namespace {

// What says how the files are read says so to the next command too. An option and its word are two.
std::vector<std::string> reading_words(const CLI::App& app) {
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
      throw Wrong(std::string(option) + " needs --graph with a model");
  exclude(app, "--from-json",
          {"--graph", "--map", "--pairs", "--files-from", "--baseline", "--expect-output",
           "--actual-spec", "--golden-spec", "--layout-in", "--nvmedia", "--dequantize",
           "--actual-scale", "--golden-scale", "--block", "--part"});
  check_blocks(app);
  exclude(app, "--pairs", {"--part"});
  check_reports(command.junit, command.html);
  command.scales = reading_words(app);
  command.deciding = words_given_but(
      app, {"--all", "--json", "--junit", "--html", "--pairs", "--part", "--shard", "--resume"});
  take_operands(command.from_json.has_value(), operands, command.actual, command.golden);
  finish_part(app, operands, {"--all", "--json", "--junit", "--html"}, command.part);
}

namespace {

// The options of fit.

// "fp16" or "fp16,int8"
void take_dtypes(std::vector<btf::DType>& dtypes, const std::string& text) {
  dtypes.clear();
  for (const std::string_view word : split(text, ',')) {
    const btf::DType dtype = value_or_throw(btf::parse_dtype(word));
    if (dtype != btf::DType::float16 && dtype != btf::DType::bfloat16 && !btf::fits_by_scale(dtype))
      throw Wrong(
          "--dtype takes float16, bfloat16 and signed types of 8 bits or fewer, as int8 and "
          "fp8, not '" +
          std::string(word) + "'");
    if (std::ranges::find(dtypes, dtype) != dtypes.end())
      throw Wrong("--dtype names " + std::string(word) + " twice");
    dtypes.push_back(dtype);
  }
}

// "autocast" and a file
void take_emit(std::vector<FitListFile>& lists, const std::string& word, const std::string& path) {
  std::string names;
  std::vector<std::string_view> words;
  for (const auto& form : btf::fit_list_forms()) {
    names += (names.empty() ? "" : "|") + std::string(form.name);
    words.push_back(form.name);
    if (form.name == word) lists.push_back({form.value, path});
  }
  if (std::ranges::find(words, word) == words.end())
    throw Wrong("--emit takes " + names + " and a file, not '" + word + "'" +
                btf::did_you_mean(word, words));
  if (path.empty() || path == "-")
    throw Wrong("--emit " + word + " takes a file to write to, not '" + path + "'");
}

}  // namespace

void declare_lists(CLI::App& app, std::vector<FitListFile>& lists) {
  app.add_option_function<std::vector<std::string>>(
         "--emit",
         [&lists](const std::vector<std::string>& words) { take_emit(lists, words[0], words[1]); },
         "write the list of layers that must stay wide as another tool\n"
         "takes it: autocast, onnxconverter, trtexec, polygraphy, or\n"
         "names, one a line; of a type with scales: scales, in JSON")
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
      [&command](const std::string& text) { take_dtypes(command.fit.dtypes, text); },
      "the types to fit: fp16, bf16; with scales: int8, fp8, and\n"
      "other signed types of 8 bits or fewer (fp16)")
      ->group(what);
  add_text(app, "--graph", command.fit.graph, "MODEL",
           "the ONNX model, with its weights: what is computed from\n"
           "what; without it tensors are measured and no layer is judged")
      ->group(what);
  const char* group = "Report";
  app.add_flag("--all", command.all, "every layer and tensor, and every reason")->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_text(app, "--html", command.html, "FILE", "write an HTML report too")->group(group);
  declare_lists(app, command.emit);
  declare_part(app, command.part);
  app.footer(
      "Exit status: 0 all that can be judged fits, 1 something must stay wide, or no scale\nholds "
      "it, 2 trouble.\n"
      "Examples:\n"
      "  btftool fit --graph model.onnx golden.npz\n"
      "  btftool fit --dtype fp16,bf16 --graph model.onnx run1.npz run2.npz\n"
      "  btftool fit --graph model.onnx --emit names wide.txt golden/\n"
      "  btftool fit --dtype int8,fp8 --graph model.onnx golden.npz");
}

void finish_fit(const CLI::App& app, FitCommand& command,
                const std::vector<std::string>& operands) {
  if (operands.empty()) throw Wrong("missing operand GOLDEN");
  if (std::ranges::count(operands, "-") > 1) throw Wrong("stdin can be one operand, not several");
  command.dumps = operands;
  command.deciding = words_given_but(
      app, {"--all", "--json", "--html", "--emit", "--part", "--shard", "--resume"});
  check_reports(std::nullopt, command.html);
  if (const std::string trouble = trouble_of_lists(command); !trouble.empty()) throw Wrong(trouble);
  finish_part(app, operands, {"--all", "--json", "--html", "--emit"}, command.part);
}

std::string trouble_of_lists(const FitCommand& command) {
  if (command.emit.empty()) return "";
  for (const FitListFile& emit : command.emit)
    if (command.html && emit.path == *command.html)
      return "--emit and --html name the same file '" + emit.path + "'";
  if (command.fit.dtypes.size() > 1) return "--emit takes one --dtype: a list is of one type";
  const bool scaled = btf::fits_by_scale(command.fit.dtypes[0]);
  const std::string type(btf::info(command.fit.dtypes[0]).name);
  for (const FitListFile& emit : command.emit)
    if (btf::lists_scales(emit.form) != scaled)
      return scaled ? "--emit lists layers for float16 and bfloat16; of " + type +
                          " it writes scales: --emit scales FILE"
                    : "--emit scales takes a --dtype with scales, as int8, not " + type;
  if (!scaled && !command.fit.graph)
    return "--emit needs --graph: without it there is no list of layers";
  return "";
}

}  // namespace btftool
