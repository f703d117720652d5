#include "diff/hints/evidence/search_context.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "elements/cast.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kSmallBytes = 1U << 20;  // including gaps between the elements

}  // namespace

Result<Lookup> Lookup::open(const DiffSide& side, const StridedLayout& view) {
  Lookup lookup(side, view);
  if (side.storage() != nullptr) {
    BTF_ASSIGN(lookup.reader_, side.reader(*lookup.view_));
  }
  return lookup;
}

Result<std::vector<std::uint64_t>> Lookup::codes(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> codes;
  codes.reserve(numbers.size());
  if (side_->storage() == nullptr) {
    BTF_TRY(search(numbers));
    for (const std::uint64_t number : numbers) codes.push_back(found_.at(number));
    return codes;
  }
  const std::uint64_t bytes = info(side_->dtype()).buffer_bytes();
  if (all_.empty() && view_->storage_elements <= kSmallBytes / bytes && !numbers.empty()) {
    BTF_TRY(load());
  }
  for (const std::uint64_t number : numbers) {
    std::uint64_t code = 0;
    if (!all_.empty()) {
      std::memcpy(&code, all_.data() + number * bytes, bytes);
    } else {
      Box box{index_of(view_->dims, number), {}};
      box.hi = box.lo;
      for (std::uint64_t& end : box.hi) ++end;
      BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
      std::memcpy(&code, slab.data, bytes);
    }
    codes.push_back(code);
  }
  return codes;
}

Result<std::vector<long double>> Lookup::values(std::span<const std::uint64_t> numbers) {
  BTF_ASSIGN(const std::vector<std::uint64_t> codes, this->codes(numbers));
  std::vector<long double> values;
  values.reserve(codes.size());
  for (const std::uint64_t code : codes) values.push_back(value_of(side_->dtype(), code));
  return values;
}

Status Lookup::load() {
  const Box whole{Dims(view_->dims.size(), 0), view_->dims};
  BTF_ASSIGN(const SourceSlab slab, reader_->read(whole));
  Buffer buffer;
  const std::byte* data = in_row_major(slab, view_->dims, side_->dtype(), buffer).data;
  all_.assign(data, data + view_->elements() * info(side_->dtype()).buffer_bytes());
  return {};
}

Status Lookup::search(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> missing;
  std::vector<Dims> indices;
  for (const std::uint64_t number : numbers) {
    if (!found_.try_emplace(number, 0).second) continue;
    missing.push_back(number);
    indices.push_back(index_of(view_->dims, number));
  }
  if (missing.empty()) return {};
  BTF_ASSIGN(const std::vector<Element> elements, side_->elements(indices));
  for (std::size_t i = 0; i < missing.size(); ++i) found_[missing[i]] = elements[i].code;
  return {};
}

long double value_of(DType dtype, std::uint64_t code) {
  long double value = 0;
  widener<long double>(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &value);
  return value;
}

std::string dim_text(std::uint32_t dim, std::size_t rank) {
  constexpr std::string_view kLetters = "NCHW";
  std::string text = "dim " + std::to_string(dim);
  if (rank == kLetters.size()) text += " (" + std::string(1, kLetters[dim]) + ")";
  return text;
}

std::string number_text(long double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  const bool whole = value == std::nearbyint(value) && std::abs(value) < 1e19L;
  std::array<char, 64> text;
  const auto digits = [&](int precision) -> std::string {
    const auto end = std::to_chars(text.begin(), text.end(), static_cast<double>(value),
                                   std::chars_format::general, precision);
    return {text.begin(), end.ptr};
  };
  if (whole) {
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 0);
    return {text.begin(), end.ptr};
  }
  // All digits where fewer would look like an integer, as in 1.0000003.
  const std::string few = digits(6);
  return few.find_first_of(".e") == std::string::npos ? digits(17) : few;
}

std::string short_number_text(long double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), static_cast<double>(value),
                                 std::chars_format::general, 3);
  return {text.begin(), end.ptr};
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole) + " elements";
}

std::string mismatches_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " mismatch" : " mismatches");
}

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

std::optional<DType> owner_of(const StepGrid& grid, DType actual, DType golden) {
  for (const DType dtype : {actual, golden}) {
    const StepGrid own = step_grid(dtype, dtype);
    if (own.integer == grid.integer && (own.integer || (own.precision == grid.precision &&
                                                        own.least_exponent == grid.least_exponent)))
      return dtype;
  }
  return std::nullopt;
}

std::string order_text(std::span<const std::uint32_t> order) {
  std::string text;
  for (const std::uint32_t dim : order) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return text;
}

namespace {

constexpr std::uint64_t kAnywhere = 256;

// A hash: looks random, but is always the same.
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
  // One from each of equal parts, so that no element is taken twice.
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
std::vector<std::size_t> agreeing_anywhere(const SearchContext& context) {
  std::vector<Real> golden;
  for (const Point& other : context.anywhere) golden.push_back(static_cast<Real>(other.golden));
  std::vector<std::size_t> agreed;
  for (const Point& point : context.mismatches) {
    const std::vector<Real> actual(golden.size(), static_cast<Real>(point.actual));
    agreed.push_back(
        agreeing(actual.data(), golden.data(), golden.size(), context.agreement).count());
  }
  return agreed;
}

std::vector<std::size_t> by_rarity(const SearchContext& context) {
  static_assert(kAnywhere <= kPairRun);
  const std::vector<std::size_t> agreeing = context.agreement.narrow
                                                ? agreeing_anywhere<double>(context)
                                                : agreeing_anywhere<long double>(context);
  std::vector<std::size_t> order(agreeing.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Ties are broken by a hash of the place, so that they come from all over the tensor.
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair(agreeing[i], mixed(context.mismatches[i].number + 1));
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

Result<SearchContext> make_context(const HintInput& input, const Sample& sample,
                                   const Agreement& agreement) {
  SearchContext context{.input = input,
                        .agreement = agreement,
                        .mismatches = {},
                        .anywhere = sample.anywhere,
                        .rarest = {}};
  context.elements = *element_count(input.golden.dims());
  for (const Point& point : sample.mismatches)
    if (!sampled_agree(point.actual, point.golden, agreement)) context.mismatches.push_back(point);
  const std::size_t kept = context.mismatches.size();
  const std::size_t sampled = sample.mismatches.size();
  if (input.mismatched <= sampled) {
    context.mismatched = kept;
  } else if (2 * kept >= sampled) {
    const double share = static_cast<double>(kept) / static_cast<double>(sampled);
    context.mismatched =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(input.mismatched) * share));
  } else {
    BTF_ASSIGN(const Residue residue, residue_of(input, agreement));
    context.mismatched = residue.mismatched;
    BTF_ASSIGN(context.mismatches, look_up(input, residue.sample));
  }
  context.rarest = by_rarity(context);
  context.rounded = looks_rounded(context.mismatches, context.anywhere);
  return context;
}

std::string left_over_text(const SearchContext& context, std::uint64_t mismatched) {
  if (mismatched >= context.input.mismatched) return mismatches_text(mismatched);
  return mismatches_text(mismatched) + " beyond " + context.agreement.lenience + " (" +
         std::to_string(context.input.mismatched - mismatched) + " within it)";
}

std::string within_text(const SearchContext& context, std::uint64_t count) {
  return count == 0
             ? ""
             : ", " + std::to_string(count) + " of them within " + context.agreement.lenience;
}

std::uint64_t allowed_exceptions(const SearchContext& context) { return context.mismatched / 100; }

}  // namespace btf::hints
