// convert(), and conversions that the workers of an executor share.
#include "btf/convert.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/part.h"
#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "python/src/batch.h"
#include "python/src/support.h"
#include "report/text/json.h"

namespace btf::python {
namespace {

// The options of Python's convert(): ConvertOptions, and those that it lacks.
struct Conversion {
  ConvertOptions options;
  unsigned jobs = 0;
  std::optional<std::string> tensors;  // selections by number and name
  std::vector<std::string> exclude;
};

namespace nb = nanobind;

// Edits as btf/_convert.py passes them.
Edit permute(nb::handle argument) {
  return Permute{nb::cast<std::vector<std::uint32_t>>(argument)};
}

Edit slice(nb::handle argument) {
  using Bounds = std::tuple<std::optional<std::int64_t>, std::optional<std::int64_t>,
                            std::optional<std::int64_t>>;
  Slice edit;
  for (const nb::handle part : nb::cast<nb::list>(argument)) {
    if (!nb::isinstance<nb::tuple>(part)) {
      edit.parts.emplace_back(nb::cast<std::int64_t>(part));
      continue;
    }
    const auto [start, stop, step] = nb::cast<Bounds>(part);
    if (step == 0) throw nb::value_error("slice step cannot be zero");
    edit.parts.emplace_back(SliceRange{start, stop, step.value_or(1)});
  }
  return edit;
}

Edit squeeze(nb::handle argument) { return Squeeze{nb::cast<std::vector<std::int64_t>>(argument)}; }

Edit unsqueeze(nb::handle argument) { return Unsqueeze{nb::cast<std::int64_t>(argument)}; }

Edit reshape(nb::handle argument) { return Reshape{nb::cast<std::vector<std::int64_t>>(argument)}; }

// A number of elements, or a percentage.
LossLimit loss_limit(nb::handle argument) {
  const auto [most, percent] = nb::cast<std::tuple<double, bool>>(argument);
  return {most, percent};
}

BlockFormat block_format(const std::string& name) {
  std::string there;
  for (const BlockFormatInfo& row : block_formats()) {
    if (row.name == name) return row.format;
    there += (there.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  raise(fail(ErrorCode::invalid_argument,
             "block_scale '" + name + "' is not supported; there are " + there)
            .error());
}

std::uint8_t coo_code(const std::string& name) {
  if (name == "spec") return kCooCodeSpec;
  if (name == "tfrt") return kCooCodeTfrt;
  raise(fail(ErrorCode::invalid_argument, "coo_code is 'spec' or 'tfrt', not '" + name + "'")
            .error());
}

// Returns true for "auto" as a scale or a zero point.
bool automatic(nb::handle argument) {
  return nb::isinstance<nb::str>(argument) && nb::cast<std::string>(argument) == "auto";
}

void take_scale(nb::handle argument, Quantization& scales) {
  scales.automatic = automatic(argument);
  if (!scales.automatic) scales.scale = nb::cast<double>(argument);
  // The command checks the range; the library takes any number.
  if (scales.scale && !(*scales.scale > 0))
    raise(fail(ErrorCode::invalid_argument, "scale is 'auto' or a number above 0").error());
}

void take_zero_point(nb::handle argument, Quantization& scales) {
  scales.find_zero_point = automatic(argument);
  if (!scales.find_zero_point) scales.zero_point = nb::cast<std::int64_t>(argument);
}

void take_names(nb::handle argument, ConvertOptions& options) {
  if (nb::isinstance<nb::str>(argument)) {
    if (nb::cast<std::string>(argument) != "drop")
      throw nb::value_error("names is 'drop' or a list of names");
    options.drop_names = true;
    return;
  }
  options.names = nb::cast<std::vector<std::string>>(argument);
}

// Options by their names in Python.
using Take = void (*)(nb::handle argument, Conversion& conversion);

template <auto Member>
void take_flag(nb::handle argument, Conversion& conversion) {
  conversion.options.*Member = nb::cast<bool>(argument);
}

template <Edit (*Read)(nb::handle)>
void take_edit(nb::handle argument, Conversion& conversion) {
  conversion.options.edits.push_back(Read(argument));
}

const std::map<std::string, Take, std::less<>>& takes() {
  static const std::map<std::string, Take, std::less<>> kTakes{
      {"tensor", [](nb::handle a, Conversion& c) { c.tensors = nb::cast<std::string>(a); }},
      {"exclude",
       [](nb::handle a, Conversion& c) { c.exclude = nb::cast<std::vector<std::string>>(a); }},
      {"rename",
       [](nb::handle a, Conversion& c) {
         c.options.rename = nb::cast<std::map<std::string, std::string>>(a);
       }},
      {"names", [](nb::handle a, Conversion& c) { take_names(a, c.options); }},
      {"permute", take_edit<permute>},
      {"slice", take_edit<slice>},
      {"squeeze", take_edit<squeeze>},
      {"unsqueeze", take_edit<unsqueeze>},
      {"reshape", take_edit<reshape>},
      {"max_zero", [](nb::handle a, Conversion& c) { c.options.limits.zero = loss_limit(a); }},
      {"max_overflow",
       [](nb::handle a, Conversion& c) { c.options.limits.overflow = loss_limit(a); }},
      {"min_snr", [](nb::handle a, Conversion& c) { c.options.limits.snr = nb::cast<double>(a); }},
      {"scale", [](nb::handle a, Conversion& c) { take_scale(a, c.options.quantization); }},
      {"scale_axis",
       [](nb::handle a, Conversion& c) {
         c.options.quantization.axis = nb::cast<std::uint32_t>(a);
       }},
      {"zero_point",
       [](nb::handle a, Conversion& c) { take_zero_point(a, c.options.quantization); }},
      {"block_scale",
       [](nb::handle a, Conversion& c) {
         c.options.quantization.block = block_format(nb::cast<std::string>(a));
       }},
      {"dequantize",
       [](nb::handle a, Conversion& c) { c.options.quantization.dequantize = nb::cast<bool>(a); }},
      {"block",
       [](nb::handle a, Conversion& c) { c.options.quantization.scale_blocks = sizes_of(a); }},
      {"prune_zeros", take_flag<&ConvertOptions::prune_zeros>},
      {"where_possible", take_flag<&ConvertOptions::where_possible>},
      {"shuffle", take_flag<&ConvertOptions::shuffle>},
      {"plain", take_flag<&ConvertOptions::plain>},
      {"output_spec",
       [](nb::handle a, Conversion& c) {
         c.options.spec = value(parse_tensor_spec(nb::cast<std::string>(a)));
       }},
      {"as_uint", take_flag<&ConvertOptions::as_uint>},
      {"coo_code", [](nb::handle a,
                      Conversion& c) { c.options.coo_code = coo_code(nb::cast<std::string>(a)); }},
      {"recipient",
       [](nb::handle a, Conversion& c) {
         c.options.recipient = named("recipient", nb::cast<std::string>(a), recipient_names());
       }},
      {"format", [](nb::handle a, Conversion& c) { c.options.format = nb::cast<std::string>(a); }},
      {"compression",
       [](nb::handle a, Conversion& c) { c.options.compression = nb::cast<int>(a); }},
      {"sync", take_flag<&ConvertOptions::sync>},
  };
  return kTakes;
}

Conversion conversion_of(const nb::dict& given) {
  Conversion conversion;
  nb::dict casts;
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto take = takes().find(nb::cast<std::string_view>(key));
    if (take == takes().end())
      casts[key] = argument;
    else
      take->second(argument, conversion);
  }
  const CastOptions cast = cast_options(casts);
  ConvertOptions& options = conversion.options;
  options.snr_sample = kSnrSample;
  options.dtype = cast.dtype;
  options.layout = cast.layout;
  options.policy = cast.policy;
  options.duplicates = cast.duplicates;
  conversion.jobs = cast.jobs;
  return conversion;
}

// Sets ConvertOptions::tensors.
Status select(const TensorSet& set, Conversion& conversion) {
  if (!conversion.tensors && conversion.exclude.empty()) return {};
  BTF_ASSIGN(auto tensors, set.select(conversion.tensors.value_or("0--1")));
  for (const std::string& text : conversion.exclude) {
    BTF_ASSIGN(const auto without, set.select(text));
    std::erase_if(tensors, [&](std::uint64_t number) {
      return std::ranges::find(without, number) != without.end();
    });
  }
  conversion.options.tensors = std::move(tensors);
  return {};
}

OpenOptions open_options(const std::optional<std::string>& spec,
                         const std::optional<std::string>& layout_in) {
  OpenOptions open;
  if (spec) open.spec = value(parse_tensor_spec(*spec));
  if (layout_in) open.layout_in = layout_named(*layout_in);
  return open;
}

// Warnings about a result.
std::vector<std::string> warnings_of(const TensorReport& report) {
  std::vector<std::string> warnings;
  if (report.kept) warnings.push_back("keeps its layout: " + *report.kept);
  if (report.unlinked)
    warnings.emplace_back(
        "its scales or zero points are not in the output, so the link to them is left out too");
  warnings.insert(warnings.end(), report.objections.begin(), report.objections.end());
  return warnings;
}

// Members of btf.ConvertedTensor.
nb::dict report_dict(const TensorReport& report) {
  nb::dict members;
  members["index"] = report.target;
  members["name"] = report.name;
  members["output"] = report.output.empty() ? std::nullopt : std::optional(report.output);
  members["source_index"] = report.source;
  members["source_dtype"] = info(report.source_dtype).name;
  members["dtype"] = info(report.target_dtype).name;
  members["source_layout"] = spec(report.source_layout).name;
  members["layout"] = spec(report.target_layout).name;
  members["source_shape"] = nb::tuple(nb::cast(report.source_dims));
  members["shape"] = nb::tuple(nb::cast(report.target_dims));
  members["nbytes"] = report.data_bytes;
  members["nnz"] = report.nnz;
  members["kept_layout"] = report.kept.has_value();
  members["scales"] = report.scales;
  members["zero_points"] = report.zero_points;
  members["scale_records"] = report.scale_targets;
  members["loss"] = report.loss;
  members["snr"] = report.snr;
  members["snr_about"] = report.snr_about;
  members["warnings"] = warnings_of(report);
  return members;
}

// Returns the bytes that were written, and the members of each ConvertedTensor.
nb::tuple convert_file(const std::vector<std::string>& inputs, const std::string& output,
                       const std::optional<std::string>& spec,
                       const std::optional<std::string>& layout_in, const nb::dict& given) {
  Conversion conversion = conversion_of(given);
  ConvertOptions& options = conversion.options;
  const OpenOptions open = open_options(spec, layout_in);
  std::vector<TensorReport> reports;
  const std::uint64_t bytes =
      value(run(conversion.jobs, kLong, [&](const Execution& execution) -> Result<std::uint64_t> {
        options.execution = execution;
        BTF_ASSIGN(const TensorSet set, TensorSet::open(inputs, open));
        if (set.member_count() == 0) return std::unexpected(no_files(set));
        BTF_TRY(select(set, conversion));
        return convert(set, output, options,
                       [&](const TensorReport& report) { reports.push_back(report); });
      }));
  nb::list tensors;
  for (const TensorReport& report : reports) tensors.append(report_dict(report));
  return nb::make_tuple(bytes, tensors);
}

}  // namespace

void bind_convert(nb::module_& module) {
  module.def("convert_file", convert_file, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
             nb::arg());
}

namespace {

// --- Files that the workers of an executor convert ---

using report::Json;
using report::json_number;
using report::JsonNode;

// Paths of the inputs, the same for all workers.
using Inputs = std::vector<std::string>;

Json numbers(const auto& values) {
  Json list = Json::array();
  for (const auto& one : values) list.push_back(json_number(one));
  return list;
}

Json json_of(const TensorReport& report) {
  const LossAccount& loss = report.loss;
  const std::vector<std::uint64_t> lost{loss.elements, loss.overflowed, loss.nan_lost, loss.to_zero,
                                        loss.inexact,  loss.nan,        loss.sign_lost};
  Json zero_points = Json::array();
  for (const std::int64_t zero : report.zero_points) zero_points.push_back(std::to_string(zero));
  Json json{{"source", json_number(report.source)},
            {"target", json_number(report.target)},
            {"name", report.name},
            {"output", report.output},
            {"source_dtype", info(report.source_dtype).name},
            {"dtype", info(report.target_dtype).name},
            {"source_layout", spec(report.source_layout).name},
            {"layout", spec(report.target_layout).name},
            {"source_shape", numbers(report.source_dims)},
            {"shape", numbers(report.target_dims)},
            {"bytes", json_number(report.data_bytes)},
            {"lost", numbers(lost)},
            {"max_abs", json_number(loss.max_abs)},
            {"max_rel", json_number(loss.max_rel)},
            {"scales", numbers(report.scales)},
            {"zero_points", std::move(zero_points)},
            {"scale_records", numbers(report.scale_targets)},
            {"unlinked", report.unlinked},
            {"objections", report.objections}};
  if (report.nnz) json["nnz"] = json_number(*report.nnz);
  if (report.snr) json["snr"] = json_number(*report.snr);
  if (report.snr_about) json["snr_about"] = json_number(*report.snr_about);
  if (report.kept) json["kept"] = *report.kept;
  return json;
}

template <typename T>
T known(const JsonNode& node, Result<T> (*parse)(std::string_view), T otherwise) {
  const auto found = parse(node.text());
  if (found) return *found;
  if (!node.failed()) node.fail("is not a known name");
  return otherwise;
}

std::vector<std::uint64_t> counts(const JsonNode& list) {
  std::vector<std::uint64_t> found;
  list.each([&](const JsonNode& node) { found.push_back(node.count()); });
  return found;
}

TensorReport report_of(const JsonNode& node) {
  TensorReport report;
  report.source = node["source"].count();
  report.target = node["target"].count();
  report.name = node["name"].text();
  report.output = node["output"].text();
  report.source_dtype = known(node["source_dtype"], parse_dtype, DType{});
  report.target_dtype = known(node["dtype"], parse_dtype, DType{});
  report.source_layout = known(node["source_layout"], parse_layout, Layout{});
  report.target_layout = known(node["layout"], parse_layout, Layout{});
  report.source_dims = node["source_shape"].dims();
  report.target_dims = node["shape"].dims();
  report.data_bytes = node["bytes"].count();
  const std::vector<std::uint64_t> lost = counts(node["lost"]);
  if (lost.size() != 7) {
    node["lost"].fail("is not seven numbers");
  } else {
    report.loss = {.elements = lost[0],
                   .overflowed = lost[1],
                   .nan_lost = lost[2],
                   .to_zero = lost[3],
                   .inexact = lost[4],
                   .nan = lost[5],
                   .sign_lost = lost[6]};
  }
  report.loss.max_abs = node["max_abs"].number();
  report.loss.max_rel = node["max_rel"].number();
  node["scales"].each([&](const JsonNode& scale) { report.scales.push_back(scale.number()); });
  node["zero_points"].each([&](const JsonNode& zero) {
    report.zero_points.push_back(zero.integer(INT64_MIN, INT64_MAX));
  });
  report.scale_targets = counts(node["scale_records"]);
  report.unlinked = node["unlinked"].flag();
  node["objections"].each(
      [&](const JsonNode& objection) { report.objections.push_back(objection.text()); });
  if (node.has("nnz")) report.nnz = node["nnz"].count();
  if (node.has("snr")) report.snr = node["snr"].number();
  if (node.has("snr_about")) report.snr_about = node["snr_about"].number();
  if (node.has("kept")) report.kept = node["kept"].text();
  return report;
}

std::vector<PlannedPair> plan_of(std::span<const PlannedFile> files) {
  std::vector<PlannedPair> items;
  for (const PlannedFile& file : files)
    items.push_back({.name = file.name, .actual_bytes = file.bytes, .bytes = file.bytes});
  return items;
}

struct PlanOnly final : ConvertShare {
  PlanOnly(BatchPlan& plan_to, const std::vector<std::string>& deciding)
      : batch(plan_to), words(deciding) {}

