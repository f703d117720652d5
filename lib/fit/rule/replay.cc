#include "fit/rule/replay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fit/measure/effect.h"
#include "fit/rule/place_chain.h"
#include "fit/rule/ways.h"
#include "network/evaluation.h"

namespace btf {
namespace {

constexpr std::size_t kMostNodes = 16;
constexpr std::uint64_t kMostResults = 64;           // of which errors are looked at
constexpr std::uint64_t kMostTermsOfOne = 1U << 21;  // of a replay
constexpr std::uint64_t kMostTermsOfAll = 1U << 26;

}  // namespace

std::optional<double> Replay::error(std::uint32_t value, std::uint32_t node) {
  const auto [at, added] = known_.try_emplace({value, node});
  if (added) at->second = computed(value, node);
  return at->second;
}

std::optional<double> Replay::error_at_places(std::uint32_t value, std::uint32_t node) {
  const auto [at, added] = at_places_.try_emplace({value, node});
  if (!added) return at->second;
  const std::optional<Ways> ways = find_ways(network_, flow_, value, node, kMostNodes);
  const NodeContext context{network_, dump_, type_, measures_.values};
  if (ways) at->second = chain_error(context, value, *ways);
  return at->second;
}

std::optional<double> Replay::computed(std::uint32_t value, std::uint32_t node) {
  const std::optional<Ways> ways = find_ways(network_, flow_, value, node, kMostNodes);
  if (!ways || ways->readers < 2 || terms_ > kMostTermsOfAll) return std::nullopt;
  const Reading reading(measures_.values[value], type_, false);
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
    for (const std::uint32_t one : ways->nodes)
      for (const std::uint32_t output : network_.nodes()[one].outputs)
        evaluations[i]->leave_out(output);
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
