// The commands layers and fit.
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "btf/did_you_mean.h"
#include "btf/tensorrt.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/rows.h"

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

void take_graph(const std::string& option, const std::string& path, btf::LayerOptions& layers) {
  const btf::Result<bool> found = btf::is_engine_list(path);
  if (!found) throw OptionError(option + ": " + found.error().text());
  const bool engine = *found;
  std::optional<std::string>& graph = engine ? layers.engine : layers.graph;
  if (graph)
    throw OptionError(option + " takes only one " + (engine ? "layer list of an engine" : "model") +
                      ", not both " + *graph + " and " + path);
  graph = path;
}

// "fp16", "softmax*=fp32", or several of these with commas between them
void take_compute(const std::string& option, const std::string& text, btf::LayerLimits& judge) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.rfind('=');
    const std::string_view type = mark == word.npos ? word : word.substr(mark + 1);
    const btf::DType dtype = value_or_throw(btf::parse_dtype(type));
    if (mark == word.npos) {
      if (judge.compute) throw OptionError(option + " is given more than once for all layers");
      judge.compute = dtype;
      continue;
    }
    std::string glob(word.substr(0, mark));
    if (const std::string error = glob_error(glob); !error.empty())
      throw OptionError(option + " " + text + ": the glob '" + glob + "' " + error);
    judge.computes.push_back({std::move(glob), dtype});
  }
}

btf::DType parse_accumulate(const std::string& option, const std::string& text) {
  const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
  if (dtype != btf::DType::float32 && dtype != btf::DType::float16 && dtype != btf::DType::bfloat16)
    throw OptionError(option + " takes float32, float16 or bfloat16, not '" + text + "'");
  return dtype;
}

std::vector<Option> name_options(LayersCommand& command) {
  return {
      {"--order", text("FILE", command.order),
       "the names of GOLDEN in the order of execution, one a line", kReads | sets("order")},
      {"--graph", repeated("MODEL", command.layers, take_graph),
       "the ONNX model, which has the order of layers and their inputs;\n"
       "or the layer list of a TensorRT engine, which has the order,\n"
       "the fusions and the dtypes; may be given once for each",
       kOfInput | kReadsSet | sets("graph")},
      {"--map", text("FILE", command.map),
       "which names belong together: FILE has lines ACTUAL<tab>GOLDEN\nor /REGEX/REPLACEMENT/",
       kOfInput | kReads | sets("map NameMap=FILE")},
      files_from(command.listed),
      {"--pairs", flag(command.pairs), "print the pairs of names instead of a report",
       kOfInput | kAside | excludes("--json --junit --html --all --part")},
  };
}

std::vector<Option> recomputed_options(btf::LayerOptions& options) {
  return {
      {"--weights", choice<bool>(options.spot_checks, {{"yes", true}, {"no", false}}),
       "recompute elements of each layer from its own inputs and\nthe weights of the model (yes)"},
      {"--actual-graph", text("MODEL", options.actual_graph),
       "the ONNX model that ACTUAL was computed by, if it is not the\none of --graph but, say, a "
       "quantised one",
       kReadsSet},
      {"--accumulate", parsed("T", options.accumulate, parse_accumulate),
       "the dtype in which the device accumulates products (float32)"},
  };
}

std::vector<Option> judgement_options(LayersCommand& command) {
  btf::LayerLimits& judge = command.layers.judge;
  return {
      {"--compute", repeated("[GLOB=]T", judge, take_compute),
       "the dtype in which ACTUAL was computed, if it is not that of the\n"
       "files; softmax*=fp32 applies to layers with such names; several\n"
       "are separated by commas",
       sets("judge.compute")},
      {"--baseline", text("SET", command.baseline),
       "dumps of a correct run in the precision of the device, which\nshow the error to expect",
       kOfInput | kReadsSet},
      {"--isolated", flag(judge.isolated), "each layer of ACTUAL was run with the inputs of GOLDEN",
       sets("judge.isolated")},
      {"--expect-output", text("SET", command.expected),
       "outputs of a run without dumping, which ACTUAL must reproduce", kOfInput | kReadsSet},
      {"--max-error", parsed("PART", judge.most_error, parse_fraction),
       "largest relative error of outputs that is accepted: 0.01 or 1%\n(50%)"},
      {"--max-own-error", parsed("PART", judge.most_own_error, parse_fraction),
       "largest relative error that a layer may add by itself: 0.001 or\n"
       "0.1% (no limit); for layers that are recomputed with --graph"},
      {"--growth", parsed("X", judge.growth, parse_factor),
       "largest factor by which an error may grow in one layer (2)"},
      {"--limit", parsed("X", judge.limit, parse_factor),
       "a layer is faulty if its error is above X times what its inputs\nand its dtype explain "
       "(2)"},
      {"--require-all", flag(judge.require_all), "fail if a tensor is on one side only"},
      {"--from-json", text("REPORT", command.from_json),
       "judge a report of --json again; without operands", kSaved | kReads},
  };
}

