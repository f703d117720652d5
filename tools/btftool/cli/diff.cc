#include "cli/diff.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "btf/dtype.h"
#include "btf/output.h"
#include "btf/try.h"
#include "cli/arguments.h"
#include "cli/convert.h"
#include "cli/inspect.h"

namespace btftool {
namespace {

using btf::Result;
using btf::Status;

std::unexpected<btf::Error> bad_value(std::string_view option, std::string_view expected,
                                      std::string_view found) {
  return btf::fail(btf::ErrorCode::invalid_argument, std::string(option) + " takes " +
                                                         std::string(expected) + ", not '" +
                                                         std::string(found) + "'");
}

std::optional<double> parse_value(std::string_view text, double) {
  const auto value = parse_real(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_value(std::string_view text, std::uint64_t) {
  return parse_unsigned(text);
}

}  // namespace

template <typename T>
Status parse_tolerances(std::string_view option, std::string_view text,
                        std::optional<T> btf::Tolerance::* member, btf::Tolerance& general,
                        std::vector<TensorTolerance>& single) {
  const std::string number =
      std::is_same_v<T, double> ? "a finite number, 0 or more" : "a whole number of steps, 0 or more";
  const auto refuse = [&](const std::string& why) {
    return btf::fail(btf::ErrorCode::invalid_argument, std::string(option) + " " + why);
  };
  for (const std::string_view word : split(text, ',')) {
    // Names may contain both, so the last one separates the value.
    const std::size_t equals = word.rfind('=');
    const std::size_t mark = equals == word.npos ? word.rfind(':') : equals;
    const auto value = parse_value(word.substr(mark == word.npos ? 0 : mark + 1), T{});
    if (mark == word.npos) {
      if (!value) return bad_value(option, number, word);
      if (general.*member)
        return btf::fail(
            btf::ErrorCode::invalid_argument,
            std::string(option) +
                " takes only one number for all tensors; TENSOR=X gives one for a single tensor");
      general.*member = value;
      continue;
    }
    const std::string name(word.substr(0, mark));
    const auto tensor = parse_integer(name);
    const std::string given(word.substr(mark + 1));
    if (!value)
      return bad_value(option, number + ", for " + (tensor ? "tensor " : "") + name, given);
    TensorTolerance entry{.tensor = tensor.value_or(0),
                          .glob = {},
                          .tolerance = {},
                          .source = std::string(option) + " " + std::string(word),
                          .text = std::string(option.substr(2)) + " " + given};
    if (!tensor) {
      entry.glob = name.starts_with('@') ? name.substr(1) : name;
      if (const std::string error = glob_error(*entry.glob); !error.empty())
        return refuse(std::string(word) + ": the glob '" + *entry.glob + "' " + error);
    }
    entry.tolerance.*member = value;
    single.push_back(std::move(entry));
  }
  return {};
}

template Status parse_tolerances<double>(std::string_view, std::string_view,
                                         std::optional<double> btf::Tolerance::*, btf::Tolerance&,
                                         std::vector<TensorTolerance>&);
template Status parse_tolerances<std::uint64_t>(std::string_view, std::string_view,
                                                std::optional<std::uint64_t> btf::Tolerance::*,
                                                btf::Tolerance&, std::vector<TensorTolerance>&);

Result<SplitRule> split_spec_rule(std::string_view option, std::string_view text) {
  // Text that begins with a dtype or "text:" is a spec, whose strides have a = too. TensorRT's
  // descriptions of formats contain "==".
  std::size_t mark = text.find('=');
  while (mark < text.size() && text.substr(mark).starts_with("==")) mark = text.find('=', mark + 2);
  const std::string_view begins = text.substr(0, std::min(text.find(':'), mark));
  if (mark == text.npos || btf::parse_dtype(begins) || text.starts_with("text:"))
    return SplitRule{.glob = {}, .spec = std::string(text)};
  SplitRule rule{.glob = std::string(text.substr(0, mark)),
                 .spec = std::string(text.substr(mark + 1))};
  if (const std::string error = glob_error(rule.glob); !error.empty())
    return btf::fail(
        btf::ErrorCode::invalid_argument,
        std::string(option) + " " + std::string(text) + ": the glob '" + rule.glob + "' " + error);
  return rule;
}

Result<SpecRule> parse_spec_rule(std::string_view option, std::string_view text) {
  BTF_ASSIGN(SplitRule parts, split_spec_rule(option, text));
  SpecRule rule{.glob = std::move(parts.glob),
                .spec = std::move(parts.spec),
                .source = std::string(option) + " " + std::string(text)};
  const Status status = check_spec(rule.spec);
  if (!status)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     std::string(option) + " " + status.error().message);
  return rule;
}

Status check_spec(const std::string& spec) {
  const auto whole = btf::parse_tensor_spec(spec);
  if (whole || btf::spec_without_dims(spec)) return {};
  return std::unexpected(whole.error());
}

Result<btf::GivenScale> parse_given_scale(std::string_view option, std::string_view text) {
  const auto refuse = [&] {
    return bad_value(option, "S, S,Z or AXIS:S,Z/S,Z/..., such as 0.02,-3", text);
  };
  btf::GivenScale given;
  std::string_view list = text;
  if (const std::size_t mark = text.find(':'); mark != text.npos) {
    const auto axis = parse_unsigned(text.substr(0, mark));
    if (!axis || *axis >= btf::kMaxRank) return refuse();
    given.axis = static_cast<std::uint32_t>(*axis);
    list = text.substr(mark + 1);
  }
  for (const std::string_view word : split(list, '/')) {
    const std::size_t comma = word.find(',');
    const auto scale = parse_real(word.substr(0, comma));
    const auto zero =
        comma == word.npos ? std::optional<std::int64_t>(0) : parse_integer(word.substr(comma + 1));
    if (!scale || !zero || *scale <= 0) return refuse();
    given.scales.push_back(*scale);
    given.zero_points.push_back(*zero);
  }
  if (!given.axis && given.scales.size() != 1) return refuse();
  return given;
}

Result<std::vector<std::string>> parse_pairs(std::string_view text) {
  std::vector<std::string> pairs;
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find(':', 1);
    const bool numbers = word.find_first_not_of("0123456789-:") == word.npos;
    const bool several = mark < word.size() && word.find(':', mark + 1) != word.npos;
    const bool splits = mark < word.size() - 1 && !(numbers && several);
    const auto number = [&](std::string_view side) { return !numbers || parse_integer(side); };
    if (!splits || !number(word.substr(0, mark)) || !number(word.substr(mark + 1)))
      return bad_value("--pair", "ACTUAL:GOLDEN, numbers or names, such as 0:3,conv1:fc", word);
    pairs.emplace_back(word);
  }
  return pairs;
}

Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view text) {
  btf::MismatchLimit limit;
  limit.percent = text.ends_with('%');
  if (limit.percent) {
    const auto share = parse_real(text.substr(0, text.size() - 1));
    if (!share || *share < 0 || *share > 100)
      return bad_value("--max-mismatch", "a percentage from 0% to 100%", text);
    limit.value = *share;
    return limit;
  }
  const auto count = parse_value(text, std::uint64_t{});
  if (!count)
    return bad_value("--max-mismatch", "a count or a percentage, such as 10 or 0.1%", text);
  limit.value = static_cast<double>(*count);
  return limit;
}

