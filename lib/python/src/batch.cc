// Comparisons that the workers of an executor share; their results are kept in a part.
#include "python/src/batch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/part.h"
#include "btf/try.h"
#include "python/src/diff.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

Status compare(const std::string& actual, const std::string& golden, SetDiffOptions options,
               const Execution& execution, SetDiffSink& sink, std::vector<std::string>* others) {
  options.each.execution = execution;
  BTF_ASSIGN(TwoSets sets, open_sets(actual, golden, options));
  if (others != nullptr) *others = others_of(sets);
  const Result<bool> same = diff(sets.actual, sets.golden, options, sink);
  return same ? Status() : std::unexpected(same.error());
}

// `words` are the options that affect results.
BatchPlan plan(const std::string& actual, const std::string& golden, const nb::dict& given,
               const std::vector<std::string>& words) {
  BatchPlan plan{.command = "diff", .operands = {actual, golden}};
  SetDiffOptions options = diff_options(given);
  options.pick = [&](std::span<const PlannedPair> pairs) {
    plan.digest = plan_digest("diff", words, 1, pairs);
    for (const PlannedPair& pair : pairs) plan.costs.push_back(pair.bytes + kPairCost);
    return std::vector<std::uint64_t>();
  };
  SetDiffResult unused;
  Keep keep(unused);
  check(run(1, kLong, [&](const Execution& execution) {
    return compare(actual, golden, options, execution, keep, &plan.others);
  }));
  plan.directories = unused.directories;
  return plan;
}

// Writes each pair as a line of a part.
struct Lines final : Keep {
  explicit Lines(SetDiffResult& kept) : Keep(kept) {}

  void begin(const FilePair& pair) override {
    Keep::begin(pair);
    item.actual = states.of(pair.actual, pair.actual_state);
    item.golden = states.of(pair.golden, pair.golden_state);
    began = std::chrono::steady_clock::now();
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    Keep::end(pair, outcome);
    item.pair = std::move(result.pairs.back());
    result.pairs.clear();
    item.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    lines.push_back(text(part_line(item)));
  }

  FileStates states;
  PartItem item;
  std::chrono::steady_clock::time_point began;
  std::vector<std::string> lines;
};

std::vector<std::string> compare_pairs(const std::string& actual, const std::string& golden,
                                       const nb::dict& given, const std::vector<std::string>& words,
                                       const std::string& digest,
                                       std::vector<std::uint64_t> numbers) {
  std::ranges::sort(numbers);
  SetDiffOptions options = diff_options(given);
  options.pick =
      [&](std::span<const PlannedPair> pairs) -> btf::Result<std::vector<std::uint64_t>> {
    BTF_TRY(check_plan(plan_digest("diff", words, 1, pairs), digest));
    return numbers;
  };
  SetDiffResult kept;
  Lines lines(kept);
  const Status done = run(1, kLong, [&](const Execution& execution) {
    return compare(actual, golden, options, execution, lines, nullptr);
  });
  // The error of a pair of files is in its line.
  if (!done && (done.error().code == ErrorCode::cancelled || lines.lines.size() < numbers.size()))
    raise(done.error());
  check(lines.states.status);
  return std::move(lines.lines);
}

// The part is closed when it is finished or abandoned. While it is open, no other call can resume
// it.
struct BatchPart {
  std::optional<PartWriter> writer;
};

PartWriter& open_writer(BatchPart& part) {
  if (!part.writer) raise({ErrorCode::invalid_argument, "the part is closed"});
  return *part.writer;
}

BatchPart create_part(const std::string& path, const BatchPlan& plan,
                      std::vector<std::string> options) {
  return {value(PartWriter::create(path,
                                   {.plan = plan.digest,
                                    .version = BTF_VERSION,
                                    .command = plan.command,
                                    .options = std::move(options),
                                    .operands = plan.operands,
                                    .directories = plan.directories,
                                    .items = plan.costs.size(),
                                    .others = plan.others},
                                   true))};
}

void add_line(BatchPart& part, const std::string& line) {
  check(open_writer(part).add(value(read_part_line(line))));
}

void finish(BatchPart& part) {
  check(open_writer(part).finish());
  part.writer.reset();
}

Comparison report_of(const std::string& path, const nb::dict& given) {
  Comparison comparison{.result = {}, .criteria = diff_options(given).each};
  const std::vector<std::string> paths{path};
  const Parts parts = value(Parts::open(paths));
  PageOrigin origin;
  SetDiffResult& result = comparison.result;
  result.actual = parts.head().operands.front();
  result.golden = parts.head().operands.back();
  result.directories = parts.head().directories;
  result.others = parts.head().others;
  check(parts.each_pair([&](const PartItem& item) -> Status {
    result.pairs.push_back(item.pair);
    for (const auto& file : {item.actual, item.golden})
      if (file) origin.add(*file);
    return {};
  }));
  comparison.newest_input = origin.newest_input;
  return comparison;
}

}  // namespace

void bind_batch(nb::module_& module) {
  nb::class_<BatchPlan>(module, "BatchPlan")
      .def_ro("costs", &BatchPlan::costs)
      .def_ro("digest", &BatchPlan::digest);
  nb::class_<BatchPart>(module, "BatchPart")
      .def("has",
           [](BatchPart& part, std::uint64_t number) { return open_writer(part).has(number); })
      .def("add", add_line)
      .def("finish", finish)
      .def("close", [](BatchPart& part) { part.writer.reset(); });
  module.def("batch_plan", plan);
  module.def("batch_compare", compare_pairs);
  module.def("batch_part", create_part);
  module.def("batch_report", report_of);
  bind_fit_batch(module);
  bind_layer_batch(module);
  bind_convert_batch(module);
}

}  // namespace btf::python
