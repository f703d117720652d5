#include "network/node/call.h"

#include <cmath>

#include "btf/try.h"

namespace btf::network {
namespace {

// More are no shape and no list of axes.
constexpr std::uint64_t kMostWhole = 1U << 16;

}  // namespace

std::unexpected<Error> not_computed(std::string why) {
  return fail(ErrorCode::unsupported, std::move(why));
}

Status check_terms(std::uint64_t terms) {
  constexpr std::uint64_t kMost = 1ULL << 22;
  if (terms <= kMost) return {};
  return not_computed("each of its elements is made of " + std::to_string(terms) + " others");
}

Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto all = static_cast<std::int64_t>(rank);
  if (axis < -all || axis >= all)
    return not_computed("its axis " + std::to_string(axis) + " is outside of rank " +
                        std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + all : axis);
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const auto at = attributes.find(name);
  return at == attributes.end() ? otherwise : at->second.integer.value_or(otherwise);
}

double Call::real(std::string_view name, double otherwise) const {
  const auto at = attributes.find(name);
  if (at == attributes.end()) return otherwise;
  if (at->second.integer) return static_cast<double>(*at->second.integer);
  return at->second.real.value_or(otherwise);
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const auto at = attributes.find(name);
  return std::string(at == attributes.end() ? otherwise
                                            : std::string_view(at->second.text.value_or("")));
}

std::vector<std::int64_t> Call::integers(std::string_view name) const {
  const auto at = attributes.find(name);
  return at == attributes.end() ? std::vector<std::int64_t>() : at->second.integers;
}

Result<Tensor*> Call::input(std::size_t i) const {
  if (!has_input(i)) return not_computed("its input " + std::to_string(i) + " is missing");
  return inputs[i];
}

Result<std::vector<double>> Call::whole_reals(std::size_t i) const {
  BTF_ASSIGN(Tensor* const tensor, input(i));
  if (tensor->elements() > kMostWhole)
    return not_computed("its input " + std::to_string(i) + " has " +
                        std::to_string(tensor->elements()) + " elements, which say a shape");
  std::vector<double> numbers;
  for (std::uint64_t number = 0; number < tensor->elements(); ++number)
    numbers.push_back(tensor->value(number));
  return numbers;
}

Result<std::vector<std::int64_t>> Call::whole_integers(std::size_t i) const {
  constexpr double kMost = 0x1p62;
  BTF_ASSIGN(const std::vector<double> numbers, whole_reals(i));
  std::vector<std::int64_t> integers;
  for (const double number : numbers) {
    if (std::isnan(number)) return not_computed("its input " + std::to_string(i) + " is not known");
    integers.push_back(static_cast<std::int64_t>(std::clamp(number, -kMost, kMost)));
  }
  return integers;
}

Result<std::vector<std::int64_t>> Call::integers_of(std::size_t i, std::string_view name) const {
  if (has_input(i)) return whole_integers(i);
  return integers(name);
}

}  // namespace btf::network