class LayersArguments final : public Subcommand {
 public:
  LayersArguments() {
    btf::LayerOptions& options = command_.layers;
    table_ = {
        .name = "layers",
        .help = "compare the layers that two runs dumped: which broke first, and why",
        .operands = "ACTUAL GOLDEN",
        .operands_help = "files or directories of tensors: the run to check, and the\nreference",
        .most_used = "--graph --compute --map --html --json",
        .groups = {{"Pairs and order", name_options(command_)},
                   {"Recomputed layers (with --graph)", recomputed_options(options)},
                   {"Judgement", judgement_options(command_)},
                   {kCompared, scale_options({options.dequantize, options.scale_blocks,
                                              options.actual_scale, options.golden_scale})},
                   {"Report",
                    {{"--all", flag(command_.all), "print every layer", kReport},
                     {"!--no-hints", flag(options.hints), "do not look for the cause of a fault"},
                     {"--json", flag(command_.json), "print one JSON document", kReport},
                     {"--junit", text("FILE", command_.junit), "also write a JUnit report",
                      kReport | kWrites},
                     {"--html", text("FILE", command_.html), "also write an HTML report",
                      kReport | kWrites}}},
                   part_options(command_.part),
                   specs_of_both(actual_spec_, golden_spec_,
                                 "what raw files of ACTUAL hold: fp16:hwc8:1x3x224x224, or\n"
                                 "fp16:hwc8 with the dims of GOLDEN. For JSON of trtexec: int64,\n"
                                 "or ids*=int64 for outputs with such names. @engine.json is the\n"
                                 "layer list of a TensorRT engine, for files named after its\n"
                                 "tensors")},
        .footer =
            "Exit status: 0 nothing broke, 1 a layer broke or drifted, a dump is wrong or a tensor "
            "is\nmissing, 2 trouble, such as no pairs, or dumping changed the result.\n"
            "Examples:\n"
            "  btftool layers trt/ torch/\n"
            "  btftool layers --graph model.onnx out.npz golden.npz\n"
            "  btftool layers --compute fp16 --html report.html out.npz golden.npz",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions& global) override {
    LayersCommand& command = command_;
    if (!command.from_json) expect({"ACTUAL", "GOLDEN"});
    for (const char* const option : {"--weights", "--actual-graph", "--accumulate"})
      if (given.has(option) && !command.layers.graph)
        throw OptionError(std::string(option) + " needs --graph with a model");
    check_reports(command.junit, command.html);
    // The report prints these in commands, where an option and its value are two words.
    for (const std::string& word : given.words_with(kOfPair | kOfFiles)) {
      const std::size_t mark = word.find('=');
      command.reading_options.push_back(word.substr(0, mark));
      if (mark != word.npos) command.reading_options.push_back(word.substr(mark + 1));
    }
    command.result_options = given.words_without(kReport | kAside);
    set_operands(command.from_json.has_value(), operands_, command.actual, command.golden);
    finish_part(given, operands_, command.part);
    finish_specs(actual_spec_, golden_spec_, command);
    for (auto [side, open] : {std::pair(&command.layers.actual, &command.open_actual),
                              std::pair(&command.layers.golden, &command.open_golden)}) {
      side->open.listed = command.listed;
      *open = side->open;
    }
    command.layers.execution = global.execution();
    return command;
  }

  LayersCommand command_;
  RawSpecs actual_spec_;
  RawSpecs golden_spec_;
};

// "fp16" or "fp16,int8"
std::vector<btf::DType> parse_dtypes(const std::string& option, const std::string& text) {
  std::vector<btf::DType> dtypes;
  for (const std::string_view word : split(text, ',')) {
    const btf::DType dtype = value_or_throw(btf::parse_dtype(word));
    if (dtype != btf::DType::float16 && dtype != btf::DType::bfloat16 && !btf::needs_scale(dtype))
      throw OptionError(option +
                        " takes float16, bfloat16 and signed dtypes of 8 bits or fewer such as "
                        "int8 and fp8, not '" +
                        std::string(word) + "'");
    if (std::ranges::find(dtypes, dtype) != dtypes.end())
      throw OptionError(option + " names " + std::string(word) + " twice");
    dtypes.push_back(dtype);
  }
  return dtypes;
}

// `text` is a form, such as "autocast", and the path of a file.
void take_fit_list(const std::string& option, const std::string& text,
                   std::vector<FitListFile>& lists) {
  const std::string word = text.substr(0, text.find('\n'));
  const std::string path = text.substr(word.size() + 1);
  std::string names;
  std::vector<std::string_view> words;
  for (const auto& form : btf::fit_list_forms()) {
    names += (names.empty() ? "" : "|") + std::string(form.name);
    words.push_back(form.name);
    if (form.name == word) lists.push_back({form.value, path});
  }
  if (std::ranges::find(words, word) == words.end())
    throw OptionError(option + " takes a form and a file; the form is " + names + ", not '" + word +
                      "'" + btf::did_you_mean(word, words));
  if (path.empty() || path == "-")
    throw OptionError(option + " " + word + " takes a file name, not '" + path + "'");
}

}  // namespace