  Result<std::vector<std::uint64_t>> pick(std::span<const PlannedFile> files) override {
    const std::vector<PlannedPair> items = plan_of(files);
    batch.digest = plan_digest(batch.command, words, 1, items);
    for (const PlannedPair& item : items) batch.costs.push_back(item.bytes + kPairCost);
    return std::vector<std::uint64_t>();
  }
  void begin(std::uint64_t) override {}
  void end(std::uint64_t, std::span<const std::string>, std::uint64_t) override {}

  BatchPlan& batch;
  const std::vector<std::string>& words;
};

// Writes each file as a line of a part.
struct Lines final : ConvertShare {
  Lines(const std::string& of_plan, const std::vector<std::string>& deciding,
        std::vector<std::uint64_t> of_worker)
      : digest(of_plan), words(deciding), own(std::move(of_worker)) {
    std::ranges::sort(own);
  }

  Result<std::vector<std::uint64_t>> pick(std::span<const PlannedFile> files) override {
    BTF_TRY(check_plan(plan_digest("btf.batch.convert", words, 1, plan_of(files)), digest));
    for (const PlannedFile& file : files) paths.push_back(file.path);
    return own;
  }
  void begin(std::uint64_t number) override {
    before = states.of(paths[number]);
    tensors = Json::array();
    began = std::chrono::steady_clock::now();
  }
  void end(std::uint64_t number, std::span<const std::string> outputs,
           std::uint64_t bytes) override {
    Json found{{"number", json_number(number)},
               {"path", paths[number]},
               {"result", "converted"},
               {"outputs", Json(std::vector<std::string>(outputs.begin(), outputs.end()))},
               {"bytes", json_number(bytes)},
               {"tensors", std::move(tensors)}};
    PartLine line{
        .number = number, .result = "converted", .found = report::dump_exact(std::move(found))};
    line.files.push_back(before);
    for (const std::string& output : outputs) line.files.push_back(states.of(output));
    line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    lines.push_back(text(line));
  }

