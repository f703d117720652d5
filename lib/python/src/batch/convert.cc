// Files that workers convert.
#include "python/src/convert.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/part.h"
#include "btf/try.h"
#include "python/src/batch/batch.h"
#include "python/src/raise.h"
#include "python/src/run.h"
#include "report/text/json.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

using report::Json;
using report::json_number;
using report::JsonNode;

// The paths of the inputs, the same for all workers.
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

// Each file as a line of a part.
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
    before = FileState::of(paths[number]);
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
    for (const std::string& output : outputs) line.files.push_back(FileState::of(output));
    line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    lines.push_back(text(line));
  }

  const std::string& digest;
  const std::vector<std::string>& words;
  std::vector<std::uint64_t> own;
  std::vector<std::string> paths;
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

// `words`: all that decides.
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
  return std::move(lines.lines);
}

// As convert_file(): bytes, and members of each tensor.
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
          for (const TensorReport& one : *found) tensors.append(told(one));
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
