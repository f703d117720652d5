#include "diff/hints/evidence/inquiry.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/agree_words.h"
#include "diff/hints/evidence/residue.h"
#include "diff/hints/evidence/rounding_grid.h"
#include "diff/hints/evidence/wording.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kAnywhere = 256;

// Numbers that look random and are always the same.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::vector<std::uint64_t> numbers_anywhere(std::uint64_t elements) {
  std::vector<std::uint64_t> numbers;
  if (elements <= kAnywhere) {
    numbers.resize(elements);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  // One from each of equal parts, so that none comes twice.
  for (std::uint64_t k = 0; k < kAnywhere; ++k) {
    const std::uint64_t part = elements / kAnywhere;
    numbers.push_back(k * part + mixed(k + 1) % part);
  }
  return numbers;
}

Result<std::vector<Point>> look_up(const HintInput& input, std::span<const std::uint64_t> numbers) {
  std::vector<Dims> indices;
  indices.reserve(numbers.size());
  for (const std::uint64_t number : numbers)
    indices.push_back(index_of(input.golden.dims(), number));
  BTF_ASSIGN(const std::vector<Element> actual, input.actual.elements(indices));
  BTF_ASSIGN(const std::vector<Element> golden, input.golden.elements(indices));
  std::vector<Point> points;
  points.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    points.push_back({numbers[i], actual[i].code, golden[i].code,
                      value_of(input.actual.dtype(), actual[i].code),
                      value_of(input.golden.dtype(), golden[i].code)});
  return points;
}

template <typename Real>
std::vector<std::size_t> agreeing_anywhere(const Inquiry& inquiry) {
  std::vector<Real> golden;
  for (const Point& other : inquiry.anywhere) golden.push_back(static_cast<Real>(other.golden));
  std::vector<std::size_t> agreed;
  for (const Point& point : inquiry.mismatches) {
    const std::vector<Real> actual(golden.size(), static_cast<Real>(point.actual));
    agreed.push_back(
        agreeing(actual.data(), golden.data(), golden.size(), inquiry.agreement).count());
  }
  return agreed;
}

std::vector<std::size_t> by_rarity(const Inquiry& inquiry) {
  static_assert(kAnywhere <= kPairRun);
  const std::vector<std::size_t> agreeing = inquiry.agreement.narrow
                                                ? agreeing_anywhere<double>(inquiry)
                                                : agreeing_anywhere<long double>(inquiry);
  std::vector<std::size_t> order(agreeing.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // From all over the tensor where they are equally rare.
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair(agreeing[i], mixed(inquiry.mismatches[i].number + 1));
  });
  return order;
}

}  // namespace

Result<Sample> take_sample(const HintInput& input) {
  Sample sample;
  BTF_ASSIGN(sample.mismatches, look_up(input, input.sample));
  BTF_ASSIGN(sample.anywhere,
             look_up(input, numbers_anywhere(*element_count(input.golden.dims()))));
  return sample;
}

Result<Inquiry> inquire(const HintInput& input, const Sample& sample, const Agreement& agreement) {
  Inquiry inquiry{.input = input,
                  .agreement = agreement,
                  .mismatches = {},
                  .anywhere = sample.anywhere,
                  .rarest = {}};
  inquiry.elements = *element_count(input.golden.dims());
  for (const Point& point : sample.mismatches)
    if (!sampled_agree(point.actual, point.golden, agreement)) inquiry.mismatches.push_back(point);
  const std::size_t kept = inquiry.mismatches.size();
  const std::size_t sampled = sample.mismatches.size();
  if (input.mismatched <= sampled) {
    inquiry.mismatched = kept;
  } else if (2 * kept >= sampled) {
    const double share = static_cast<double>(kept) / static_cast<double>(sampled);
    inquiry.mismatched =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(input.mismatched) * share));
  } else {
    BTF_ASSIGN(const Residue residue, residue_of(input, agreement));
    inquiry.mismatched = residue.mismatched;
    BTF_ASSIGN(inquiry.mismatches, look_up(input, residue.sample));
  }
  inquiry.rarest = by_rarity(inquiry);
  inquiry.rounded = looks_rounded(inquiry.mismatches, inquiry.anywhere);
  return inquiry;
}

std::string left_over_text(const Inquiry& inquiry, std::uint64_t mismatched) {
  if (mismatched >= inquiry.input.mismatched) return mismatches_text(mismatched);
  return mismatches_text(mismatched) + " beyond " + inquiry.agreement.lenience + " (" +
         std::to_string(inquiry.input.mismatched - mismatched) + " within it)";
}

std::string within_text(const Inquiry& inquiry, std::uint64_t count) {
  return count == 0 ? ""
                    : ", " + std::to_string(count) + " of them within " +
                          inquiry.agreement.lenience;
}

std::uint64_t allowed_exceptions(const Inquiry& inquiry) { return inquiry.mismatched / 100; }

}  // namespace btf::hints
