#include "fit/rule/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fit/measure/effect.h"
#include "network/evaluation.h"

namespace btf {
namespace {

using network::kNoValue;

constexpr std::size_t kMostBetween = 16;             // nodes
constexpr std::uint64_t kMostResults = 64;           // of which errors are looked at
constexpr std::uint64_t kMostTermsOfOne = 1U << 21;  // of a replay
constexpr std::uint64_t kMostTermsOfAll = 1U << 26;

// The number of one of `count` elements, apart from one another by no divisor of the dims.
std::uint64_t picked(std::uint64_t which, std::uint64_t count, std::uint64_t all) {
  const std::uint64_t step = all / count;
  return which * step + mixed(which) % step;
}

}  // namespace

std::optional<double> Replay::error(std::uint32_t value, std::uint32_t node) {
  const auto [at, added] = known_.try_emplace({value, node});
  if (added) at->second = computed(value, node);
  return at->second;
}

std::vector<std::uint32_t> Replay::between(std::uint32_t value, std::uint32_t node) const {
  const auto& nodes = network_.nodes();
  // Backward from the node, as far as nodes may come after the value.
  std::set<std::uint32_t> before{node};
  std::vector<std::uint32_t> open{node};
  const std::uint32_t first = network_.values()[value].node;
  while (!open.empty()) {
    const std::uint32_t one = open.back();
    open.pop_back();
    for (const std::uint32_t input : nodes[one].inputs) {
      const std::uint32_t maker =
          input == kNoValue ? network::kNoNode : network_.values()[input].node;
      if (maker == network::kNoNode || maker <= first || input == value) continue;
      if (before.insert(maker).second) open.push_back(maker);
      if (before.size() > 4 * kMostBetween) return {};
    }
  }
  // Forward from the value, of these.
  std::set<std::uint32_t> values{value};
  std::vector<std::uint32_t> found;
  std::size_t ways = 0;
  for (const std::uint32_t one : before) {  // in the order of the network
    if (std::ranges::none_of(nodes[one].inputs,
                             [&](std::uint32_t input) { return values.contains(input); }))
      continue;
    ways += std::ranges::find(nodes[one].inputs, value) != nodes[one].inputs.end() ? 1 : 0;
    if (one == node) continue;
    for (const std::uint32_t output : nodes[one].outputs)
      if (output != kNoValue && values.insert(output).second) found.push_back(output);
  }
  if (ways < 2 || found.size() > kMostBetween) return {};
  return found;
}

std::optional<double> Replay::computed(std::uint32_t value, std::uint32_t node) {
  const ValueNoise& own = measures_.values[value];
  const std::vector<std::uint32_t> left_out = between(value, node);
  if (left_out.empty() || terms_ > kMostTermsOfAll) return std::nullopt;
  const Reading reading(own, type_, false);
  network::Evaluation as_it_is(network_, stored_in(dump_), kMostTermsOfOne);
  network::Evaluation rounded(network_, stored_in(dump_), kMostTermsOfOne);
  rounded.change(value, [&reading](std::uint64_t number, double x) {
    double read = 0;
    reading.apply(number, std::span(&x, 1), std::span(&read, 1));
    return read;
  });
  double squares = 0;
  std::uint64_t count = 0;
  const std::array evaluations{&as_it_is, &rounded};
  std::array<network::Operator*, 2> operators{};
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    for (const std::uint32_t one : left_out) evaluations[i]->leave_out(one);
    evaluations[i]->set({.operand = 0, .result = 0, .accumulator = 0});
    const auto made = evaluations[i]->made_operator(node);
    if (!made) return std::nullopt;
    operators[i] = *made;
  }
  const std::uint64_t all = element_count(operators[0]->outputs()[0].dims).value_or(0);
  const std::uint64_t wanted = std::min(all, kMostResults);
  bool finite = true;
  for (std::uint64_t i = 0; i < wanted && finite; ++i) {
    const std::uint64_t number = picked(i, wanted, all);
    const double right = operators[0]->element(0, number).value;
    const double off = operators[1]->element(0, number).value;
    if (!std::isfinite(right)) continue;
    finite = std::isfinite(off);
    squares += (off - right) * (off - right);
    ++count;
  }
  for (const network::Evaluation* const one : evaluations) {
    terms_ += one->effort().terms;
    finite &= one->effort().trouble.empty();
  }
  if (!finite || count == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(count));
}

}  // namespace btf
