// A share of what there is to measure, a few items at a time.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "btf/fit/share.h"
#include "btf/try.h"
#include "fit/inputs.h"
#include "fit/items/fit_plan.h"
#include "fit/items/item_measuring.h"

namespace btf {
namespace {

// As many are lost if the process ends.
constexpr std::size_t kTogether = 32;

using Texts = std::set<std::string>;

Texts read_troubles(const FitPlan& plan) {
  Texts all;
  const auto add = [&](const std::vector<std::string>& troubles) {
    all.insert(troubles.begin(), troubles.end());
  };
  for (const Dump& dump : plan.dumps()) add(dump.read_troubles());
  if (plan.network() != nullptr) add(plan.network()->read_troubles());
  return all;
}

// What of the item could not be read: its own values, or those that its layer reads.
Texts troubles_of(const FitMeasures& measures, const Texts& unread) {
  Texts found;
  const auto take = [&](const std::string& trouble) {
    if (!trouble.empty()) found.insert(trouble);
  };
  for (const FitMeasures::OfRun& run : measures.runs)
    for (const FitMeasures::OfType& type : run.types) {
      take(type.trouble);
      for (const ValueNoise& value : type.values) take(value.trouble);
      if (type.node && unread.contains(type.node->plain.trouble)) take(type.node->plain.trouble);
    }
  for (const ScaledMeasure& scales : measures.scales) take(scales.trouble);
  return found;
}

class ShareMeasuring {
 public:
  ShareMeasuring(const FitPlan& plan, const FitOptions& options, std::optional<FileState> graph,
                 FitShare& share)
      : plan_(plan),
        options_(options),
        graph_(graph),
        share_(share),
        measuring_(plan, options.execution) {}

  Status run() {
    std::vector<std::uint64_t> own;
    for (std::uint64_t number = 0; number < plan_.items().size(); ++number)
      if (share_.is_own(number)) own.push_back(number);
    for (std::size_t first = 0; first < own.size(); first += kTogether)
      BTF_TRY(measure(std::span(own).subspan(first, std::min(kTogether, own.size() - first))));
    return {};
  }

 private:
  Status measure(std::span<const std::uint64_t> numbers) {
    std::vector<const FitItem*> items;
    for (const std::uint64_t number : numbers) items.push_back(&plan_.items()[number]);
    BTF_ASSIGN(std::vector<FitMeasures> found, measuring_.run(items));
    BTF_TRY(check_read(found));
    const Texts unread = read_troubles(plan_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Texts troubles = troubles_of(found[i], unread);
      MeasuredFit measured{.trouble = troubles.empty() ? "" : *troubles.begin()};
      measured.measures = std::make_shared<FitMeasures>(std::move(found[i]));
      BTF_ASSIGN(measured.files, files_of(*items[i]));
      share_.take(numbers[i], measured);
    }
    return {};
  }

  // An error of reading that no item tells of: the shard is to be run again.
  Status check_read(std::span<const FitMeasures> found) {
    const Texts unread = read_troubles(plan_);
    for (const FitMeasures& measures : found) told_.merge(troubles_of(measures, unread));
    for (const std::string& trouble : unread)
      if (!told_.contains(trouble)) return fail(ErrorCode::io, trouble);
    return {};
  }

  // Their states first: if they are unchanged after that, these are of what was read.
  Result<decltype(MeasuredFit::files)> files_of(const FitItem& item) const {
    decltype(MeasuredFit::files) files;
    for (const auto& [dump, member] : plan_.members(item)) {
      const TensorSet& set = plan_.dumps()[dump].set();
      const std::string path = set.path(member);
      if (std::ranges::find(files, path, [](const auto& file) { return file.first; }) ==
          files.end())
        files.emplace_back(path, FileState::of(path));
      BTF_TRY(set.check_unchanged(member));
    }
    if (options_.graph) files.emplace_back(*options_.graph, graph_);
    return files;
  }

  const FitPlan& plan_;
  const FitOptions& options_;
  std::optional<FileState> graph_;  // before it was read
  FitShare& share_;
  Texts told_;  // troubles of items
  ItemMeasuring measuring_;
};

}  // namespace

Status measure_fit(std::span<TensorSet> dumps, const FitOptions& options, FitShare& share) {
  const auto graph = options.graph ? FileState::of(*options.graph) : std::nullopt;
  BTF_ASSIGN(const FitInputs inputs, open_fit(dumps, options));
  const FitPlan plan(inputs.network.get(), inputs.dumps, options.dtypes);
  BTF_TRY(share.plan(plan.planned()));
  return ShareMeasuring(plan, options, graph, share).run();
}

}  // namespace btf
