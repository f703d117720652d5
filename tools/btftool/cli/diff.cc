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
#include "cli/cli.h"
#include "cli/rows.h"

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

// Parses "1e-3", "0=1e-3,-1=1e-2" or "1e-5,conv*=1e-2". A number without a tensor goes into
// `general`, the others are appended to `single`. Polygraphy's notation "0:1e-3" works too.
template <typename T>
Status parse_tolerances(std::string_view option, std::string_view text,
                        std::optional<T> btf::Tolerance::* member, btf::Tolerance& general,
                        std::vector<TensorTolerance>& single) {
  const std::string number = std::is_same_v<T, double> ? "a finite number, 0 or more"
                                                       : "a whole number of steps, 0 or more";
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

}  // namespace

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

namespace {

// Splits "0:3,conv1:fc" at the commas. Names may contain colons, so pairs are split later, when the
// names of the tensors are known.
Result<std::vector<std::string>> parse_pairs(std::string_view option, std::string_view text) {
  std::vector<std::string> pairs;
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find(':', 1);
    const bool numbers = word.find_first_not_of("0123456789-:") == word.npos;
    const bool several = mark < word.size() && word.find(':', mark + 1) != word.npos;
    const bool splits = mark < word.size() - 1 && !(numbers && several);
    const auto number = [&](std::string_view side) { return !numbers || parse_integer(side); };
    if (!splits || !number(word.substr(0, mark)) || !number(word.substr(mark + 1)))
      return bad_value(option, "ACTUAL:GOLDEN, numbers or names, such as 0:3,conv1:fc", word);
    pairs.emplace_back(word);
  }
  return pairs;
}

// "10" or "0.1%"
Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view option, std::string_view text) {
  btf::MismatchLimit limit;
  limit.percent = text.ends_with('%');
  if (limit.percent) {
    const auto share = parse_real(text.substr(0, text.size() - 1));
    if (!share || *share < 0 || *share > 100)
      return bad_value(option, "a percentage from 0% to 100%", text);
    limit.value = *share;
    return limit;
  }
  const auto count = parse_value(text, std::uint64_t{});
  if (!count) return bad_value(option, "a count or a percentage, such as 10 or 0.1%", text);
  limit.value = static_cast<double>(*count);
  return limit;
}

// A limit for the figure. Its unit may be left out.
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

// "0.99=1e-3,0.5=1e-4", appended to `gates`.
Status parse_quantiles(std::string_view option, std::string_view text,
                       std::vector<btf::QuantileGate>& gates) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find('=');
    const auto q = parse_real(word.substr(0, mark));
    const auto most = mark < word.size() ? parse_real(word.substr(mark + 1)) : std::nullopt;
    if (!q || !most || *q < 0 || *q > 1 || *most < 0)
      return bad_value(option, "Q=MAX with Q from 0 to 1 and MAX 0 or more, such as 0.99=1e-3",
                       word);
    if (std::ranges::find(gates, *q, &btf::QuantileGate::q) != gates.end())
      return btf::fail(
          btf::ErrorCode::invalid_argument,
          std::string(option) + " " + btf::number_text(*q) + " is given more than once");
    gates.push_back({*q, *most});
  }
  return {};
}

