#include "cli/diff.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "btf/output.h"
#include "cli/arguments.h"
#include "cli/diff_arguments.h"
#include "cli/scales.h"
#include "cli/shards.h"

namespace btftool {
namespace {

void check(const btf::Status& status) {
  if (!status) throw Wrong(status.error().message);
}

template <typename T>
void add_tolerance(CLI::App& app, const std::string& names,
                   std::optional<T> btf::Tolerance::* member, DiffCommand& command,
                   const std::string& help) {
  const std::string option = names.substr(0, names.find(','));
  add_repeated(
      app, names, std::is_same_v<T, double> ? "X" : "N",
      [=, &command](const std::string& text) {
        check(parse_tolerances(option, text, member, command.diff.tolerance,
                               command.tensor_tolerances));
      },
      help)
      ->group("Tolerances, for each pair of elements");
}

void declare_tolerances(CLI::App& app, DiffCommand& command) {
  btf::Tolerance& tolerance = command.diff.tolerance;
  add_tolerance(app, "--rtol,--rel-tol", &btf::Tolerance::rtol, command,
                "accept |actual - golden| <= atol + rtol * |golden|;\n"
                "0=1e-3,-1=1e-2: for single tensors of ACTUAL;\n"
                "1e-5,conv*=1e-2: for those whose name matches, and\nfor all others");
  add_tolerance(app, "--atol,--abs-tol", &btf::Tolerance::atol, command, "see --rtol");
  add_tolerance(app, "--ulp", &btf::Tolerance::ulp, command,
                "accept N representable steps of the coarser dtype");
  app.add_flag("--close", tolerance.close,
               "rtol and atol that fit the coarser dtype, where not given")
      ->group("Tolerances, for each pair of elements");
  add_words(
      app, "--close-as", "T",
      [&tolerance](const std::string& text) {
        const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
        if (!btf::info(dtype).floating())
          throw Wrong("--close-as takes a float, not " + std::string(btf::info(dtype).name));
        tolerance.close_as = dtype;
        tolerance.close = true;
      },
      "--close of floats that are numbers of this dtype,\n"
      "whatever they are stored in: fp16 of a float32 dump")
      ->group("Tolerances, for each pair of elements");
  app.add_flag("--equal-nan,!--no-equal-nan", tolerance.equal_nan, "NaN equals NaN (the default)")
      ->group("Tolerances, for each pair of elements");
}

void add_limit(CLI::App& app, const btf::FigureInfo& row, std::optional<double>& target) {
  const std::string name = "--" + std::string(row.name);
  const std::string type = row.at_least ? "MIN" : "MAX";
  add_words(
      app, name, type,
      [&target, &row, name](const std::string& text) {
        target = value_or_throw(parse_limit(name, text, row)) +
                 0.0;  // never -0
      },
      std::string(row.meaning) + (row.at_least ? " at least " : " at most ") + type +
          (row.unit.empty() ? "" : " " + std::string(row.unit)))
      ->group("Gates, for each tensor as a whole");
}

void declare_gates(CLI::App& app, DiffCommand& command) {
  btf::Gates& gates = command.diff.gates;
  const char* group = "Gates, for each tensor as a whole";
  add_words(
      app, "--max-mismatch", "N|P%",
      [&gates](const std::string& text) {
        gates.max_mismatch = value_or_throw(parse_mismatch_limit(text));
      },
      "allow up to N mismatches, or P% of the elements")
      ->group(group);
  for (const btf::FigureInfo* row : btf::figure_gates()) add_limit(app, *row, gates.*row->limit);
  app.add_option_function<std::vector<std::string>>(
         "--quantile",
         [&gates](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) check(parse_quantiles(text, gates.quantiles));
         },
         "Q-quantile of the absolute errors: 0.99=1e-3")
      ->type_name("Q=MAX")
      ->allow_extra_args(false)
      ->group(group);
  add_count(
      app, "--top-k", 1, UINT64_MAX, [&gates](std::uint64_t k) { gates.top_k = k; },
      "the indices of the N largest of the last dim agree")
      ->group(group);
}

void add_globs(CLI::App& app, const std::string& name, std::vector<std::string>& target,
               const std::string& help) {
  app.add_option(name, target, help)
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->group("What is compared");
}

void declare_selection(CLI::App& app, DiffCommand& command) {
  const char* group = "What is compared";
  add_text(app, "--tensor", command.tensors, "SEL", "which tensors, of both files: 0,2-5,-1")
      ->group(group);
  add_words(
      app, "--pair", "A:G,...",
      [&command](const std::string& text) { command.pairs = value_or_throw(parse_pairs(text)); },
      "which tensor of ACTUAL with which of GOLDEN, by numbers\nor names: 0:3,conv1:fc")
      ->group(group);
  add_choice(
      app, "--pair-by", command.diff.pair_by, btf::pair_by_names(),
      "tensors are pairs by their names, if both sides have\nsome, or by their numbers; where "
      "no name is on both\nsides, by what names have in common; exact: equal\nnames only")
      ->group(group);
  add_text(app, "--map", command.map, "FILE",
           "names that belong together: lines ACTUAL<tab>GOLDEN or\n/REGEX/REPLACEMENT/")
      ->group(group);
  add_text(app, "--rules", command.rules, "FILE",
           "tolerances and specs by names of tensors, as JSON")
      ->group(group);
  app.add_flag("--strict", command.diff.strict, "another dtype or layout is a difference too")
      ->group(group);
  add_scales(app,
             {command.diff.dequantize, command.diff.scale_blocks, command.diff.actual_scale,
              command.diff.golden_scale},
             group);
  app.add_flag("--codes", command.diff.codes,
               "compare blocks of GGUF as their bytes, not as numbers")
      ->group(group);
  add_words(
      app, "--permute", "P",
      [&command](const std::string& text) {
        command.diff.permute = value_or_throw(parse_permute(text));
      },
      "compare ACTUAL with its dims in this order: 0,3,1,2;\ntensors that have as many dims")
      ->group(group);
  add_words(
      app, "--squeeze", "",
      [&command](const std::string& text) {
        if (text != kAllDims) throw Wrong("--squeeze takes no dims here, not '" + text + "'");
        command.diff.squeeze = true;
      },
      "compare both sides without their dims of 1")
      ->group(group);
  add_choice<bool>(app, "--reshape", command.diff.reshape_actual, {{"actual", true}},
                   "compare ACTUAL with the dims of GOLDEN, if it has as\nmany elements")
      ->group(group);
  add_files_from(app, command.listed,
                 "of directories: these files, a line for each, in place of\nall; - is stdin")
      ->group(group);
  add_globs(app, "--include", command.include,
            "directories: only files whose path or name matches");
  add_globs(app, "--exclude", command.exclude, "directories: without these");
  add_text(app, "--from-json", command.from_json, "REPORT",
           "judge a report of --json again, by other limits;\ntakes no operands")
      ->group(group);
}

void declare_details(CLI::App& app, DiffCommand& command) {
  const char* group = "Report";
  add_count(
      app, "--show", 0, 1000000, [&command](std::uint64_t n) { command.diff.show = n; },
      "number of first and of largest mismatches shown (3)")
      ->group(group);
  add_words(
      app, "--heatmap", "[AXES]",
      [&command](const std::string& text) {
        command.diff.heatmap.emplace();
        if (text != kPickedAxes) command.diff.heatmap->axes = value_or_throw(parse_axes(text));
      },
      "draw where the mismatches are, over one dim or two: 2,3")
      ->group(group);
  app.add_flag("!--no-hints", command.diff.hints, "do not look for the cause")->group(group);
}

}  // namespace

