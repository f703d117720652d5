// Byte order, nibble order of 8-bit codes, and bits read as another dtype.
#include <algorithm>
#include <vector>

#include "core/try.h"
#include "ops/hints/code_reading.h"
#include "ops/hints/searches.h"

namespace btf::hints {
namespace {

// Both sides' own dtypes before others, as the plainer explanation.
void add_for_sides(const HintInput& input, DType taken_as, DType is, const BitChange* change,
                   std::vector<CodeReading>& own, std::vector<CodeReading>& others) {
  for (const MovedSide side : {MovedSide::actual, MovedSide::golden}) {
    const DType stored = side == MovedSide::actual ? input.actual.dtype() : input.golden.dtype();
    (stored == taken_as ? own : others).push_back({side, stored, taken_as, is, change});
  }
}

// Codes of bool say too little: any of them but 0 is true.
bool has_bits(const DTypeInfo& row) { return row.kind != NumberKind::boolean; }

SearchResult first_that_explains(const Inquiry& inquiry, const std::vector<CodeReading>& own,
                                 const std::vector<CodeReading>& others) {
  const auto count = static_cast<double>(own.size() + others.size());
  for (const auto* readings : {&own, &others})
    for (const CodeReading& reading : *readings) {
      BTF_ASSIGN(std::optional<Finding> finding, try_reading(inquiry, reading, count));
      if (finding) return finding;
    }
  return std::nullopt;
}

SearchResult find_changed(const Inquiry& inquiry, Cause cause) {
  std::vector<CodeReading> own;
  std::vector<CodeReading> others;
  for (const BitChange& change : bit_changes())
    for (const DTypeInfo& row : dtypes())
      if (change.cause == cause && row.bits >= change.least_bits && row.bits <= change.most_bits &&
          has_bits(row))
        add_for_sides(inquiry.input, row.dtype, row.dtype, &change, own, others);
  return first_that_explains(inquiry, own, others);
}

}  // namespace

SearchResult find_byte_order(const Inquiry& inquiry) {
  return find_changed(inquiry, Cause::byte_order);
}

SearchResult find_swapped_codes(const Inquiry& inquiry) {
  return find_changed(inquiry, Cause::nibble_order);
}

SearchResult find_misread(const Inquiry& inquiry) {
  std::vector<CodeReading> own;
  std::vector<CodeReading> others;
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes())
      if (taken_as.bits == is.bits && taken_as.dtype != is.dtype && has_bits(is) &&
          has_bits(taken_as))
        add_for_sides(inquiry.input, taken_as.dtype, is.dtype, nullptr, own, others);
  return first_that_explains(inquiry, own, others);
}

}  // namespace btf::hints