  const std::string& digest;
  const std::vector<std::string>& words;
  std::vector<std::uint64_t> own;
  std::vector<std::string> paths;
  FileStates states;
  std::optional<FileState> before;
  Json tensors;
  std::chrono::steady_clock::time_point began;
  std::vector<std::string> lines;
};

Status convert_share(const Inputs& inputs, const std::string& output,
                     const std::optional<std::string>& spec,
                     const std::optional<std::string>& layout_in, const nb::dict& given,
                     ConvertShare& share, const TensorReportSink& report = {}) {
  Conversion conversion = conversion_of(given);
  const OpenOptions open = open_options(spec, layout_in);
  return run(1, kLong, [&](const Execution& execution) -> Status {
    conversion.options.execution = execution;
    BTF_ASSIGN(const TensorSet set, TensorSet::open(inputs, open));
    BTF_TRY(select(set, conversion));
    return convert(set, output, conversion.options, share, report);
  });
}

// `words` are the options that affect results.
BatchPlan plan(const Inputs& inputs, const std::string& output,
               const std::optional<std::string>& spec, const std::optional<std::string>& layout_in,
               const nb::dict& given, const std::vector<std::string>& words) {
  BatchPlan plan{.command = "btf.batch.convert", .operands = inputs};
  plan.operands.push_back(output);
  PlanOnly share(plan, words);
  check(convert_share(inputs, output, spec, layout_in, given, share));
  return plan;
}

std::vector<std::string> converted(const Inputs& inputs, const std::string& output,
                                   const std::optional<std::string>& spec,
                                   const std::optional<std::string>& layout_in,
                                   const nb::dict& given, const std::vector<std::string>& words,
                                   const std::string& digest,
                                   const std::vector<std::uint64_t>& numbers) {
  Lines lines(digest, words, numbers);
  check(
      convert_share(inputs, output, spec, layout_in, given, lines,
                    [&](const TensorReport& report) { lines.tensors.push_back(json_of(report)); }));
  check(lines.states.status);
  return std::move(lines.lines);
}

// Returns what convert_file() does: the bytes, and the members of each tensor.
nb::tuple report(const std::string& path) {
  const std::vector<std::string> paths{path};
  const Parts parts = value(Parts::open(paths));
  std::uint64_t bytes = 0;
  nb::list tensors;
  check(parts.each(
      [&](std::string_view line) -> Result<TakeItem> {
        BTF_ASSIGN(const Json json, report::parse_exact(line, "an item of a part"));
        std::string trouble;
        const JsonNode node(json, trouble);
        const auto found = std::make_shared<std::vector<TensorReport>>();
        const std::uint64_t size = node["bytes"].count();
        node["tensors"].each([&](const JsonNode& tensor) { found->push_back(report_of(tensor)); });
        if (!trouble.empty()) return fail(ErrorCode::malformed, trouble);
        return [&, found, size]() -> Status {
          bytes += size;
          for (const TensorReport& one : *found) tensors.append(report_dict(one));
          return {};
        };
      },
      {.jobs = 1}));
  return nb::make_tuple(bytes, tensors);
}

}  // namespace

void bind_convert_batch(nb::module_& module) {
  module.def("batch_convert_plan", plan, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
             nb::arg(), nb::arg());
  module.def("batch_convert_files", converted, nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
  module.def("batch_convert_report", report);
}

}  // namespace btf::python