void declare_reports(CLI::App& app, DiffCommand& command) {
  const char* group = "Report";
  app.add_flag("--all", command.all, "every tensor in full, without a limit")->group(group);
  add_choice<btf::DiffSort>(
      app, "--sort", command.sort,
      {{"order", btf::DiffSort::order},
       {"error", btf::DiffSort::error},
       {"cosine", btf::DiffSort::cosine}},
      "of many tensors: the lines in their order (the\ndefault), or the worst first")
      ->group(group);
  app.add_flag("--summary", command.summary, "one line a pair of files")->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_choice<btf::JsonSchema>(app, "--json-schema", command.json_schema,
                              {{"2", btf::JsonSchema::sets}, {"1", btf::JsonSchema::files}},
                              "version of its schema; 1 is that of btftool 0.1")
      ->group(group);
  add_text(app, "--junit", command.junit, "FILE", "write a JUnit report too")->group(group);
  add_text(app, "--html", command.html, "FILE", "write an HTML report too")->group(group);
}

namespace {

btf::PictureRange parse_image_range(const std::string& text) {
  const auto words = split(text, ',');
  btf::PictureRange range;
  if (words.size() == 2) {
    range.least = parse_real(words[0]);
    range.greatest = parse_real(words[1]);
  }
  if (!range.least || !range.greatest || *range.least > *range.greatest)
    throw Wrong("--image-range takes the numbers at both ends of the colours such as -1,1, not '" +
                text + "'");
  return range;
}

}  // namespace

