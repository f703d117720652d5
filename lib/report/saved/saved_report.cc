#include "report/saved/saved_report.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "btf/dtype.h"
#include "btf/report.h"
#include "btf/try.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/text/json.h"

namespace btf::report {
namespace {

std::optional<double> amount_or_null(const JsonNode& node) {
  return node.null() ? std::nullopt : std::optional(node.amount());
}

std::optional<std::uint64_t> count_or_null(const JsonNode& node) {
  return node.null() ? std::nullopt : std::optional(node.count());
}

DiffResult result(const JsonNode& node) {
  const std::string name = node.text();
  if (name == "same") return DiffResult::same;
  if (name == "different") return DiffResult::different;
  if (name == "shape") return DiffResult::shape;
  if (name == "missing") return DiffResult::missing;
  if (name != "trouble") node.fail("is not one of same, different, shape, missing, trouble");
  return DiffResult::trouble;
}

DType dtype(const JsonNode& node) {
  const auto found = btf::parse_dtype(node.text());
  if (!found) node.fail("is not a dtype");
  return found.value_or(DType::int8);
}

PairTier tier(const JsonNode& node) {
  const std::string name = node.text();
  for (const auto& row : btf::pair_tier_names())
    if (row.name == name) return row.value;
  node.fail("is not a way of pairing names");
  return PairTier::map;
}

Layout layout(const JsonNode& tensor) {
  const std::string name = tensor["layout"].text();
  const std::string dla = tensor.has("dla") ? tensor["dla"].text() : "";
  for (const LayoutSpec& row : btf::layouts())
    if (row.name == name && (dla.empty() || row.dla == dla)) return row.layout;
  tensor["layout"].fail("is not a layout");
  return Layout::linear;
}

std::optional<DiffTensor> side(const JsonNode& index, const JsonNode& tensor, JsonSchema schema) {
  if (index.null() && tensor.null()) return std::nullopt;
  DiffTensor found;
  found.index = index.count();
  if (schema == JsonSchema::sets) found.name = tensor["name"].text();
  found.named = tensor.has("named") && tensor["named"].flag();
  found.known = !tensor["dtype"].null();
  if (!found.known) return found;
  found.dtype = dtype(tensor["dtype"]);
  found.layout = layout(tensor);
  found.dims = tensor["shape"].dims();
  if (tensor.has("codes")) found.codes = dtype(tensor["codes"]);
  if (tensor.has("scale")) found.scale = amount_or_null(tensor["scale"]);
  if (tensor.has("text_digits"))
    found.text_digits =
        static_cast<unsigned>(std::min<std::uint64_t>(tensor["text_digits"].count(), 17));
  found.text_fixed = tensor.has("text_fixed") && tensor["text_fixed"].flag();
  return found;
}

Tolerance tolerance(const JsonNode& node) {
  Tolerance used;
  used.rtol = amount_or_null(node["rtol"]);
  used.atol = amount_or_null(node["atol"]);
  used.ulp = count_or_null(node["ulp"]);
  used.equal_nan = node["equal_nan"].flag();
  used.half_step = node.has("half_step") && node["half_step"].flag();
  return used;
}

std::vector<CriterionResult> criteria(const JsonNode& node) {
  std::vector<CriterionResult> list;
  node.each([&](const JsonNode& item) {
    const auto number = [&](const char* name) -> std::optional<double> {
      const JsonNode member = item[name];
      return member.null() ? std::nullopt : std::optional(member.number());
    };
    list.push_back({item["name"].text(), item["text"].text(), number("limit"), number("value"),
                    item["passed"].flag()});
  });
  return list;
}

std::uint64_t code(const JsonNode& node, const DTypeInfo& dtype) {
  const std::string text = node.text();
  std::uint64_t code = 0;
  const char* end = text.data() + text.size();
  const bool hex = text.starts_with("0x");
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, code, 16);
  if (!hex || error != std::errc() || stop != end)
    node.fail("is not a hexadecimal code");
  else if (dtype.bits < 64 && code >> dtype.bits != 0)
    node.fail("has more bits than " + std::string(dtype.name));
  return node.failed() ? 0 : code;
}

bool inside(const Dims& index, const Dims& dims) {
  if (index.size() != dims.size()) return false;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (index[d] >= dims[d]) return false;
  return true;
}

Mismatch mismatch(const JsonNode& node, const TensorDiff& diff) {
  Mismatch found;
  found.index = node["index"].dims();
  if (!inside(found.index, diff.golden->dims)) node["index"].fail("is not an index of the tensor");
  found.actual_code = code(node["actual_code"], btf::info(diff.actual->dtype));
  found.golden_code = code(node["golden_code"], btf::info(diff.golden->dtype));
  found.abs_error = node["abs_error"].number();
  found.rel_error = node["rel_error"].number();
  found.allowed = node["allowed"].number();
  found.steps = count_or_null(node["steps"]);
  found.actual_offset = count_or_null(node["actual_offset"]);
  found.golden_offset = count_or_null(node["golden_offset"]);
  return found;
}

std::optional<Mismatch> worst(const JsonNode& node, const TensorDiff& diff) {
  return node.null() ? std::nullopt : std::optional(mismatch(node, diff));
}

void read_mismatches(const JsonNode& node, TensorDiff& diff) {
  const JsonNode found = node["worst"];
  diff.worst_abs = worst(found["abs"], diff);
  diff.worst_rel = worst(found["rel"], diff);
  node["first"].each([&](const JsonNode& item) { diff.first.push_back(mismatch(item, diff)); });
  node["largest"].each([&](const JsonNode& item) { diff.largest.push_back(mismatch(item, diff)); });
}

// Checks that the counts, which are of disjoint sets of pairs, do not exceed `all`.
void check_sum(const JsonNode& node, std::uint64_t all,
               std::initializer_list<std::uint64_t> counts) {
  for (const std::uint64_t count : counts) {
    if (count > all) return node.fail("counts more than was compared");
    all -= count;
  }
}

// Reports of earlier versions lack this member.
std::optional<Dims> place(const JsonNode& node, const char* member, const TensorDiff& diff) {
  if (!node.has(member) || node[member].null()) return std::nullopt;
  const JsonNode found = node[member];
  Dims index = found.dims();
  if (!inside(index, diff.golden->dims)) found.fail("is not an index of the tensor");
  return index;
}

void read_counts(const JsonNode& node, TensorDiff& diff) {
  diff.compared = node["compared"].count();
  const JsonNode mismatched = node["mismatched"];
  diff.mismatched_known = !mismatched.null();
  diff.mismatched = diff.mismatched_known ? mismatched.count() : 1;
  // With this limit, sums of counts cannot overflow.
  if (diff.compared > INT64_MAX) node["compared"].fail("is beyond what a file can hold");
  if (diff.mismatched > diff.compared) mismatched.fail("is above what was compared");
  diff.max_abs = node["max_abs"].amount();
  diff.max_rel = node["max_rel"].amount();
  diff.max_ulp = node["max_ulp"].count();
  const JsonNode nan = node["nan"];
  diff.nan = {nan["both"].count(), nan["actual"].count(), nan["golden"].count()};
  check_sum(nan, diff.compared, {diff.nan.both, diff.nan.actual, diff.nan.golden});
  const JsonNode inf = node["inf"];
  diff.inf = {inf["both"].count(), inf["opposite"].count(), inf["actual"].count(),
              inf["golden"].count()};
  diff.first_nonfinite = {.nan_actual = place(nan, "first_actual", diff),
                          .nan_golden = place(nan, "first_golden", diff),
                          .inf_opposite = place(inf, "first_opposite", diff),
                          .inf_actual = place(inf, "first_actual", diff),
                          .inf_golden = place(inf, "first_golden", diff),
                          .nan_both = place(nan, "first_both", diff),
                          .inf_both = place(inf, "first_both", diff)};
  check_sum(inf, diff.compared,
            {diff.inf.both, diff.inf.opposite, diff.inf.actual, diff.inf.golden});
  // Pairs of NaN are either all refused or all accepted.
  const bool equal_nan = diff.tolerance.equal_nan;
  if (equal_nan && diff.mismatched > diff.compared - std::min(diff.compared, diff.nan.both))
    mismatched.fail("counts NaN on both sides");
  if (!equal_nan && diff.mismatched_known && diff.mismatched < diff.nan.both)
    mismatched.fail("does not count NaN on both sides");
}

// Returns std::nullopt for reports of earlier versions.
std::optional<BestFit> fit(const JsonNode& figures) {
  if (!figures.has("gain") || figures["gain"].null()) return std::nullopt;
  return BestFit{figures["gain"].number(), figures["offset"].number(),
                 figures["residual"].amount()};
}

// Returns NaN if the report is of a version without this figure.
double figure(const JsonNode& figures, const FigureInfo& row) {
  const std::string name(row.name);
  if (!figures.has(name.c_str())) return std::numeric_limits<double>::quiet_NaN();
  const JsonNode node = figures[name.c_str()];
  // Without pairs, figures are null and not judged.
  if (node.null() && figures["pairs"].count() == 0) return Figures().*row.value;
  const double value = node.number();
  if (!(value >= row.lowest && value <= row.highest))
    node.fail("is not from " + btf::number_text(row.lowest) + " to " +
              btf::number_text(row.highest));
  return value;
}

void read_figures(const JsonNode& node, TensorDiff& diff) {
  if (const JsonNode found = node["figures"]; !found.null()) {
    Figures& figures = diff.figures.emplace();
    figures.pairs = found["pairs"].count();
    for (const FigureInfo& row : btf::figures())
      if (row.value != nullptr) figures.*row.value = figure(found, row);
    figures.fit = fit(found);
  }
  node["quantiles"].each([&](const JsonNode& item) {
    diff.quantiles.push_back({item["q"].amount(), item["value"].amount()});
  });
  if (const JsonNode found = node["top_k"]; !found.null()) {
    diff.top_k =
        TopK{found["k"].count(), found["rows"].count(), found["disagreeing"].count(), std::nullopt};
    if (!found["first"].null()) diff.top_k->first = found["first"].dims();
  }
}

RequiredPair required_pair(const JsonNode& node) {
  return {node["rtol"].amount(), node["atol"].amount()};
}

void read_required(const JsonNode& node, TensorDiff& diff) {
  diff.required_atol = amount_or_null(node["atol"]);
  diff.required_rtol = amount_or_null(node["rtol"]);
  if (const JsonNode pair = node["pair"]; !pair.null()) diff.required_pair = required_pair(pair);
  node["pairs"].each([&](const JsonNode& pair) {
    const RequiredPair next = required_pair(pair);
    if (!diff.required_pairs.empty() && !(next.rtol > diff.required_pairs.back().rtol))
      pair.fail("is not in order of rtol");
    diff.required_pairs.push_back(next);
  });
}

void read_histogram(const JsonNode& node, TensorDiff& diff) {
  if (node.null()) return;
  diff.equal = node["equal"].count();
  node["decades"].each([&](const JsonNode& item) {
    // The decades of finite doubles.
    const auto decade = static_cast<int>(item["decade"].integer(-324, 308));
    if (!diff.decades.empty() && decade <= diff.decades.back().decade)
      item["decade"].fail("is not in order");
    diff.decades.push_back({decade, item["count"].count(), item["mismatched"].count()});
  });
}

void read_hints(const JsonNode& node, TensorDiff& diff) {
  node.each([&](const JsonNode& item) {
    const std::string name = item["cause"].text();
    if (name.empty()) item["cause"].fail("is empty");
    std::optional<Cause> cause;
    for (const auto& row : btf::cause_names())
      if (row.name == name) cause = row.value;
    diff.hints.push_back(
        {cause.value_or(Cause{}), item["evidence"].text(), cause ? std::string() : name});
  });
}

std::optional<Heatmap::Axis> axis(const JsonNode& node, std::uint64_t cells, const JsonNode& length,
                                  const Dims& dims) {
  if (node.null()) {
    if (cells != 1) length.fail("is not 1, though there is no axis");
    return std::nullopt;
  }
  const Heatmap::Axis found{static_cast<std::uint32_t>(node["dim"].integer(0, btf::kMaxRank - 1)),
                            node["step"].count()};
  if (found.dim >= dims.size()) {
    node["dim"].fail("is not a dim of the tensor");
    return std::nullopt;
  }
  // Checks that every cell covers an index, so that products of cells cannot overflow.
  const std::uint64_t extent = dims[found.dim];
  if (found.step == 0 || cells == 0 || (extent + found.step - 1) / found.step != cells)
    node["step"].fail("does not fit the size of the dim");
  return found;
}

void check_items(const JsonNode& node, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return;
  node.fail("has " + std::to_string(found) + " items, expected " + std::to_string(expected));
}

std::vector<std::uint64_t> cells(const JsonNode& node, const Heatmap& map) {
  std::vector<std::uint64_t> counts;
  std::uint64_t rows = 0;
  node.each([&](const JsonNode& row) {
    ++rows;
    const std::size_t before = counts.size();
    row.each([&](const JsonNode& cell) { counts.push_back(cell.count()); });
    check_items(row, counts.size() - before, map.columns);
  });
  check_items(node, rows, map.rows);
  return counts;
}

void read_heatmap(const JsonNode& node, TensorDiff& diff) {
  if (node.null()) return;
  constexpr std::int64_t kMaxCells = 1 << 16;
  Heatmap map;
  map.rows = static_cast<std::uint64_t>(node["rows"].integer(1, kMaxCells));
  map.columns = static_cast<std::uint64_t>(node["columns"].integer(1, kMaxCells));
  map.down = axis(node["down"], map.rows, node["rows"], diff.golden->dims);
  map.across = axis(node["across"], map.columns, node["columns"], diff.golden->dims);
  map.mismatched = cells(node["mismatched"], map);
  map.elements = cells(node["elements"], map);
  if (!node.failed()) diff.heatmap = std::move(map);
}

// Checks that pairs of finite numbers and pairs with NaN or Inf add up to all pairs. NaN against
// Inf is one pair that is in two counts.
void check_pairs(const JsonNode& node, const TensorDiff& diff) {
  const NanCount& nan = diff.nan;
  const InfCount& inf = diff.inf;
  const std::uint64_t counted =
      nan.both + nan.actual + nan.golden + inf.both + inf.opposite + inf.actual + inf.golden;
  const std::uint64_t twice = std::min(nan.actual, inf.golden) + std::min(nan.golden, inf.actual);
  if (counted - twice > diff.compared)
    return node["inf"].fail("counts more than was compared, with NaN");
  if (!diff.figures) return;
  const JsonNode figures = node["figures"];
  const JsonNode pairs = figures["pairs"];
  if (diff.figures->pairs > diff.compared) return pairs.fail("is above what was compared");
  const std::uint64_t special = diff.compared - diff.figures->pairs;
  if (special > counted || counted - special > twice)
    pairs.fail("contradicts the counts of NaN and Inf");
}

void read_saturated(const JsonNode& node, TensorDiff& diff) {
  diff.saturated = {node["actual"].count(), node["golden"].count()};
  check_sum(node, diff.mismatched, {diff.saturated.actual, diff.saturated.golden});
}

// The members that only a compared pair has.
void read_comparison(const JsonNode& node, TensorDiff& diff) {
  diff.tolerance = tolerance(node["tolerance"]);
  read_counts(node, diff);
  read_figures(node, diff);
  if (!node.failed()) check_pairs(node, diff);
  read_required(node["required"], diff);
  read_mismatches(node, diff);
  read_histogram(node["histogram"], diff);
  read_hints(node["hints"], diff);
  read_heatmap(node["heatmap"], diff);
  if (node.has("saturated")) read_saturated(node["saturated"], diff);
}

}  // namespace

TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema) {
  TensorDiff diff;
  diff.result = result(node["result"]);
  if (const JsonNode reason = node["reason"]; !reason.null()) diff.reason = reason.text();
  diff.actual = side(node["actual"], node["actual_tensor"], schema);
  diff.golden = side(node["golden"], node["golden_tensor"], schema);
  if (node.has("paired_by")) diff.tier = tier(node["paired_by"]);
  if (node.has("note")) diff.note = node["note"].text();
  diff.criteria = criteria(node["criteria"]);
  if (diff.result == DiffResult::trouble) {
    if (!diff.actual && !diff.golden) node["result"].fail("has no tensor");
    // The message already names the file and the tensor.
    diff.error = Error{ErrorCode::refused, node["error"].text()};
    return diff;
  }
  for (const auto& [tensor, member] :
       {std::pair(&diff.actual, "actual_tensor"), std::pair(&diff.golden, "golden_tensor")})
    if (*tensor && !(*tensor)->known) node[member]["dtype"].fail("is not a dtype");
  const bool one_side = diff.actual.has_value() != diff.golden.has_value();
  if (diff.result == DiffResult::missing ? !one_side : !diff.actual || !diff.golden)
    node["result"].fail("contradicts the tensors present");
  if (node.failed() || diff.result == DiffResult::missing) return diff;
  if (diff.result == DiffResult::shape) {
    if (diff.reason.empty()) node["reason"].fail("does not say how the shapes differ");
    read_hints(node["hints"], diff);
    return diff;
  }
  if (diff.actual->dims != diff.golden->dims)
    node["golden_tensor"]["shape"].fail("is not that of actual");
  if (!node.failed()) read_comparison(node, diff);
  return diff;
}

