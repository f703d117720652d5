// Byte order, nibble order of 8-bit codes, and bits read as another dtype.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "diff/hints/models/code_reading.h"
#include "diff/hints/searches/orders.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

// Codes of bool say too little: any of them but 0 is true.
bool has_bits(const DTypeInfo& row) { return row.kind != NumberKind::boolean; }

// The plainest explanation first: bits of the side itself, read as what the other side is; actual's
// before golden's.
std::vector<CodeReading> plainest_first(const HintInput& input, std::vector<CodeReading> readings) {
  std::ranges::stable_sort(readings, {}, [&](const CodeReading& reading) {
    const bool of_actual = reading.side == MovedSide::actual;
    const DType other = of_actual ? input.golden.dtype() : input.actual.dtype();
    return (reading.stored == reading.taken_as ? 0 : 4) + (reading.is == other ? 0 : 2) +
           (of_actual ? 0 : 1);
  });
  return readings;
}

void add_for_sides(const HintInput& input, DType taken_as, DType is, const BitChange* change,
                   std::vector<CodeReading>& readings) {
  readings.push_back({MovedSide::actual, input.actual.dtype(), taken_as, is, change});
  readings.push_back({MovedSide::golden, input.golden.dtype(), taken_as, is, change});
}

SearchResult first_that_explains(const Inquiry& inquiry, const std::vector<CodeReading>& readings) {
  const auto count = static_cast<double>(readings.size());
  for (const CodeReading& reading : plainest_first(inquiry.input, readings)) {
    BTF_ASSIGN(std::optional<Finding> finding, try_reading(inquiry, reading, count));
    if (finding) return finding;
  }
  return std::nullopt;
}

SearchResult find_changed(const Inquiry& inquiry, Cause cause) {
  std::vector<CodeReading> readings;
  for (const BitChange& change : bit_changes())
    for (const DTypeInfo& row : dtypes())
      if (change.cause == cause && row.bits >= change.least_bits && row.bits <= change.most_bits &&
          has_bits(row))
        add_for_sides(inquiry.input, row.dtype, row.dtype, &change, readings);
  return first_that_explains(inquiry, readings);
}

// Small floats whose bits may be mixed up where the other side was never rounded to them.
bool is_small_float(const DTypeInfo& row) {
  return row.floating() && !row.fp.power_of_two && (row.bits == 8 || row.bits == 16);
}

// The same numbers, but for the ends of the range.
bool reads_alike(const DTypeInfo& a, const DTypeInfo& b) {
  return a.fp.mantissa_bits == b.fp.mantissa_bits && a.fp.bias == b.fp.bias;
}

// Floats whose exponents are of different widths.
bool differ_throughout(const CodeReading& reading) {
  const DTypeInfo& one = info(reading.taken_as);
  const DTypeInfo& other = info(reading.is);
  return one.floating() && other.floating() && one.fp.mantissa_bits != other.fp.mantissa_bits;
}

bool is_of_a_side(const HintInput& input, const CodeReading& reading) {
  return std::ranges::any_of(std::array{input.actual.dtype(), input.golden.dtype()},
                             [&](DType t) { return t == reading.taken_as || t == reading.is; });
}

bool are_of_both_sides(const HintInput& input, const CodeReading& reading) {
  const std::pair sides(input.actual.dtype(), input.golden.dtype());
  return sides == std::pair(reading.taken_as, reading.is) ||
         sides == std::pair(reading.is, reading.taken_as);
}

// Half a step of multiples makes up for any dtype.
bool among_multiples(const Agreement& agreement) {
  return agreement.half_step_of_actual + agreement.half_step_of_golden > 0;
}

}  // namespace

std::vector<CodeReading> other_readings(const HintInput& input) {
  std::vector<CodeReading> readings;
  for (const DTypeInfo& row : dtypes())
    for (const BitChange& change : bit_changes())
      if (row.bits >= change.least_bits && row.bits <= change.most_bits && has_bits(row))
        add_for_sides(input, row.dtype, row.dtype, &change, readings);
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes())
      if (taken_as.bits == is.bits && taken_as.dtype != is.dtype && has_bits(is) &&
          has_bits(taken_as))
        add_for_sides(input, taken_as.dtype, is.dtype, nullptr, readings);
  // Bits of numbers that were cast on the way are no sign of anything among noise, nor is what is
  // the same but for a factor or the ends of the range: noise around the end of an unsigned type
  // looks like numbers of a signed one.
  std::erase_if(readings, [](const CodeReading& reading) {
    return reading.stored != reading.taken_as ||
           (reading.change == nullptr && !differ_throughout(reading));
  });
  return plainest_first(input, std::move(readings));
}

SearchResult find_byte_order(const Inquiry& inquiry) {
  return find_changed(inquiry, Cause::byte_order);
}

SearchResult find_swapped_codes(const Inquiry& inquiry) {
  return find_changed(inquiry, Cause::nibble_order);
}

SearchResult find_misread(const Inquiry& inquiry) {
  if (among_multiples(inquiry.agreement)) return std::nullopt;
  std::vector<CodeReading> readings;
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes())
      if (taken_as.bits == is.bits && taken_as.dtype != is.dtype && has_bits(is) &&
          has_bits(taken_as))
        add_for_sides(inquiry.input, taken_as.dtype, is.dtype, nullptr, readings);
  // A factor is plainer than dtypes that nobody has, and so is Inf or NaN where a range ends.
  std::erase_if(readings, [&](const CodeReading& reading) {
    const bool alike = reads_alike(info(reading.taken_as), info(reading.is)) &&
                       info(reading.is).floating() && info(reading.taken_as).floating();
    return alike ? !are_of_both_sides(inquiry.input, reading)
                 : only_scales(reading) && !is_of_a_side(inquiry.input, reading);
  });
  return first_that_explains(inquiry, readings);
}

SearchResult find_rounded_misread(const Inquiry& inquiry) {
  if (among_multiples(inquiry.agreement)) return std::nullopt;
  const DType golden = inquiry.input.golden.dtype();
  if (!info(golden).floating() || !info(inquiry.input.actual.dtype()).floating())
    return std::nullopt;
  std::vector<CodeReading> readings;
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes()) {
      if (taken_as.bits != is.bits || !is_small_float(taken_as) || !is_small_float(is) ||
          reads_alike(taken_as, is))
        continue;
      const CodeReading reading{MovedSide::golden, golden, taken_as.dtype, is.dtype, nullptr, true};
      // Dequantised numbers show their grid.
      if (only_scales(reading) && info(inquiry.input.actual.dtype()).bits <= 8 &&
          !is_of_a_side(inquiry.input, reading))
        continue;
      // Golden is taken for right.
      if (!is_lossless(golden, taken_as.dtype)) readings.push_back(reading);
    }
  const auto count = static_cast<double>(readings.size());
  for (const CodeReading& reading : readings) {
    BTF_ASSIGN(std::optional<Finding> finding, try_reading(inquiry, reading, count));
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace btf::hints
