#include "fit/rule/place_chain.h"

#include <algorithm>
#include <memory>
#include <span>

#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/node_values.h"
#include "fit/measure/run_plan.h"
#include "network/evaluation.h"

namespace btf {
namespace {

using Run = std::vector<double>;

class PlaceChain {
 public:
  PlaceChain(const NodeContext& context, std::uint32_t value)
      : context_(context),
        value_(value),
        evaluation_(context.network, stored_in(context.dump), kMostTerms),
        reading_(context.values[value], context.type, false) {}

  Result<std::optional<double>> error(const Ways& ways) {
    BTF_ASSIGN(std::optional<Numbers> found, open_numbers(context_.network, context_.dump, value_));
    if (!found) return std::nullopt;
    for (const std::uint32_t node : ways.nodes) {
      BTF_ASSIGN(const bool added, add(node, found->dims()));
      if (!added) return std::nullopt;
    }
    const std::uint64_t elements = found->elements();
    Effect effect;
    BTF_TRY(RunPlan(elements, kFitRun, {}).visit([&](std::uint64_t first, double weight) -> Status {
      count_ = static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, elements - first));
      BTF_TRY(found->read(first, std::span(exact_).first(count_)));
      reading_.apply(first, std::span(exact_).first(count_), narrow_);
      for (Link& link : links_) BTF_TRY(compute(link, first));
      effect.take(std::span(links_.back().exact).first(count_),
                  std::span(links_.back().narrow).first(count_), HUGE_VAL, {}, weight);
      return {};
    }));
    InputEffect result;
    effect.write(result);
    if (result.nonfinite > 0) return std::nullopt;
    return effect.error();
  }

 private:
  struct Input {
    std::optional<std::size_t> link{};         // which gives it
    bool is_value = false;                     // it is what is rounded
    std::unique_ptr<PlacedNumbers> numbers{};  // else
    Run read{};
  };
  struct Link {
    std::unique_ptr<NodeValues> values;
    const network::Operator* op = nullptr;
    std::vector<Input> inputs{};
    Run exact = Run(kFitRun);
    Run narrow = Run(kFitRun);
  };

  Result<bool> add(std::uint32_t node, const Dims& dims) {
    const network::Node& own = context_.network.nodes()[node];
    const auto* const row =
        network::find_operator(own.op, own.domain, context_.network.version(own.domain));
    if (row == nullptr || row->passing != network::Passing::places) return false;
    BTF_ASSIGN(const network::Operator* const op, evaluation_.made_operator(node));
    if (op->outputs()[0].dims != dims) return false;
    Link link{.values = std::make_unique<NodeValues>(context_, node, false), .op = op};
    const std::vector<Dims> placed = op->places();
    for (std::size_t i = 0; i < placed.size(); ++i) {
      Input& input = link.inputs.emplace_back();
      input.is_value = own.inputs[i] == value_;
      if (const auto at = std::ranges::find_if(
              links_,
              [&](const Link& one) { return one.values->node().outputs[0] == own.inputs[i]; });
          at != links_.end())
        input.link = static_cast<std::size_t>(at - links_.begin());
      if (input.is_value || input.link) {
        if (placed[i] != dims) return false;
        continue;
      }
      BTF_ASSIGN(Numbers* const numbers, link.values->numbers(i));
      input.numbers = std::make_unique<PlacedNumbers>(*numbers, placed[i], dims);
      input.read.resize(kFitRun);
    }
    links_.push_back(std::move(link));
    return true;
  }

  Status compute(Link& link, std::uint64_t first) {
    std::vector<std::span<const double>> exact;
    std::vector<std::span<const double>> narrow;
    for (Input& input : link.inputs) {
      if (input.numbers) BTF_TRY(input.numbers->read(first, std::span(input.read).first(count_)));
      const Run& right = input.is_value ? exact_
                         : input.link   ? links_[*input.link].exact
                                        : input.read;
      const Run& off = input.is_value ? narrow_
                       : input.link   ? links_[*input.link].narrow
                                      : input.read;
      exact.push_back(std::span(right).first(count_));
      narrow.push_back(std::span(off).first(count_));
    }
    link.op->at_places(exact, std::span(link.exact).first(count_));
    link.op->at_places(narrow, std::span(link.narrow).first(count_));
    return {};
  }

  const NodeContext& context_;
  std::uint32_t value_;
  network::Evaluation evaluation_;
  Reading reading_;
  std::vector<Link> links_;
  Run exact_ = Run(kFitRun);
  Run narrow_ = Run(kFitRun);
  std::size_t count_ = 0;  // of the run
};

}  // namespace

std::optional<double> chain_error(const NodeContext& context, std::uint32_t value,
                                  const Ways& ways) {
  const auto error = PlaceChain(context, value).error(ways);
  return error ? *error : std::nullopt;  // an error of reading is noted where it arose
}

}  // namespace btf