void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group) {
  add_choice(app, "--image-as", command.form,
             {{"auto", std::nullopt},
              {"blocks", btf::PictureForm::blocks},
              {"kitty", btf::PictureForm::kitty},
              {"sixel", btf::PictureForm::sixel}},
             "in the terminal: half blocks in colour, or a\nprotocol (auto)")
      ->group(group);
  add_words(
      app, "--image-range", "A,B",
      [&command](const std::string& text) { command.draw.range = parse_image_range(text); },
      "numbers at the ends of the colours (least, greatest)")
      ->group(group);
  add_count(
      app, "--image-zoom", 1, 256,
      [&command](std::uint64_t n) { command.draw.zoom = static_cast<std::uint32_t>(n); },
      "side of an element's square in pixels")
      ->group(group);
}

void declare_diff(CLI::App& app, DiffCommand& command) {
  command.diff.show = 3;
  declare_tolerances(app, command);
  declare_gates(app, command);
  declare_selection(app, command);
  declare_details(app, command);
  declare_reports(app, command);
  const char* const pictures = "Picture";
  add_text(app, "--image", command.image.path, "FILE",
           "a PNG of the tensor that differs most: actual,\ngolden, error; - is the terminal")
      ->group(pictures);
  add_words(
      app, "--image-at", "SLICE",
      [&command](const std::string& text) {
        command.image.draw.part = value_or_throw(parse_slice(text));
      },
      "what of it is drawn: 0,:,:,:")
      ->group(pictures);
  declare_picture(app, command.image, pictures);
  declare_part(app, command.part);
  declare_shard_by(app, command.part);
  app.footer(
      "Two directories: files with the same relative path are compared. A directory and a file:\n"
      "the file of that name in the directory.\n"
      "Without tolerances and gates, elements must be equal. Every criterion given must hold.\n"
      "Exit status: 0 same, 1 different, 2 trouble (comparing nothing is trouble).\n"
      "Examples:\n"
      "  btftool diff out.btf golden.btf\n"
      "  btftool diff --rtol 1e-3,2=1e-2 --atol 1e-5 out.btf golden.btf\n"
      "  btftool diff --close --max-mismatch 0.1% --cosine 0.999 out.btf golden.btf\n"
      "  btftool diff --pair 0:3,1:0 --heatmap -2,-1 out.btf golden.btf\n"
      "  btftool diff --close --include '*.btf' --summary --junit report.xml out/ golden/");
}

void finish_reports(const CLI::App& app, const DiffCommand& command) {
  exclude(app, "--summary", {"--json", "--all", "--sort"});
  exclude(app, "--sort", {"--json"});
  if (given(app, "--json-schema") && !command.json) throw Wrong("--json-schema goes with --json");
  check_reports(command.junit, command.html);
}