// "2,3" or "-1": one axis or two
Result<std::vector<std::int32_t>> parse_axes(std::string_view option, std::string_view text) {
  std::vector<std::int32_t> axes;
  for (const std::string_view word : split(text, ',')) {
    const auto axis = parse_integer(word);
    constexpr auto kRank = std::int64_t{btf::kMaxRank};
    if (!axis || *axis < -kRank || *axis >= kRank)
      return bad_value(option, "one axis or two, such as 2,3 or -2,-1", text);
    axes.push_back(static_cast<std::int32_t>(*axis));
  }
  if (axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    return bad_value(option, "one axis or two different ones, such as 2,3 or -2,-1", text);
  return axes;
}

void check(const btf::Status& status) {
  if (!status) throw OptionError(status.error().message);
}

btf::PictureRange parse_image_range(const std::string& option, const std::string& text) {
  const auto words = split(text, ',');
  btf::PictureRange range;
  if (words.size() == 2) {
    range.least = parse_real(words[0]);
    range.greatest = parse_real(words[1]);
  }
  if (!range.least || !range.greatest || *range.least > *range.greatest)
    throw OptionError(option +
                      " takes the two values at the ends of the colour scale, such as -1,1, not '" +
                      text + "'");
  return range;
}

// The value of --heatmap without one: the axes are chosen by the shape.
constexpr const char* kAutomaticAxes = "auto";

void take_close_as(const std::string& option, const std::string& text, btf::Tolerance& tolerance) {
  const btf::DType dtype = value_or_throw(btf::parse_dtype(text));
  if (!btf::info(dtype).floating())
    throw OptionError(option + " takes a floating-point dtype, not " +
                      std::string(btf::info(dtype).name));
  tolerance.close_as = dtype;
  tolerance.close = true;
}

void take_quantiles(const std::string& option, const std::string& text, btf::Gates& gates) {
  check(parse_quantiles(option, text, gates.quantiles));
}

void take_heatmap(const std::string& option, const std::string& text, btf::DiffOptions& options) {
  options.heatmap.emplace();
  if (text != kAutomaticAxes) options.heatmap->axes = value_or_throw(parse_axes(option, text));
}

bool parse_squeezed(const std::string& option, const std::string& text) {
  if (text != kAllDims) throw OptionError(option + " takes no dims here, not '" + text + "'");
  return true;
}

void take_shard_by(const std::string& option, const std::string& word,
                   std::optional<PartOptions>& part) {
  if (word != "file" && word != "tensor")
    throw OptionError(option + " takes file|tensor, not '" + word + "'");
  if (!part) part.emplace();
  part->by_tensor = word == "tensor";
}

template <typename T>
Value tolerance(DiffCommand& command, std::optional<T> btf::Tolerance::* member) {
  const auto take = [member](const std::string& option, const std::string& text, DiffCommand& to) {
    check(parse_tolerances(option, text, member, to.diff.tolerance, to.tensor_tolerances));
  };
  return repeated(std::is_same_v<T, double> ? "X" : "N", command, take);
}

// How two tensors of a pair are compared: these options have no say in which tensors those are.
std::vector<Option> tolerance_options(DiffCommand& command) {
  btf::Tolerance& tolerances = command.diff.tolerance;
  return {
      {"--rtol,--rel-tol", tolerance(command, &btf::Tolerance::rtol),
       "accept |actual - golden| <= atol + rtol * |golden|;\n"
       "0=1e-3,-1=1e-2: for these tensors of ACTUAL;\n"
       "1e-5,conv*=1e-2: for all tensors, and for those whose\nname matches",
       sets("tolerance.rtol")},
      {"--atol,--abs-tol", tolerance(command, &btf::Tolerance::atol), "see --rtol",
       sets("tolerance.atol")},
      {"--ulp", tolerance(command, &btf::Tolerance::ulp),
       "accept N steps between representable numbers of the\ncoarser dtype", sets("tolerance.ulp")},
      {"--close", flag(tolerances.close),
       "use rtol and atol that suit the coarser dtype, where they\nare not given", kOfPair},
      {"--close-as", once("T", tolerances, take_close_as),
       "like --close, for values that were computed in T,\n"
       "whatever dtype they are stored in: fp16 for a float32\n"
       "dump of an fp16 run",
       kOfPair},
      {"--equal-nan,!--no-equal-nan", flag(tolerances.equal_nan), "NaN equals NaN (the default)",
       kOfPair},
  };
}

std::vector<Option> gate_options(btf::Gates& gates) {
  std::vector<Option> rows = {
      {"--max-mismatch", parsed("N|P%", gates.max_mismatch, parse_mismatch_limit),
       "allow up to N mismatches, or P% of the elements", kOfPair | sets("gates.max_mismatch")}};
  for (const btf::FigureInfo* const row : btf::figure_gates()) {
    const std::string type = row->at_least ? "MIN" : "MAX";
    const auto parse = [row](const std::string& option, const std::string& text) {
      return value_or_throw(parse_limit(option, text, *row)) + 0.0;  // never -0
    };
    rows.push_back({"--" + std::string(row->name), parsed(type, gates.*row->limit, parse),
                    std::string(row->meaning) + (row->at_least ? " at least " : " at most ") +
                        type + (row->unit.empty() ? "" : " " + std::string(row->unit)),
                    kOfPair});
  }
  rows.push_back({"--quantile", repeated("Q=MAX", gates, take_quantiles),
                  "Q-quantile of the absolute errors: 0.99=1e-3", kOfPair});
  rows.push_back({"--top-k", count(1, UINT64_MAX, gates.top_k),
                  "the indices of the N largest of the last dim agree", kOfPair});
  return rows;
}

std::vector<Option> choice_options(DiffCommand& command) {
  return {
      {"--tensor", text("SEL", command.tensors),
       "compare only these tensors of both files: 0,2-5,-1",
       kOfInput | excludes("--pair") | sets("tensors")},
      {"--pair", parsed("A:G,...", command.pairs, parse_pairs),
       "compare these pairs of tensors, by numbers or names:\n0:3,conv1:fc",
       kOfInput | excludes("--pair-by --map") | sets("pairs")},
      {"--pair-by", choice(command.diff.pair_by, btf::pair_by_names()),
       "how to pair tensors. auto: by name if both sides have\nnames, else by number; if no name "
       "is "
       "on both sides, by\nwhat names have in common. exact: only equal names",
       kOfInput | sets("pair_by")},
      {"--map", text("FILE", command.map),
       "which names belong together: FILE has lines\nACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/",
       kOfInput | kReads | sets("NameMap=FILE")},
      {"--rules", text("FILE", command.rules), "tolerances and specs by tensor name, in JSON",
       kReads},
      {"--strict", flag(command.diff.strict), "a different dtype or layout is a difference too",
       kOfPair | kOfInput},
  };
}

std::vector<Option> edit_options(DiffCommand& command) {
  btf::DiffOptions& options = command.diff;
  return {
      {"--codes", flag(options.codes), "compare blocks of GGUF by their bytes, not as numbers",
       kOfPair | kOfInput | excludes("--dequantize") | sets("codes")},
      {"--permute", parsed("P", options.permute, parse_permute),
       "reorder the dims of ACTUAL before comparing: 0,3,1,2;\napplies to tensors of that rank",
       kOfPair | kOfInput},
      {"--squeeze", or_else(std::string(kAllDims), parsed("", options.squeeze, parse_squeezed)),
       "ignore dims of size 1 on both sides", kOfPair | kOfInput},
      {"--reshape", choice<bool>(options.reshape_actual, {{"actual", true}}),
       "give ACTUAL the dims of GOLDEN where both have the same\nnumber of elements",
       kOfPair | kOfInput},
      files_from(command.listed),
      {"--include", texts("GLOB", command.include),
       "from directories, take only files whose path or name\nmatches",
       kOfFiles | kOfInput | sets("include")},
      {"--exclude", texts("GLOB", command.exclude), "from directories, leave out such files",
       kOfFiles | kOfInput | sets("exclude")},
      {"--from-json", text("REPORT", command.from_json),
       "judge a report of --json again, with other limits;\nwithout operands", kSaved | kReads},
  };
}

std::vector<Option> detail_options(btf::DiffOptions& options) {
  return {
      {"--show", count(0, 1000000, options.show),
       "print the first N and the largest N mismatches (3)"},
      {"--heatmap", or_else(kAutomaticAxes, once("[AXES]", options, take_heatmap), "0123456789,-"),
       "draw where the mismatches are, along one or two dims: 2,3",
       kOfInput | sets("heatmap_axes")},
      {"!--no-hints", flag(options.hints), "do not look for the cause of a difference"},
  };
}

}  // namespace