Result<double> parse_limit(std::string_view option, std::string_view text,
                           const btf::FigureInfo& figure) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const bool decibels = figure.unit == "dB";
  const double least = figure.least_limit();
  const double most = figure.most_limit();
  const auto value = decibels ? parse_decibels(text) : parse_real(text);
  if (value && *value >= least && *value <= most) return *value;
  if (decibels) return bad_value(option, "a number of decibels such as 30dB", text);
  if (most < kLargest)
    return bad_value(
        option, "a number from " + btf::number_text(least) + " to " + btf::number_text(most), text);
  return bad_value(option, least == 0 ? "a finite number, 0 or more" : "a finite number", text);
}

Status parse_quantiles(std::string_view text, std::vector<btf::QuantileGate>& gates) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find('=');
    const auto q = parse_real(word.substr(0, mark));
    const auto most = mark < word.size() ? parse_real(word.substr(mark + 1)) : std::nullopt;
    if (!q || !most || *q < 0 || *q > 1 || *most < 0)
      return bad_value("--quantile",
                       "Q=MAX with Q from 0 to 1 and MAX 0 or more, such as 0.99=1e-3", word);
    if (std::ranges::find(gates, *q, &btf::QuantileGate::q) != gates.end())
      return btf::fail(btf::ErrorCode::invalid_argument,
                       "--quantile " + btf::number_text(*q) + " is given more than once");
    gates.push_back({*q, *most});
  }
  return {};
}