// Do they say how two tensors are compared, and not which, nor what is said of them?
bool is_of_pair(const std::string& name) {
  static constexpr std::string_view kOthers[] = {
      "--tensor",   "--pair",        "--pair-by",   "--map",         "--include", "--exclude",
      "--heatmap",  "--all",         "--sort",      "--files-from",  "--summary", "--json",
      "--junit",    "--html",        "--part",      "--json-schema", "--shard",   "--shard-by",
      "--resume",   "--rules",       "--help",      "--help-all",    "--output",  "--rtol",
      "--atol",     "--ulp",         "--show",      "--no-hints",    "--image",   "--image-at",
      "--image-as", "--image-range", "--image-zoom"};
  return std::ranges::find(kOthers, name) == std::end(kOthers);
}

// Do they decide what is compared and how?
bool compares(const std::string& name) {
  static constexpr std::string_view kOthers[] = {
      "--all",      "--sort",        "--summary",   "--json",     "--junit",  "--html",
      "--part",     "--json-schema", "--shard",     "--shard-by",    "--resume",
      "--help",     "--help-all",    "--output",    "--image",       "--image-at",
      "--image-as", "--image-range", "--image-zoom"};
  return std::ranges::find(kOthers, name) == std::end(kOthers);
}

namespace {

void check_picture(const CLI::App& app, const DiffCommand& command) {
  if (!command.image.path) {
    for (const char* option : {"--image-at", "--image-as", "--image-range", "--image-zoom"})
      if (given(app, option)) throw Wrong(std::string(option) + " needs --image");
    return;
  }
  if (command.from_json)
    throw Wrong("--image draws elements, and the report of --from-json has no elements");
  if (command.part)
    throw Wrong(
        "--image draws the worst tensor of all, and --part compares some of them: draw it "
        "by --tensor or --pair once the parts are merged");
  if (command.json && btf::is_standard_output(*command.image.path))
    throw Wrong("--image " + *command.image.path + " and --json would share standard output");
  for (const auto& [option, path] :
       {std::pair("--junit", command.junit), std::pair("--html", command.html)})
    if (path == command.image.path)
      throw Wrong("--image and " + std::string(option) + " name the same file '" + *path + "'");
}

}  // namespace

void finish_diff(const CLI::App& app, DiffCommand& command,
                 const std::vector<std::string>& operands) {
  exclude(app, "--tensor", {"--pair"});
  exclude(app, "--pair", {"--pair-by", "--map"});
  if (command.map && command.diff.pair_by != btf::PairBy::automatic &&
      command.diff.pair_by != btf::PairBy::name)
    throw Wrong("--map can only be combined with --pair-by auto and name");
  check_picture(app, command);
  exclude(app, "--summary", {"--show"});
  if (!command.html) exclude(app, "--summary", {"--heatmap"});
  exclude(app, "--from-json",
          {"--tensor",      "--pair",       "--pair-by",      "--map",          "--strict",
           "--include",     "--exclude",    "--files-from",   "--heatmap",      "--actual-spec",
           "--golden-spec", "--layout-in",  "--nvmedia",      "--permute",      "--squeeze",
           "--reshape",     "--dequantize", "--actual-scale", "--golden-scale", "--block",
           "--codes",       "--part"});
  exclude(app, "--codes", {"--dequantize"});
  check_blocks(app);
  finish_reports(app, command);
  finish_part(app, operands,
              {"--all", "--sort", "--summary", "--json", "--json-schema", "--junit", "--html"},
              command.part);
  take_operands(command.from_json.has_value(), operands, command.actual, command.golden);
  command.of_pair = words_given(app, is_of_pair);
  command.of_files = words_given(app, [](const std::string& name) {
    return name == "--include" || name == "--exclude" || name == "--files-from";
  });
  command.comparing = words_given(app, compares);
}

}  // namespace btftool