namespace {

PairOutcome outcome(const JsonNode& file) {
  const JsonNode result = file["result"];
  const std::string name = result.text();
  for (const PairResult row :
       {PairResult::same, PairResult::different, PairResult::missing, PairResult::trouble})
    if (name == result_name(row)) {
      const bool said = !file["error"].null();
      // Files that differ only in their tensors have no message.
      const bool bytes = said && row == PairResult::different;
      return {bytes ? PairResult::bytes : row, said ? file["error"].text() : std::string()};
    }
  result.fail("is not one of same, different, missing, trouble");
  return {};
}

// Returns no differences for reports of earlier versions.
FileDifferences file_differences(const JsonNode& file) {
  FileDifferences files;
  const auto text = [](const JsonNode& node) { return node.null() ? std::string() : node.text(); };
  if (file.has("differences"))
    file["differences"].each([&](const JsonNode& node) {
      files.all.push_back({node["part"].text(), text(node["subject"]), text(node["what"]),
                           text(node["actual"]), text(node["golden"])});
    });
  if (file.has("uncompared")) files.uncompared = file["uncompared"].text();
  return files;
}

void read_tensors(const JsonNode& list, SetDiffResult::Pair& pair) {
  list.each([&](const JsonNode& node) {
    if (!node.failed()) pair.tensors.push_back(saved_tensor(node, JsonSchema::files));
  });
}

// In schema 1, only `error` says which side is missing.
SetDiffResult::Pair file_pair(const JsonNode& file, const SetDiffResult& report) {
  SetDiffResult::Pair pair;
  pair.outcome = outcome(file);
  pair.outcome.files = file_differences(file);
  pair.files.name = file["path"].text();
  pair.files.actual = report.actual + "/" + pair.files.name;
  pair.files.golden = report.golden + "/" + pair.files.name;
  read_tensors(file["tensors"], pair);
  if (pair.outcome.result == PairResult::missing) {
    FilePair& files = pair.files;
    for (std::string* side : {&files.actual, &files.golden}) {
      const std::string path = std::exchange(*side, {});
      if (missing_side(files) == pair.outcome.error) return pair;
      *side = path;
    }
    file["error"].fail("does not say which file is missing");
  }
  return pair;
}

void read_files(const JsonNode& root, SetDiffResult& report) {
  report.directories = root.has("files");
  if (report.directories)
    return root["files"].each([&](const JsonNode& file) {
      if (!file.failed()) report.pairs.push_back(file_pair(file, report));
    });
  report.pairs.push_back({{report.actual, report.actual, report.golden}, {}, {}, {}});
  report.pairs.front().outcome.files = file_differences(root);
  read_tensors(root["tensors"], report.pairs.front());
}

void read_members(const JsonNode& root, SetDiffResult& report) {
  root["members"].each([&](const JsonNode& member) {
    if (!member.failed()) report.pairs.push_back(saved_pair(member, "name"));
  });
  if (root.failed()) return;
  if (report.pairs.empty()) return root["members"].fail("is empty");
  const FilePair& first = report.pairs.front().files;
  report.directories = report.pairs.size() > 1 || first.actual != report.actual;
  root["tensors"].each([&](const JsonNode& node) {
    if (node.failed()) return;
    const std::uint64_t member = node["member"].count();
    if (node.failed()) return;
    if (member >= report.pairs.size()) return node["member"].fail("is not the number of a member");
    SetDiffResult::Pair& pair = report.pairs[member];
    TensorDiff diff = saved_tensor(node, JsonSchema::sets);
    // A missing file is reported as a whole, without its tensors.
    if (pair.outcome.result == PairResult::missing)
      pair.missing.push_back(std::move(diff));
    else
      pair.tensors.push_back(std::move(diff));
  });
}

SetDiffResult report_of(const JsonNode& root) {
  SetDiffResult report;
  const std::string schema = root.has("schema") ? root["schema"].text() : "";
  const bool files = schema == schema_name(JsonSchema::files);
  if (!files && schema != schema_name(JsonSchema::sets))
    root.fail("is not a report of btftool diff: its schema is not " +
              schema_name(JsonSchema::sets));
  report.actual = root["actual"].text();
  report.golden = root["golden"].text();
  files ? read_files(root, report) : read_members(root, report);
  return report;
}

}  // namespace

SetDiffResult::Pair saved_pair(const JsonNode& member, const char* name) {
  const auto path = [](const JsonNode& side) { return side.null() ? std::string() : side.text(); };
  SetDiffResult::Pair pair;
  pair.outcome = outcome(member);
  pair.outcome.files = file_differences(member);
  pair.files = {member[name].text(), path(member["actual"]), path(member["golden"])};
  const bool missing = pair.files.actual.empty() != pair.files.golden.empty();
  // A tensor that is missing makes its pair different.
  const bool one_side = missing && pair.outcome.result == PairResult::different;
  if ((missing != (pair.outcome.result == PairResult::missing) && !one_side &&
       pair.outcome.result != PairResult::trouble) ||
      (!missing && pair.files.actual.empty()))
    member["result"].fail("contradicts the files present");
  return pair;
}

}  // namespace btf::report

namespace btf {

Result<SetDiffResult> read_diff_report(const std::string& json) {
  BTF_ASSIGN(const auto document, report::parse_json(json, "a report of btftool diff"));
  std::string trouble;
  SetDiffResult report = report::report_of(report::JsonNode(document, trouble));
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return report;
}

}  // namespace btf