Result<std::vector<std::int32_t>> parse_axes(std::string_view text) {
  std::vector<std::int32_t> axes;
  for (const std::string_view word : split(text, ',')) {
    const auto axis = parse_integer(word);
    constexpr auto kRank = std::int64_t{btf::kMaxRank};
    if (!axis || *axis < -kRank || *axis >= kRank)
      return bad_value("--heatmap", "one axis or two, such as 2,3 or -2,-1", text);
    axes.push_back(static_cast<std::int32_t>(*axis));
  }
  if (axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    return bad_value("--heatmap", "one axis or two different ones, such as 2,3 or -2,-1", text);
  return axes;
}

namespace {

void check(const btf::Status& status) {
  if (!status) throw OptionError(status.error().message);
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
                "0=1e-3,-1=1e-2: for these tensors of ACTUAL;\n"
                "1e-5,conv*=1e-2: for all tensors, and for those whose\nname matches");
  add_tolerance(app, "--atol,--abs-tol", &btf::Tolerance::atol, command, "see --rtol");
  add_tolerance(app, "--ulp", &btf::Tolerance::ulp, command,
                "accept N steps between representable numbers of the\ncoarser dtype");
  app.add_flag("--close", tolerance.close,
               "use rtol and atol that suit the coarser dtype, where they\nare not given")
      ->group("Tolerances, for each pair of elements");
  add_words(
      app, "--close-as", "T",
      [&tolerance](const std::string& text) {
        const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
        if (!btf::info(dtype).floating())
          throw OptionError("--close-as takes a floating-point dtype, not " +
                            std::string(btf::info(dtype).name));
        tolerance.close_as = dtype;
        tolerance.close = true;
      },
      "like --close, for values that were computed in T,\n"
      "whatever dtype they are stored in: fp16 for a float32\n"
      "dump of an fp16 run")
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
        target = value_or_throw(parse_limit(name, text, row)) + 0.0;  // never -0
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
  add_text(app, "--tensor", command.tensors, "SEL",
           "compare only these tensors of both files: 0,2-5,-1")
      ->group(group);
  add_words(
      app, "--pair", "A:G,...",
      [&command](const std::string& text) { command.pairs = value_or_throw(parse_pairs(text)); },
      "compare these pairs of tensors, by numbers or names:\n0:3,conv1:fc")
      ->group(group);
  add_choice(
      app, "--pair-by", command.diff.pair_by, btf::pair_by_names(),
      "how to pair tensors. auto: by name if both sides have\nnames, else by number; if no name is "
      "on both sides, by\nwhat names have in common. exact: only equal names")
      ->group(group);
  add_text(app, "--map", command.map, "FILE",
           "which names belong together: FILE has lines\nACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/")
      ->group(group);
  add_text(app, "--rules", command.rules, "FILE", "tolerances and specs by tensor name, in JSON")
      ->group(group);
  app.add_flag("--strict", command.diff.strict, "a different dtype or layout is a difference too")
      ->group(group);
  add_scales(app,
             {command.diff.dequantize, command.diff.scale_blocks, command.diff.actual_scale,
              command.diff.golden_scale},
             group);
  app.add_flag("--codes", command.diff.codes,
               "compare blocks of GGUF by their bytes, not as numbers")
      ->group(group);
  add_words(
      app, "--permute", "P",
      [&command](const std::string& text) {
        command.diff.permute = value_or_throw(parse_permute(text));
      },
      "reorder the dims of ACTUAL before comparing: 0,3,1,2;\napplies to tensors of that rank")
      ->group(group);
  add_words(
      app, "--squeeze", "",
      [&command](const std::string& text) {
        if (text != kAllDims) throw OptionError("--squeeze takes no dims here, not '" + text + "'");
        command.diff.squeeze = true;
      },
      "ignore dims of size 1 on both sides")
      ->group(group);
  add_choice<bool>(app, "--reshape", command.diff.reshape_actual, {{"actual", true}},
                   "give ACTUAL the dims of GOLDEN where both have the same\nnumber of elements")
      ->group(group);
  add_files_from(app, command.listed, kFilesFromHelp)->group(group);
  add_globs(app, "--include", command.include,
            "from directories, take only files whose path or name\nmatches");
  add_globs(app, "--exclude", command.exclude, "from directories, leave out such files");
  add_text(app, "--from-json", command.from_json, "REPORT",
           "judge a report of --json again, with other limits;\nwithout operands")
      ->group(group);
}

void declare_details(CLI::App& app, DiffCommand& command) {
  const char* group = "Report";
  add_count(
      app, "--show", 0, 1000000, [&command](std::uint64_t n) { command.diff.show = n; },
      "print the first N and the largest N mismatches (3)")
      ->group(group);
  add_words(
      app, "--heatmap", "[AXES]",
      [&command](const std::string& text) {
        command.diff.heatmap.emplace();
        if (text != kAutomaticAxes) command.diff.heatmap->axes = value_or_throw(parse_axes(text));
      },
      "draw where the mismatches are, along one or two dims: 2,3")
      ->group(group);
  app.add_flag("!--no-hints", command.diff.hints, "do not look for the cause of a difference")
      ->group(group);
}

}  // namespace