std::vector<Option> report_options(ReportWords& command) {
  return {
      {"--all", flag(command.all), "print every tensor in full, without a limit",
       kReport | sets("text.all")},
      {"--sort",
       choice<btf::DiffSort>(command.sort, {{"order", btf::DiffSort::order},
                                            {"error", btf::DiffSort::error},
                                            {"cosine", btf::DiffSort::cosine}}),
       "order of the lines of many tensors: as in the files (the\ndefault), or the worst first",
       kReport | excludes("--json")},
      {"--summary", flag(command.summary), "print one line for each pair of files",
       kReport | excludes("--show --json --all --sort")},
      {"--json", flag(command.json), "print one JSON document", kReport},
      {"--json-schema",
       choice<btf::JsonSchema>(command.json_schema,
                               {{"2", btf::JsonSchema::sets}, {"1", btf::JsonSchema::files}}),
       "schema version of --json; 1 is that of btftool 0.1", kReport | needs("--json")},
      {"--junit", text("FILE", command.junit), "also write a JUnit report", kReport | kWrites},
      {"--html", text("FILE", command.html), "also write an HTML report", kReport | kWrites},
  };
}

std::vector<Option> picture_options(PictureCommand& command) {
  return {
      {"--image-as",
       choice<std::optional<btf::PictureForm>>(command.form, {{"auto", std::nullopt},
                                                              {"blocks", btf::PictureForm::blocks},
                                                              {"kitty", btf::PictureForm::kitty},
                                                              {"sixel", btf::PictureForm::sixel}}),
       "how to draw in the terminal: as coloured half blocks, or\nby a graphics protocol (auto)",
       kAside | needs("--image")},
      {"--image-range", parsed("A,B", command.draw.range, parse_image_range),
       "values at the ends of the colour scale (the smallest and\nthe largest element)",
       kAside | needs("--image")},
      {"--image-zoom", count(1, 256, command.draw.zoom),
       "draw an element as a square of N x N pixels", kAside | needs("--image")},
  };
}