Option emit_option(std::vector<FitListFile>& lists) {
  return {"--emit", taken(Value::Kind::pair, "FORM FILE", lists, take_fit_list),
          "write the layers that must stay in float32 in the form that\n"
          "another tool reads: autocast, onnxconverter, trtexec,\n"
          "polygraphy, or names, one a line; for a dtype with scales:\n"
          "scales, as JSON",
          kReport};
}

namespace {

class FitArguments final : public Subcommand {
 public:
  FitArguments() {
    table_ = {
        .name = "fit",
        .help = "find the layers that can run in fp16 or bf16, and scales for int8 or fp8",
        .operands = "GOLDEN...",
        .operands_help = "dumps of float32 runs, each a file or directory of tensors",
        .most_used = "--dtype --graph --emit --all --json",
        .groups = {{"What is judged",
                    {{"--dtype", parsed("T[,T]", command_.fit.dtypes, parse_dtypes),
                      "the dtypes to try: fp16 and bf16; with scales int8, fp8 and\n"
                      "other signed dtypes of 8 bits or fewer (fp16)"},
                     {"--graph", text("MODEL", command_.fit.graph),
                      "the ONNX model with its weights; without it, tensors are\n"
                      "measured but no layers are judged",
                      kReadsSet}}},
                   {"Report",
                    {{"--all", flag(command_.all), "print every layer, tensor and reason", kReport},
                     {"--json", flag(command_.json), "print one JSON document", kReport},
                     {"--html", text("FILE", command_.html), "also write an HTML report",
                      kReport | kWrites},
                     emit_option(command_.emit)}},
                   part_options(command_.part),
                   input_spec(spec_)},
        .footer =
            "Exit status: 0 all layers that can be judged fit, 1 some must stay in float32 or "
            "no scale suits\nthem, 2 trouble.\n"
            "Examples:\n"
            "  btftool fit --graph model.onnx golden.npz\n"
            "  btftool fit --dtype fp16,bf16 --graph model.onnx run1.npz run2.npz\n"
            "  btftool fit --graph model.onnx --emit names wide.txt golden/\n"
            "  btftool fit --dtype int8,fp8 --graph model.onnx golden.npz",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions& global) override {
    if (operands_.empty()) throw OptionError("missing operand GOLDEN");
    if (std::ranges::count(operands_, "-") > 1)
      throw OptionError("only one operand can be - (stdin)");
    command_.dumps = operands_;
    command_.result_options = given.words_without(kReport | kAside);
    check_reports(std::nullopt, command_.html);
    if (const std::string error = emit_error(command_); !error.empty()) throw OptionError(error);
    finish_part(given, operands_, command_.part);
    command_.open = spec_.finish();
    command_.fit.execution = global.execution();
    return command_;
  }

  FitCommand command_;
  RawSpecs spec_;
};

}  // namespace

std::unique_ptr<Subcommand> layers_command() { return std::make_unique<LayersArguments>(); }
std::unique_ptr<Subcommand> fit_command() { return std::make_unique<FitArguments>(); }

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