void declare_reports(CLI::App& app, DiffCommand& command) {
  const char* group = "Report";
  app.add_flag("--all", command.all, "print every tensor in full, without a limit")->group(group);
  add_choice<btf::DiffSort>(
      app, "--sort", command.sort,
      {{"order", btf::DiffSort::order},
       {"error", btf::DiffSort::error},
       {"cosine", btf::DiffSort::cosine}},
      "order of the lines of many tensors: as in the files (the\ndefault), or the worst first")
      ->group(group);
  app.add_flag("--summary", command.summary, "print one line for each pair of files")->group(group);
  app.add_flag("--json", command.json, "print one JSON document")->group(group);
  add_choice<btf::JsonSchema>(app, "--json-schema", command.json_schema,
                              {{"2", btf::JsonSchema::sets}, {"1", btf::JsonSchema::files}},
                              "schema version of --json; 1 is that of btftool 0.1")
      ->group(group);
  add_text(app, "--junit", command.junit, "FILE", "also write a JUnit report")->group(group);
  add_text(app, "--html", command.html, "FILE", "also write an HTML report")->group(group);
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
    throw OptionError(
        "--image-range takes the two values at the ends of the colour scale, such as "
        "-1,1, not '" +
        text + "'");
  return range;
}

}  // namespace