namespace {

void check_picture(const GivenOptions& given, const DiffCommand& command) {
  if (!command.image.path) return;
  if (command.from_json)
    throw OptionError("--image needs files: a report of --from-json has no elements to draw");
  if (command.part)
    throw OptionError(
        "--image draws the worst of all tensors, but --part compares only some of them: merge the "
        "parts, then draw that tensor by --tensor or --pair");
  if (command.json && btf::is_standard_output(*command.image.path))
    throw OptionError("--image " + *command.image.path + " and --json would both go to stdout");
  for (const auto& [option, path, traits] : given.files())
    if (traits.any(kReport) && path == *command.image.path)
      throw OptionError("--image and " + option + " name the same file '" + path + "'");
}

class DiffArguments final : public Subcommand {
 public:
  DiffArguments() {
    btf::DiffOptions& options = command_.diff;
    options.show = 3;
    table_ = {
        .name = "diff",
        .help = "compare tensors within tolerances; show where and why they differ",
        .operands = "ACTUAL GOLDEN",
        .operands_help =
            "the file or directory to check, and the reference;\none of them may be -, stdin",
        .most_used = "--close --rtol --atol --summary --json",
        .groups =
            {{"Tolerances, for each pair of elements", tolerance_options(command_)},
             {"Gates, for each tensor as a whole", gate_options(options.gates)},
             {kCompared, choice_options(command_)},
             {kCompared, scale_options({options.dequantize, options.scale_blocks,
                                        options.actual_scale, options.golden_scale})},
             {kCompared, edit_options(command_)},
             {"Report", detail_options(options)},
             {"Report", report_options(command_)},
             {"Picture",
              {{"--image", text("FILE", command_.image.path),
                "draw the tensor that differs most as a PNG: actual,\ngolden and error; - is the "
                "terminal",
                kAside | kWrites},
               {"--image-at", parsed("SLICE", command_.image.draw.part, parse_slice),
                "draw only this slice of the tensor: 0,:,:,:", kAside | needs("--image")}}},
             {"Picture", picture_options(command_.image)},
             part_options(command_.part),
             {"Many machines",
              {{"--shard-by", once("file|tensor", command_.part, take_shard_by),
                "split the work between pairs of files (the default), or between\npairs of "
                "tensors, "
                "for few and large files",
                needs("--part FILE") | sets("shard_by")}}},
             specs_of_both(actual_spec_, golden_spec_,
                           "what raw files of ACTUAL hold: fp16:hwc8:1x3x224x224, or\n"
                           "fp16:hwc8 with the dims of GOLDEN. fc*=fp16 applies to files\n"
                           "that match the glob, ids*=int64 to tensors in JSON of trtexec;\n"
                           "if several match, the last one applies. @engine.json is the\n"
                           "layer list of a TensorRT engine, for files named after its\n"
                           "tensors")},
        .footer =
            "Of two directories, files with the same relative path are compared; of a directory "
            "and a\n"
            "file, the file of that name in the directory.\n"
            "Without tolerances and gates, elements must be equal. With several criteria, all must "
            "hold.\n"
            "Exit status: 0 same, 1 different, 2 trouble (comparing nothing is trouble).\n"
            "Examples:\n"
            "  btftool diff out.btf golden.btf\n"
            "  btftool diff --rtol 1e-3,2=1e-2 --atol 1e-5 out.btf golden.btf\n"
            "  btftool diff --close --max-mismatch 0.1% --cosine 0.999 out.btf golden.btf\n"
            "  btftool diff --pair 0:3,1:0 --heatmap -2,-1 out.btf golden.btf\n"
            "  btftool diff --close --include '*.btf' --summary --junit report.xml out/ golden/",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions& global) override {
    DiffCommand& command = command_;
    if (!command.from_json) expect({"ACTUAL", "GOLDEN"});
    if (command.map && command.diff.pair_by != btf::PairBy::automatic &&
        command.diff.pair_by != btf::PairBy::name)
      throw OptionError("--map can only be combined with --pair-by auto or name");
    check_picture(given, command);
    if (command.summary && command.diff.heatmap && !command.html)
      throw OptionError("--summary and --heatmap cannot be combined");
    check_reports(command.junit, command.html);
    finish_part(given, operands_, command.part);
    set_operands(command.from_json.has_value(), operands_, command.actual, command.golden);
    command.pair_options = given.words_with(kOfPair);
    command.file_options = given.words_with(kOfFiles);
    command.comparison_options = given.words_without(kReport | kAside);
    finish_specs(actual_spec_, golden_spec_, command);
    command.open_actual.listed = command.open_golden.listed = command.listed;
    command.diff.execution = global.execution();
    return command;
  }

  DiffCommand command_;
  RawSpecs actual_spec_;
  RawSpecs golden_spec_;
};

}  // namespace

std::unique_ptr<Subcommand> diff_command() { return std::make_unique<DiffArguments>(); }

}  // namespace btftool
