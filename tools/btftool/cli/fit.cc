// The options of fit.
#include <algorithm>

#include "btf/words/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/shards.h"
#include "cli/subcommands.h"

namespace btftool {
namespace {

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