void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group) {
  add_choice(
      app, "--image-as", command.form,
      {{"auto", std::nullopt},
       {"blocks", btf::PictureForm::blocks},
       {"kitty", btf::PictureForm::kitty},
       {"sixel", btf::PictureForm::sixel}},
      "how to draw in the terminal: as coloured half blocks, or\nby a graphics protocol (auto)")
      ->group(group);
  add_words(
      app, "--image-range", "A,B",
      [&command](const std::string& text) { command.draw.range = parse_image_range(text); },
      "values at the ends of the colour scale (the smallest and\nthe largest element)")
      ->group(group);
  add_count(
      app, "--image-zoom", 1, 256,
      [&command](std::uint64_t n) { command.draw.zoom = static_cast<std::uint32_t>(n); },
      "draw an element as a square of N x N pixels")
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
  add_text(
      app, "--image", command.image.path, "FILE",
      "draw the tensor that differs most as a PNG: actual,\ngolden and error; - is the terminal")
      ->group(pictures);
  add_words(
      app, "--image-at", "SLICE",
      [&command](const std::string& text) {
        command.image.draw.part = value_or_throw(parse_slice(text));
      },
      "draw only this slice of the tensor: 0,:,:,:")
      ->group(pictures);
  declare_picture(app, command.image, pictures);
  declare_part(app, command.part);
  declare_shard_by(app, command.part);
  app.footer(
      "Of two directories, files with the same relative path are compared; of a directory and a\n"
      "file, the file of that name in the directory.\n"
      "Without tolerances and gates, elements must be equal. With several criteria, all must "
      "hold.\n"
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
  if (given(app, "--json-schema") && !command.json) throw OptionError("--json-schema needs --json");
  check_reports(command.junit, command.html);
}

// Returns true for options that define how two tensors are compared, and not which ones or how the
// result is reported.
bool is_pair_option(const std::string& name) {
  static constexpr std::string_view kOthers[] = {
      "--tensor",   "--pair",        "--pair-by",   "--map",         "--include", "--exclude",
      "--heatmap",  "--all",         "--sort",      "--files-from",  "--summary", "--json",
      "--junit",    "--html",        "--part",      "--json-schema", "--shard",   "--shard-by",
      "--resume",   "--rules",       "--help",      "--help-all",    "--output",  "--rtol",
      "--atol",     "--ulp",         "--show",      "--no-hints",    "--image",   "--image-at",
      "--image-as", "--image-range", "--image-zoom"};
  return std::ranges::find(kOthers, name) == std::end(kOthers);
}

// Returns true for options that the result of the comparison depends on.
bool is_comparison_option(const std::string& name) {
  static constexpr std::string_view kOthers[] = {
      "--all",      "--sort",     "--summary",     "--json",      "--junit",
      "--html",     "--part",     "--json-schema", "--shard",     "--shard-by",
      "--resume",   "--help",     "--help-all",    "--output",    "--image",
      "--image-at", "--image-as", "--image-range", "--image-zoom"};
  return std::ranges::find(kOthers, name) == std::end(kOthers);
}

namespace {

void check_picture(const CLI::App& app, const DiffCommand& command) {
  if (!command.image.path) {
    for (const char* option : {"--image-at", "--image-as", "--image-range", "--image-zoom"})
      if (given(app, option)) throw OptionError(std::string(option) + " needs --image");
    return;
  }
  if (command.from_json)
    throw OptionError("--image needs files: a report of --from-json has no elements to draw");
  if (command.part)
    throw OptionError(
        "--image draws the worst of all tensors, but --part compares only some of them: merge the "
        "parts, then draw that tensor by --tensor or --pair");
  if (command.json && btf::is_standard_output(*command.image.path))
    throw OptionError("--image " + *command.image.path + " and --json would both go to stdout");
  for (const auto& [option, path] :
       {std::pair("--junit", command.junit), std::pair("--html", command.html)})
    if (path == command.image.path)
      throw OptionError("--image and " + std::string(option) + " name the same file '" + *path +
                        "'");
}

}  // namespace

void finish_diff(const CLI::App& app, DiffCommand& command,
                 const std::vector<std::string>& operands) {
  exclude(app, "--tensor", {"--pair"});
  exclude(app, "--pair", {"--pair-by", "--map"});
  if (command.map && command.diff.pair_by != btf::PairBy::automatic &&
      command.diff.pair_by != btf::PairBy::name)
    throw OptionError("--map can only be combined with --pair-by auto or name");
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
  set_operands(command.from_json.has_value(), operands, command.actual, command.golden);
  command.pair_options = words_given(app, is_pair_option);
  command.file_options = words_given(app, [](const std::string& name) {
    return name == "--include" || name == "--exclude" || name == "--files-from";
  });
  command.comparison_options = words_given(app, is_comparison_option);
}

}  // namespace btftool
